#include "passes/lowering/sort_writer.h"

#include <algorithm>
#include <utility>

#include "ir/builder.h"
#include "ir/dtype.h"
#include "passes/lowering/block_threads.h"

namespace parakeet::passes {

using ir::OpCode;
using ir::Operand;
using ir::Type;
using ir::Var;

namespace {

constexpr int64_t kMostSharedBySorts = 46 * 1024;
constexpr int64_t kLongestRun = 15;

// Odd, so that threads that go through their runs side by side read different banks.
int64_t RunOf(int64_t bytes) {
  const int64_t fits = std::min(kMostSharedBySorts / (2 * kBlockThreads * bytes), kLongestRun);
  return fits - (fits + 1) % 2;
}

// 1 of the same dtype.
Operand One(const Operand& like) { return ir::Constant::Int(1, ir::DTypeOf(like)); }

}  // namespace

void SortWriter::WriteSort(const Var* keys, const Var* places) {
  Sort sort = Describe(keys, places);
  sort.tiles = CeilDiv(sort.length, Int(sort.tile));
  const Operand is_long = builder().Scalar(OpCode::kGt, {sort.length, Int(sort.tile)});
  // What short rows need no second copy for.
  Operands dims = sort.rows;
  dims.push_back(builder().Scalar(OpCode::kSelect, {is_long, sort.length, Int(0)}));
  const Arrays other = AllocateLike(sort, dims);
  Arrays sorted = {keys};
  if (places != nullptr) {
    const Type type = Type::Array(keys->type.dtype(), dims);
    sorted = {builder().EmitOne(OpCode::kAlloc, type, dims, {}, {}, "keys"), places};
  }
  SortTiles(sort, sorted, is_long);
  const auto is_open = [&](const Operands& width) {
    return builder().Scalar(OpCode::kLt, {width[0], sort.length});
  };
  Repeat({Int(sort.tile)}, is_open, [&](const Operands& width) {
    const Operand twice = builder().Mul(width[0], Int(2));
    MergeTiles(sort, sorted, other, width[0]);
    MergeTiles(sort, other, sorted, twice);
    return Operands{builder().Mul(twice, Int(2))};
  });
}

SortWriter::Sort SortWriter::Describe(const Var* keys, const Var* places) {
  int64_t bytes = ir::SizeInBytes(keys->type.dtype());
  if (places != nullptr) bytes += ir::SizeInBytes(places->type.dtype());
  const int64_t run = RunOf(bytes);
  Operands rows = keys->type.dims();
  const Operand length = rows.back();
  rows.pop_back();
  return {keys, places, std::move(rows), length, {}, run, run * kBlockThreads};
}

SortWriter::Arrays SortWriter::AllocateLike(const Sort& sort, const Operands& dims) {
  Arrays arrays;
  for (const Var* like : {sort.keys, sort.places}) {
    if (like == nullptr) continue;
    const Type type = Type::Array(like->type.dtype(), dims);
    arrays.push_back(builder().EmitOne(OpCode::kAlloc, type, dims, {}, {}, like->hint));
  }
  return arrays;
}

SortWriter::Operands SortWriter::AtPlace(const Tile& tile, const Operand& at) {
  Operands index = tile.row;
  index.push_back(at);
  return index;
}

// So many for each thread that all of a block have some, an odd number.
Operand SortWriter::RunOfThread(const Sort& sort) {
  const Operand even = CeilDiv(Max(sort.length, Int(1)), Int(kBlockThreads));
  return Min(builder().Scalar(OpCode::kOr, {even, Int(1)}), Int(sort.run));
}

void SortWriter::EachTile(const Sort& sort, const std::function<void(const Tile& tile)>& write) {
  const Operand run = RunOfThread(sort);
  Blocks(builder().Mul(Product(sort.rows), sort.tiles), [&](const Operand& block) {
    Operands tiles = sort.rows;
    tiles.push_back(sort.tiles);
    Operands row = Delinear(block, tiles);
    const Operand start = builder().Mul(row.back(), Int(sort.tile));
    row.pop_back();
    const Operand count = Min(builder().Sub(sort.length, start), Int(sort.tile));
    write({row, start, count, run, AllocateLike(sort, {Int(2 * sort.tile)})});
  });
}

// --- Tiles ---

void SortWriter::SortTiles(const Sort& sort, const Arrays& sorted, const Operand& is_long) {
  EachTile(sort, [&](const Tile& tile) {
    TakeElements(sort, tile);
    Threads(kBlockThreads, [&](const Operand& thread) { SortRun(sort, tile, thread); });
    const Operand made = MergeRuns(sort, tile);
    ByThreads(tile.count, [&](const Operand& k) {
      const Operands index = AtPlace(tile, builder().Add(tile.start, k));
      const auto store = [&](size_t array) {
        const Operand at = builder().Add(made, k);
        builder().Store(sorted[array], index, builder().Load(tile.shared[array], {at}));
      };
      // Keys of places are wanted by further kernels only.
      sort.places == nullptr ? store(0) : If(is_long, [&] { store(0); });
      if (sort.places != nullptr) store(1);
    });
  });
}

void SortWriter::TakeElements(const Sort& sort, const Tile& tile) {
  ByThreads(tile.count, [&](const Operand& k) {
    Operand at = builder().Add(tile.start, k);
    if (sort.places != nullptr) {
      at = builder().Load(sort.places, AtPlace(tile, at), "place");
      builder().Store(tile.shared[1], {k}, at);
    }
    builder().Store(tile.shared[0], {k}, builder().Load(sort.keys, AtPlace(tile, at), "key"));
  });
}

void SortWriter::SortRun(const Sort& sort, const Tile& tile, const Operand& thread) {
  const Operand lo = builder().Mul(thread, tile.run);
  const Operand hi = Min(builder().Add(lo, tile.run), tile.count);
  const auto insert = [&](const Operand& k) {
    Operands own;
    for (const Var* array : tile.shared) own.push_back(builder().Load(array, {k}));
    const auto before = [&](const Operand& at) { return builder().Sub(at, Int(1)); };
    const auto is_larger = [&](const Operands& at) {
      const Operand is_inside = builder().Scalar(OpCode::kGt, {at[0], lo});
      const Operand beside = builder().Load(tile.shared[0], {Max(before(at[0]), lo)});
      return builder().Scalar(OpCode::kAnd, {is_inside, Less(own[0], beside)});
    };
    const auto move = [&](const Operands& at) {
      for (const Var* array : tile.shared)
        builder().Store(array, {at[0]}, builder().Load(array, {before(at[0])}));
      return Operands{before(at[0])};
    };
    const Operand place = Repeat({k}, is_larger, move)[0];
    for (size_t array = 0; array < own.size(); ++array)
      builder().Store(tile.shared[array], {place}, own[array]);
  };
  Loop(builder().Add(lo, Int(1)), hi, {}, insert);
}

Operand SortWriter::MergeRuns(const Sort& sort, const Tile& tile) {
  // How many threads' elements a run has, and where the runs start.
  const auto is_open = [&](const Operands& runs) {
    return builder().Scalar(OpCode::kLt, {builder().Mul(runs[0], tile.run), tile.count});
  };
  const auto merge = [&](const Operands& runs) {
    const Operand twice = builder().Mul(runs[0], Int(2));
    const Operand width = builder().Mul(runs[0], tile.run);
    const Operand to = builder().Sub(Int(sort.tile), runs[1]);
    Threads(kBlockThreads, [&](const Operand& thread) {
      const Operand at = builder().Mul(thread, tile.run);
      If(builder().Scalar(OpCode::kLt, {at, tile.count}), [&] {
        const Operand among =
            builder().Scalar(OpCode::kAnd, {thread, builder().Sub(twice, Int(1))});
        const Operand first = builder().Mul(among, tile.run);
        const Operand start = builder().Sub(at, first);
        const Operand rest = builder().Sub(tile.count, start);
        const Operand left = Min(width, rest);
        const Operand right = Min(builder().Sub(rest, left), width);
        MergePart(sort, tile.shared,
                  {builder().Add(runs[1], start), builder().Add(to, start), left, right}, first,
                  tile.run);
      });
    });
    return Operands{twice, to};
  };
  return Repeat({Int(1), Int(0)}, is_open, merge)[1];
}

// --- Merging ---

void SortWriter::MergeTiles(const Sort& sort, const Arrays& from, const Arrays& to,
                            const Operand& width) {
  EachTile(sort, [&](const Tile& tile) {
    const Operand left = TakeSides(sort, tile, from, width);
    Threads(kBlockThreads, [&](const Operand& thread) {
      const Operand at = builder().Mul(thread, Int(sort.run));
      const Pair pair = {Int(0), Int(sort.tile), left, builder().Sub(tile.count, left)};
      If(builder().Scalar(OpCode::kLt, {at, tile.count}),
         [&] { MergePart(sort, tile.shared, pair, at, Int(sort.run)); });
    });
    ByThreads(tile.count, [&](const Operand& k) {
      const Operands index = AtPlace(tile, builder().Add(tile.start, k));
      const Operand at = builder().Add(k, Int(sort.tile));
      for (size_t array = 0; array < to.size(); ++array)
        builder().Store(to[array], index, builder().Load(tile.shared[array], {at}));
    });
  });
}

Operand SortWriter::TakeSides(const Sort& sort, const Tile& tile, const Arrays& from,
                              const Operand& width) {
  const Operand twice = builder().Mul(width, Int(2));
  const Operand first = builder().Scalar(OpCode::kMod, {tile.start, twice});
  const Operand start = builder().Sub(tile.start, first);
  const Operand middle = Min(builder().Add(start, width), sort.length);
  const Operand end = Min(builder().Add(start, twice), sort.length);
  const auto key_from = [&](const Operand& origin) {
    return [&, origin](const Operand& at) {
      return builder().Load(from[0], AtPlace(tile, builder().Add(origin, at)));
    };
  };
  const Type of_ends = Type::Array(ir::DType::kI64, {Int(2)});
  const Var* ends = builder().EmitOne(OpCode::kAlloc, of_ends, of_ends.dims(), {}, {}, "ends");
  Threads(2, [&](const Operand& thread) {
    const Operand count = builder().Add(first, builder().Mul(thread, tile.count));
    const Operand split = Split(count, builder().Sub(middle, start), builder().Sub(end, middle),
                                key_from(start), key_from(middle));
    builder().Store(ends, {thread}, split);
  });
  const Operand before = builder().Load(ends, {Int(0)});
  const Operand left = builder().Sub(builder().Load(ends, {Int(1)}), before);
  const Operand of_left = builder().Add(start, before);
  // Behind the left side's elements follow those of the right.
  const Operand of_right = builder().Sub(builder().Add(middle, builder().Sub(first, before)), left);
  ByThreads(tile.count, [&](const Operand& k) {
    const Operand is_left = builder().Scalar(OpCode::kLt, {k, left});
    const Operand origin = builder().Scalar(OpCode::kSelect, {is_left, of_left, of_right});
    const Operands index = AtPlace(tile, builder().Add(origin, k));
    for (size_t array = 0; array < from.size(); ++array)
      builder().Store(tile.shared[array], {k}, builder().Load(from[array], index));
  });
  return left;
}

void SortWriter::MergePart(const Sort& sort, const Arrays& shared, const Pair& pair,
                           const Operand& first, const Operand& run) {
  // Places in shared memory are few: half as wide, they take half as many registers.
  const auto narrow = [&](const Operand& at) { return builder().Cast(at, ir::DType::kI32); };
  const auto wide = [&](const Operand& at) { return builder().Cast(at, ir::DType::kI64); };
  const auto load_at = [&](const Var* array, const Operand& at) {
    return builder().Load(array, {wide(at)});
  };
  const auto key_from = [&](const Operand& origin) {
    return [&, origin](const Operand& at) {
      return builder().Load(shared[0], {builder().Add(origin, wide(at))});
    };
  };
  const Operand behind_left = builder().Add(pair.from, pair.left);
  const Operand count = narrow(first), left = narrow(pair.left), right = narrow(pair.right);
  const Operand split = Split(count, left, right, key_from(pair.from), key_from(behind_left));
  const Operand middle = narrow(behind_left);
  const Operand end = builder().Add(middle, right);
  const Operand last = builder().Sub(end, One(end));
  const auto key = [&](const Operand& at) { return load_at(shared[0], Min(at, last)); };
  const Operand of_left = builder().Add(narrow(pair.from), split);
  const Operand of_right = builder().Add(middle, builder().Sub(count, split));
  const Operand stop = Min(builder().Add(first, run), builder().Add(pair.left, pair.right));
  // The heads of both sides, and the keys there. The key of a side that has ended is any.
  const auto take = [&](const Operand& k, const Operands& heads) {
    const Operand has_left = builder().Scalar(OpCode::kLt, {heads[0], middle});
    const Operand has_right = builder().Scalar(OpCode::kLt, {heads[1], end});
    const Operand is_less = builder().Scalar(OpCode::kAnd, {has_right, Less(heads[3], heads[2])});
    const Operand takes_right =
        builder().Scalar(OpCode::kOr, {builder().Scalar(OpCode::kNot, {has_left}), is_less});
    const auto choose = [&](const Operand& yes, const Operand& no) {
      return builder().Scalar(OpCode::kSelect, {takes_right, yes, no});
    };
    const Operand from = choose(heads[1], heads[0]);
    const Operand to = builder().Add(pair.to, k);
    builder().Store(shared[0], {to}, choose(heads[3], heads[2]));
    if (shared.size() > 1) builder().Store(shared[1], {to}, load_at(shared[1], from));
    const Operand next = builder().Add(from, One(from));
    const Operand next_key = key(next);
    return Operands{choose(heads[0], next), choose(next, heads[1]), choose(heads[2], next_key),
                    choose(next_key, heads[3])};
  };
  Carry(first, stop, {of_left, of_right, key(of_left), key(of_right)}, take);
}

Operand SortWriter::Split(const Operand& count, const Operand& left, const Operand& right,
                          const Element& left_key, const Element& right_key) {
  const Operand one = One(count);
  const Operand least = Max(builder().Sub(count, right), builder().Sub(one, one));
  const auto is_open = [&](const Operands& range) {
    return builder().Scalar(OpCode::kLt, {range[0], range[1]});
  };
  const auto halve = [&](const Operands& range) {
    const Operand sum = builder().Add(range[0], range[1]);
    const Operand middle = builder().Scalar(OpCode::kShr, {sum, one});
    const Operand next = builder().Add(middle, one);
    // Of equal ones, the left comes first.
    const Operand is_later = Less(right_key(builder().Sub(count, next)), left_key(middle));
    return Operands{builder().Scalar(OpCode::kSelect, {is_later, range[0], next}),
                    builder().Scalar(OpCode::kSelect, {is_later, middle, range[1]})};
  };
  return Repeat({least, Min(count, left)}, is_open, halve)[0];
}

// --- What loops and orders are written with ---

SortWriter::Operands SortWriter::Repeat(
    const Operands& inits, const std::function<Operand(const Operands& carried)>& test,
    const std::function<Operands(const Operands& carried)>& body) {
  const auto like_inits = [&] {
    std::vector<const Var*> vars;
    for (const Operand& init : inits) vars.push_back(builder().NewVar(ir::TypeOf(init), "at"));
    return vars;
  };
  const auto values = [](const std::vector<const Var*>& vars) {
    return Operands(vars.begin(), vars.end());
  };
  const std::vector<const Var*> tested = like_inits(), carried = like_inits(), last = like_inits();
  const ir::Block* condition = BlockOf(tested, [&] { return Operands{test(values(tested))}; });
  const ir::Block* next = BlockOf(carried, [&] { return body(values(carried)); });
  builder().Emit(OpCode::kWhile, last, inits, {}, {condition, next});
  return values(last);
}

void SortWriter::ByThreads(const Operand& count,
                           const std::function<void(const Operand& k)>& write) {
  Threads(kBlockThreads,
          [&](const Operand& thread) { Loop(thread, count, {}, write, kBlockThreads); });
}

Operand SortWriter::Less(const Operand& a, const Operand& b) {
  const ir::DType dtype = ir::DTypeOf(a);
  if (ir::IsComplex(dtype)) return LessComplex(a, b);
  const Operand is_less = builder().Scalar(OpCode::kLt, {a, b});
  if (!ir::IsFloat(dtype)) return is_less;
  const Operand a_counts = builder().Scalar(OpCode::kNot, {builder().Scalar(OpCode::kIsNan, {a})});
  const Operand b_is_last =
      builder().Scalar(OpCode::kAnd, {builder().Scalar(OpCode::kIsNan, {b}), a_counts});
  return builder().Scalar(OpCode::kOr, {is_less, b_is_last});
}

// By the real part, then by the imaginary one; behind all that have no nan are those with one in
// the imaginary part, then in the real one, then in both.
Operand SortWriter::LessComplex(const Operand& a, const Operand& b) {
  const auto both = [&](const Operand& x, const Operand& y) {
    return builder().Scalar(OpCode::kAnd, {x, y});
  };
  const auto either = [&](const Operand& x, const Operand& y) {
    return builder().Scalar(OpCode::kOr, {x, y});
  };
  const auto opposite = [&](const Operand& x) { return builder().Scalar(OpCode::kNot, {x}); };
  const auto parts = [&](OpCode part) {
    return std::pair(builder().Scalar(part, {a}), builder().Scalar(part, {b}));
  };
  const auto is_nan = [&](const Operand& x) { return builder().Scalar(OpCode::kIsNan, {x}); };
  const auto [a_real, b_real] = parts(OpCode::kReal);
  const auto [a_imag, b_imag] = parts(OpCode::kImag);
  const Operand a_rest = is_nan(a_imag), b_rest = is_nan(b_imag);
  const Operand less = builder().Scalar(OpCode::kLt, {a_real, b_real});
  const Operand larger = builder().Scalar(OpCode::kLt, {b_real, a_real});
  const Operand by_real = both(less, either(opposite(a_rest), b_rest));
  const Operand by_nan = both(larger, both(b_rest, opposite(a_rest)));
  const Operand same_real =
      either(builder().Scalar(OpCode::kEq, {a_real, b_real}), both(is_nan(a_real), is_nan(b_real)));
  const Operand by_imag = both(same_real, Less(a_imag, b_imag));
  const Operand a_comes_first = both(is_nan(b_real), opposite(is_nan(a_real)));
  return either(either(by_real, by_nan), either(by_imag, a_comes_first));
}

}  // namespace parakeet::passes
