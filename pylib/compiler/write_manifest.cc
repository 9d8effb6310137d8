#include "pylib/compiler/write_manifest.h"

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
    PlaceResults();
    AddResult(built_.results);
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

  // The result slots of the entry, in its order: sizes that only arrays need are among them.
  void PlaceResults() {
    uint32_t slot = 0;
    for (const ir::Var* result : built_.program.functions.front()->results) {
      slots_.push_back(slot);
      const ir::Type& type = result->type;
      const uint32_t scalar = IsComplex(type.dtype()) ? 2 : 1;
      slot += type.IsArray() ? uint32_t(PkArrayResultSlots(type.rank())) : scalar;
    }
    description_.manifest.result_slots = slot;
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
      node.slot = slots_.at(tree.result);
    }
    node.python = tree.python;
    node.is_view =
        tree.kind == ResultTree::Kind::kArray && IsViewInPython(built_.program, tree.result);
    node.length = uint32_t(tree.children.size());
    description_.manifest.results.push_back(node);
    for (const ResultTree& child : tree.children) AddResult(child);
  }

  const Built& built_;
  const DecodedKey& key_;
  std::vector<uint32_t> slots_;  // the first slot of each result of the entry
  Description description_;
};

}  // namespace

Description DescribeBuilt(const Built& built, const DecodedKey& key) {
  return Describer(built, key).Run();
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
