#include "passes/analyses/row_scans.h"

#include <algorithm>

#include "ir/uses.h"
#include "passes/analyses/kernel_legality.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

bool IsBefore(const Binding& b) {
  return ir::IsScalarOp(b.op) || b.op == OpCode::kLoad || b.op == OpCode::kCheck;
}

// True of one scan, then one loop over its prefixes, with scalar code before and between.
bool HasParts(const Block& body) {
  const Binding* scan = nullptr;
  for (const Binding* b : body.bindings) {
    if (b->op == OpCode::kIscan && scan == nullptr) {
      scan = b;
    } else if (b == body.bindings.back()) {
      return scan != nullptr && b->op == OpCode::kForeach && b->blocks[0]->params.size() == 1 &&
             b->operands[0] == scan->operands[0];
    } else if (!IsBefore(*b)) {
      return false;
    }
  }
  return false;
}

bool IsOfScalars(const Binding& scan) {
  return std::all_of(scan.blocks[1]->results.begin(), scan.blocks[1]->results.end(),
                     [](const Operand& result) { return ir::TypeOf(result).IsScalar(); });
}

// True where threads can run the loop's iterations one by one.
bool IsForThreads(const Block& stores) {
  bool is_fit = !NeedsHost(stores);
  ir::ForEachBinding(stores, [&](const Binding& b) {
    is_fit &= ir::IsScalarOp(b.op) || b.op == OpCode::kLoad || b.op == OpCode::kStore ||
              b.op == OpCode::kIf || b.op == OpCode::kFor || b.op == OpCode::kWhile ||
              b.op == OpCode::kCheck;
    for (const Var* result : b.results) is_fit &= !result->type.IsArray();
  });
  return is_fit;
}

// True where nothing is read, for a row's elements or before them, that is stored of its prefixes:
// but for the very element, which is read first.
bool ReadsBeforeStores(const RowScan& row, const Roots& roots) {
  std::vector<const Binding*> stores;
  ir::ForEachBinding(*row.stores->blocks[0], [&](const Binding& b) {
    if (b.op == OpCode::kStore) stores.push_back(&b);
  });
  const Operand element = row.scan->blocks[0]->params[0], prefix = row.stores->blocks[0]->params[0];
  const auto same_index = [&](const Operand& read, const Operand& stored) {
    return read == element ? stored == prefix : read == stored;
  };
  bool is_first = true;
  const auto look = [&](const Binding& b, bool is_element) {
    if (b.op != OpCode::kLoad) return;
    for (const Binding* store : stores) {
      const bool is_same = is_element && store->operands[0] == b.operands[0] &&
                           std::equal(b.operands.begin() + 1, b.operands.end(),
                                      store->operands.begin() + 1, same_index);
      is_first &= is_same || !roots.MayShare(b.operands[0].var(), store->operands[0].var());
    }
  };
  ir::ForEachBinding(row.before, [&](const Binding& b) { look(b, false); });
  ir::ForEachBinding(*row.scan->blocks[0], [&](const Binding& b) { look(b, true); });
  return is_first;
}

}  // namespace

bool ReadsOwnPrefixes(const Binding& scan, const Binding& loop, const Block& block) {
  const ir::VarSet prefixes(scan.results.begin(), scan.results.end());
  int loads = 0, uses = 0;
  ir::ForEachBinding(*loop.blocks[0], [&](const Binding& b) {
    loads += b.op == OpCode::kLoad && prefixes.contains(b.operands[0].var()) &&
             b.operands[1] == Operand(loop.blocks[0]->params[0]);
  });
  ir::ForEachUse(block, [&](const Var* var) { uses += prefixes.contains(var); });
  return loads == uses;
}

bool ShowsStores(const Block& block, const Roots& roots) {
  bool checks = false, shows = false;
  ir::ForEachBinding(block, [&](const Binding& b) {
    checks |= b.op == OpCode::kCheck;
    shows |= b.op == OpCode::kStore && !roots.IsFresh(b.operands[0].var());
  });
  return checks && shows;
}

RowScan RowScanOf(const Binding& nest) {
  const Block& body = *nest.blocks[0];
  RowScan row{{body.params, {}, {}}, nullptr, body.bindings.back(), true};
  ir::VarSet inside(body.params.begin(), body.params.end());
  for (const Binding* b : body.bindings) {
    if (b->op == OpCode::kIscan) row.scan = b;
    if (!IsBefore(*b)) continue;
    row.before.bindings.push_back(b);
    inside.insert(b->results.begin(), b->results.end());
  }
  row.has_known_length = !inside.contains(row.scan->operands[0].var());
  return row;
}

std::optional<RowScan> FindRowScan(const Binding& nest, const Roots& roots) {
  if (nest.op != OpCode::kForeach || !HasParts(*nest.blocks[0])) return std::nullopt;
  const RowScan row = RowScanOf(nest);
  const bool is_one = IsOfScalars(*row.scan) && ScansOnDevice(*row.scan) &&
                      IsForThreads(*row.stores->blocks[0]) &&
                      ReadsOwnPrefixes(*row.scan, *row.stores, *nest.blocks[0]) &&
                      ReadsBeforeStores(row, roots) && !ShowsStores(*nest.blocks[0], roots);
  return is_one ? std::optional(row) : std::nullopt;
}

bool ScansOnDevice(const Binding& scan) {
  bool is_fit = !NeedsHost(*scan.blocks[0]);
  ir::ForEachBinding(*scan.blocks[1], [&](const Binding& inner) {
    is_fit &= ir::IsScalarOp(inner.op) || inner.op == OpCode::kIf;
  });
  return is_fit;
}

}  // namespace parakeet::passes
