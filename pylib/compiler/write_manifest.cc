#include "pylib/compiler/write_manifest.h"

#include <algorithm>
#include <string>
#include <utility>

#include "passes/analyses/find_effects.h"
#include "pylib/compiler/returned_views.h"
#include "runtime/abi.h"

namespace parakeet::pylib {
namespace {

using frontend::Built;
using frontend::PyRef;
using frontend::ResultTree;

Namespace SpaceOf(frontend::NamespaceKind kind) {
  switch (kind) {
    case frontend::NamespaceKind::kClosure: return Namespace::kClosure;
    case frontend::NamespaceKind::kGlobal: return Namespace::kGlobal;
    case frontend::NamespaceKind::kBuiltin: return Namespace::kBuiltin;
    case frontend::NamespaceKind::kOverload: return Namespace::kOverload;
    case frontend::NamespaceKind::kAttribute: return Namespace::kAttribute;
    case frontend::NamespaceKind::kDefault: break;
  }
  return Namespace::kDefault;
}

class Describer {
 public:
  Describer(const Built& built, const DecodedKey& key) : built_(built), key_(key) {}

  Description Run() {
    Manifest& manifest = description_.manifest;
    manifest.leaves = key_.leaves;
    for (const frontend::Capture& capture : built_.captures) {
      manifest.leaves.push_back(LeafWordOf(capture.argument));
      manifest.captures.push_back({NameOf(capture.kind, capture.function, capture.name),
                                   {capture.path.begin(), capture.path.end()}});
    }
    for (const frontend::Dependency& dependency : built_.dependencies) {
      manifest.dependencies.push_back(
          NameOf(dependency.kind, dependency.function, dependency.name));
      description_.objects.push_back(dependency.object);
    }
    AddResult(built_.results);
    PlaceResults(built_.program, &description_);
    return std::move(description_);
  }

 private:
  OutsideName NameOf(frontend::NamespaceKind kind, const PyRef& function, const std::string& name) {
    auto& functions = description_.functions;
    uint32_t number = 0;
    while (number < functions.size() && functions[number].get() != function.get()) ++number;
    if (number == functions.size()) functions.push_back(function);
    return {SpaceOf(kind), number, name};
  }

  void AddResult(const ResultTree& tree) {
    ResultNode node;
    switch (tree.kind) {
      case ResultTree::Kind::kNone: node.kind = ResultKind::kNone; break;
      case ResultTree::Kind::kScalar: node.kind = ResultKind::kScalar; break;
      case ResultTree::Kind::kArray: node.kind = ResultKind::kArray; break;
      case ResultTree::Kind::kTuple: node.kind = ResultKind::kTuple; break;
      case ResultTree::Kind::kList: node.kind = ResultKind::kList; break;
    }
    if (tree.result >= 0) {
      const ir::Type& type = built_.program.functions.front()->results.at(tree.result)->type;
      node.type = uint8_t(ir::NumpyTypeNumber(type.dtype()));
      node.rank = uint8_t(type.IsArray() ? type.rank() : 0);
    }
    node.python = tree.python;
    node.is_view =
        tree.kind == ResultTree::Kind::kArray && IsViewInPython(built_.program, tree.result);
    node.length = uint32_t(tree.children.size());
    description_.manifest.results.push_back(node);
    description_.results.push_back(tree.result);
    for (const ResultTree& child : tree.children) AddResult(child);
  }

  const Built& built_;
  const DecodedKey& key_;
  Description description_;
};

}  // namespace

Description DescribeBuilt(const Built& built, const DecodedKey& key) {
  return Describer(built, key).Run();
}

std::vector<size_t> KeptResults(const Description& description) {
  const std::vector<ResultNode>& nodes = description.manifest.results;
  std::vector<size_t> kept, others;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (description.results[i] < 0) continue;
    const bool may_stay = nodes[i].kind == ResultKind::kScalar && !nodes[i].python;
    (may_stay ? kept : others).push_back(size_t(description.results[i]));
  }
  std::erase_if(kept, [&](size_t result) {
    return std::find(others.begin(), others.end(), result) != others.end();
  });
  return kept;
}

// Sizes that only arrays need are among the slots.
void PlaceResults(const ir::Program& program, Description* description) {
  const std::vector<const ir::Var*>& results = program.functions.front()->results;
  std::vector<uint32_t> slots = {0};
  for (const ir::Var* result : results) {
    const ir::Type& type = result->type;
    const uint32_t scalar = IsComplex(type.dtype()) ? 2 : 1;
    slots.push_back(slots.back() +
                    (type.IsArray() ? uint32_t(PkArrayResultSlots(type.rank())) : scalar));
  }
  Manifest& manifest = description->manifest;
  manifest.result_slots = slots.back();
  for (size_t i = 0; i < manifest.results.size(); ++i) {
    const int result = description->results[i];
    if (result < 0) continue;
    ResultNode& node = manifest.results[i];
    node.slot = slots.at(size_t(result));
    node.is_kept = node.kind == ResultKind::kScalar && results[size_t(result)]->type.IsArray();
  }
}

std::vector<ErrorSite> DescribeSites(const ir::Program& program,
                                     const std::vector<std::vector<ir::DType>>& scalars,
                                     const FunctionFinder& functions) {
  std::vector<ErrorSite> described;
  for (size_t i = 0; i < program.sites.size(); ++i) {
    const ir::Site& site = program.sites[i];
    ErrorSite row;
    row.exception = site.exception;
    row.message = site.message;
    for (ir::DType dtype : scalars.at(i)) {
      row.scalar_types.push_back(uint8_t(ir::NumpyTypeNumber(dtype)));
    }
    if (site.span.IsKnown() && site.span.file < program.sources->size()) {
      row.file = program.sources->At(site.span.file).name;
      row.line = site.span.line;
      row.function = functions.Find(row.file, row.line, program.functions.front()->name);
      row.column = site.span.column;
      row.end_line = site.span.end_line;
      row.end_column = site.span.end_column;
    }
    described.push_back(std::move(row));
  }
  return described;
}

std::vector<uint8_t> FindWritten(const ir::Program& program) {
  const ir::Function& entry = *program.functions.front();
  const passes::Roots roots(entry);
  const ir::VarSet writes = passes::EffectsOf(*entry.body, roots).writes;
  std::vector<uint8_t> written;
  for (const ir::Param& param : entry.params) {
    if (!param.var->type.IsArray()) continue;
    written.push_back(passes::Intersects(roots.Of(param.var), writes));
  }
  return written;
}

}  // namespace parakeet::pylib
