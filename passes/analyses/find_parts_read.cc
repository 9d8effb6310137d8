#include "passes/analyses/find_parts_read.h"

#include <algorithm>

namespace parakeet::passes {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::Builder;
using ir::OpCode;
using ir::Operand;
using ir::Var;

Operand Plus(Builder& builder, const Operand& a, const Operand& b) {
  if (a.IsInt(0)) return b;
  return b.IsInt(0) ? a : builder.Add(a, b);
}

Operand Times(Builder& builder, const Operand& a, const Operand& b) {
  if (a.IsInt(1)) return b;
  return b.IsInt(1) ? a : builder.Mul(a, b);
}

Operand PlaceIn(Builder& builder, const AxisPart& part, const Operand& k) {
  return Plus(builder, part.start, Times(builder, part.step, k));
}

namespace {

// Operators that run their blocks for elements, and whose blocks read what is around them.
bool GoesThroughElements(OpCode op) {
  return op == OpCode::kImap || op == OpCode::kMap || op == OpCode::kIreduce ||
         op == OpCode::kReduce;
}

void NarrowAxis(PartRead& read, int axis, const AxisPart& part) {
  if (axis < 0) return;
  AxisPart& seen = read.parts[size_t(axis)];
  if (!seen.start.IsInt(0) || !seen.step.IsInt(1)) read.through[size_t(axis)].push_back(seen);
  seen = part;
}

}  // namespace

AxisPart AxisPart::Whole(const Operand& size) {
  return {false, Operand::Int(0), size, Operand::Int(1)};
}

AxisPart AxisPart::At(const Operand& index) { return {true, index, {}, {}}; }

bool AxisPart::IsWhole(const Operand& extent) const {
  return !is_index && start.IsInt(0) && step.IsInt(1) && size == extent;
}

std::vector<AxisPart> PartRead::Composed(Builder& builder) const {
  std::vector<AxisPart> composed = parts;
  for (size_t axis = 0; axis < parts.size(); ++axis) {
    AxisPart& part = composed[axis];
    for (auto range = through[axis].rbegin(); range != through[axis].rend(); ++range) {
      part.start = PlaceIn(builder, *range, part.start);
      if (!part.is_index) part.step = Times(builder, range->step, part.step);
    }
  }
  return composed;
}

struct PartsReadFinder::Search {
  const Binding* maker;
  const Binding* besides;
  PartsRead found;
};

PartsReadFinder::PartsReadFinder(const ir::Function& function) { Visit(*function.body, nullptr); }

void PartsReadFinder::Visit(const Block& block, const Binding* around) {
  for (const Binding* b : block.bindings) {
    places_[b] = {&block, around};
    for (const Operand& operand : b->operands) {
      if (operand.IsVar()) users_[operand.var()].push_back(b);
    }
    for (const Block* inner : b->blocks) Visit(*inner, b);
    for (const Var* result : b->results) users_.try_emplace(result);
  }
  for (const Operand& result : block.results) {
    if (result.IsVar()) users_[result.var()].push_back(nullptr);
  }
}

const std::vector<const Binding*>& PartsReadFinder::UsersOf(const Var* value) const {
  static const auto* const kNone = new std::vector<const Binding*>;
  const auto found = users_.find(value);
  return found == users_.end() ? *kNone : found->second;
}

std::optional<PartsRead> PartsReadFinder::Of(const Binding& maker, const Binding* besides) const {
  Search search{&maker, besides, {}};
  PartRead whole{};
  for (const Operand& size : maker.result()->type.dims()) {
    whole.axes.push_back(int(whole.axes.size()));
    whole.parts.push_back(AxisPart::Whole(size));
    whole.through.emplace_back();
  }
  if (!Follow(maker.result(), whole, search)) return std::nullopt;
  return std::move(search.found);
}

bool PartsReadFinder::Follow(const Var* view, const PartRead& seen, Search& search) const {
  const auto& users = UsersOf(view);
  return std::all_of(users.begin(), users.end(), [&](const Binding* user) {
    return user != nullptr && (user == search.besides || FollowUse(*user, seen, search));
  });
}

bool PartsReadFinder::FollowUse(const Binding& user, const PartRead& seen, Search& search) const {
  PartRead read = seen;
  switch (user.op) {
    case OpCode::kSlice: return FollowSlice(user, seen, search);
    case OpCode::kAscribe: break;
    case OpCode::kTranspose: {
      const auto& perm = user.attrs.Ints(Attr::kPerm);
      for (size_t k = 0; k < perm.size(); ++k) read.axes[k] = seen.axes[size_t(perm[k])];
      break;
    }
    case OpCode::kLoad:
      for (size_t k = 0; k < seen.axes.size(); ++k)
        NarrowAxis(read, seen.axes[k], AxisPart::At(user.operands[1 + k]));
      read.axes.clear();
      return AddRead(user, std::move(read), search);
    default: return false;
  }
  search.found.views.push_back(&user);
  return Follow(user.result(), read, search);
}

// What a slice sees of an array may be sliced again; otherwise it is the part that is read.
bool PartsReadFinder::FollowSlice(const Binding& slice, const PartRead& seen,
                                  Search& search) const {
  PartRead read = seen;
  read.axes.clear();
  size_t operand = 1, axis = 0;
  for (const char entry : slice.attrs.Text(Attr::kAxes)) {
    if (entry == 'n') {
      read.axes.push_back(-1);
    } else if (entry == 'i') {
      NarrowAxis(read, seen.axes[axis++], AxisPart::At(slice.operands[operand++]));
    } else {
      const AxisPart range{false, slice.operands[operand], slice.operands[operand + 1],
                           slice.operands[operand + 2]};
      const Operand& extent = slice.operands[0].var()->type.dims()[axis];
      if (seen.axes[axis] < 0 && !range.IsWhole(extent)) return false;
      if (!range.IsWhole(extent)) NarrowAxis(read, seen.axes[axis], range);
      read.axes.push_back(seen.axes[axis++]);
      operand += 3;
    }
  }
  const PartsRead before = search.found;
  search.found.views.push_back(&slice);
  const bool is_passed_on = read.parts == seen.parts || UsersOf(slice.result()).size() == 1;
  if (is_passed_on && Follow(slice.result(), read, search)) return true;
  search.found = before;
  return AddRead(slice, std::move(read), search);
}

bool PartsReadFinder::AddRead(const Binding& reader, PartRead read, Search& search) const {
  const std::vector<Operand>& extents = search.maker->result()->type.dims();
  bool is_part = false;
  for (size_t axis = 0; axis < extents.size(); ++axis)
    is_part |= read.parts[axis].is_index || read.parts[axis].size != extents[axis];
  read.reader = &reader;
  read.at = HolderOf(reader, BlockOf(search.maker));
  if (!is_part || read.at == nullptr) return false;
  search.found.reads.push_back(std::move(read));
  return true;
}

// Null where the reader is in what runs its blocks in another way than element by element.
const Binding* PartsReadFinder::HolderOf(const Binding& reader, const Block* home) const {
  const Binding* holder = &reader;
  while (BlockOf(holder) != home) {
    holder = places_.at(holder).around;
    if (holder == nullptr || !GoesThroughElements(holder->op)) return nullptr;
  }
  return holder;
}

}  // namespace parakeet::passes
