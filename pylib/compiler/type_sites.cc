#include "pylib/compiler/type_sites.h"

#include <optional>
#include <utility>

#include "ir/mutator.h"
#include "passes/pass.h"

namespace parakeet::pylib {
namespace {

using ir::Binding;
using ir::OpCode;

// The dtypes of the scalars that a check hands over: what follows its bool and its place.
std::vector<ir::DType> ScalarsOf(const Binding& check) {
  if (check.op == OpCode::kBroadcastSize) return {ir::DType::kI64, ir::DType::kI64};
  std::vector<ir::DType> dtypes;
  for (size_t i = 1 + size_t(check.attrs.Int(ir::Attr::kAt)); i < check.operands.size(); ++i) {
    dtypes.push_back(ir::DTypeOf(check.operands[i]));
  }
  return dtypes;
}

bool IsCheck(const Binding& binding) {
  return (binding.op == OpCode::kCheck || binding.op == OpCode::kBroadcastSize) &&
         binding.attrs.Has(ir::Attr::kSite);
}

// The rows of the site table as they fill up.
class SiteTable {
 public:
  explicit SiteTable(ir::Sites sites)
      : sites_(std::move(sites)), scalars_(sites_.size()), next_(sites_.size(), -1) {}

  // The row for `site` with such scalars: itself, an earlier copy, or a new one.
  int64_t RowFor(int64_t site, std::vector<ir::DType> dtypes) {
    int64_t row = site;
    while (scalars_[row] && *scalars_[row] != dtypes && next_[row] >= 0) row = next_[row];
    if (!scalars_[row]) scalars_[row] = dtypes;
    if (*scalars_[row] == dtypes) return row;
    next_[row] = int64_t(sites_.size());
    sites_.push_back(ir::Site(sites_[site]));
    scalars_.push_back(std::move(dtypes));
    next_.push_back(-1);
    return next_[row];
  }

  ir::Sites TakeSites() { return std::move(sites_); }
  std::vector<std::vector<ir::DType>> Scalars() const {
    std::vector<std::vector<ir::DType>> scalars;
    for (const auto& dtypes : scalars_) {
      scalars.push_back(dtypes.value_or(std::vector<ir::DType>()));
    }
    return scalars;
  }

 private:
  ir::Sites sites_;
  std::vector<std::optional<std::vector<ir::DType>>> scalars_;
  std::vector<int64_t> next_;  // the copy of a row for other scalars, or -1
};

class SiteSplitter : public ir::Mutator {
 public:
  SiteSplitter(ir::Arena* arena, SiteTable* table) : Mutator(arena), table_(*table) {}

 protected:
  void Visit(const Binding* binding) override {
    if (!IsCheck(*binding)) return Mutator::Visit(binding);
    const int64_t site = binding->attrs.Int(ir::Attr::kSite);
    const int64_t row = table_.RowFor(site, ScalarsOf(*binding));
    if (row == site) return Mutator::Visit(binding);
    Binding moved = *Rewrite(binding);
    moved.attrs = moved.attrs.With(ir::Attr::kSite, row);
    builder().Append(arena()->New(std::move(moved)));
  }

 private:
  SiteTable& table_;
};

// Told by NumPy's words, which the frontend uses for its own checks of indexes.
bool IsIndexSite(const ir::Site& site) {
  return site.exception == "IndexError" && site.message.starts_with("index {} is out of bounds");
}

class IndexCheckDropper : public ir::Mutator {
 public:
  IndexCheckDropper(ir::Arena* arena, const ir::Sites& sites) : Mutator(arena), sites_(sites) {}

 protected:
  void Visit(const Binding* binding) override {
    const bool may_drop = binding->op == OpCode::kCheck && IsCheck(*binding);
    if (may_drop && IsIndexSite(sites_[binding->attrs.Int(ir::Attr::kSite)])) return;
    Mutator::Visit(binding);
  }

 private:
  const ir::Sites& sites_;
};

}  // namespace

TypedSites TypeSites(const ir::Program& program) {
  SiteTable table(program.sites);
  TypedSites typed;
  typed.program = passes::ForEachFunction(program, [&](const ir::Function* function) {
    return SiteSplitter(program.arena.get(), &table).Run(function);
  });
  typed.scalars = table.Scalars();
  typed.program.sites = table.TakeSites();
  return typed;
}

ir::Program DropIndexChecks(const ir::Program& program) {
  return passes::ForEachFunction(program, [&](const ir::Function* function) {
    return IndexCheckDropper(program.arena.get(), program.sites).Run(function);
  });
}

}  // namespace parakeet::pylib
