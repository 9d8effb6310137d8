// The pass of a radix sort over the array: keys go to where those of their digit are to be.
#include "ir/builder.h"
#include "ir/dtype.h"
#include "passes/lowering/radix_sort_writer.h"
#include "passes/lowering/radix_words.h"

namespace parakeet::passes {

using ir::Attr;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// What to do is a matter of what digits the keys have in common, which the device alone knows.
RadixSortWriter::Pass RadixSortWriter::DescribePass(const Sort& sort, const Operand& digit) {
  const auto word = [&](int64_t value) { return Number(value, DType::kU32); };
  const auto scalar = [&](OpCode op, const Operand& a, const Operand& b) {
    return builder().Scalar(op, {a, b});
  };
  const auto count = [&](const Operand& bits) {
    return builder().Scalar(OpCode::kPopCount, {bits});
  };
  const Operand common = builder().Load(sort.words, {Int(kCommon)}, "common");
  const Operand all = word((int64_t{1} << sort.digits) - 1);
  Operand wanted = scalar(OpCode::kAnd, builder().Scalar(OpCode::kNot, {common}), all);
  // One alone would store to the keys while it reads them.
  const Operand is_one = scalar(OpCode::kEq, count(wanted), word(1));
  const Operand is_lowest = scalar(OpCode::kEq, wanted, word(1));
  const Operand second = builder().Scalar(OpCode::kSelect, {is_lowest, word(2), word(1)});
  const Operand both = scalar(OpCode::kOr, wanted, second);
  wanted = builder().Scalar(OpCode::kSelect, {is_one, both, wanted});
  if (sort.source != sort.keys) {  // Equal keys are to be stored too.
    const Operand is_none = scalar(OpCode::kEq, wanted, word(0));
    wanted = builder().Scalar(OpCode::kSelect, {is_none, word(3), wanted});
  }
  const Operand own = scalar(OpCode::kShl, word(1), Narrow(digit));
  const Operand below = scalar(OpCode::kAnd, wanted, scalar(OpCode::kSub, own, word(1)));
  const Operand above = scalar(OpCode::kShr, wanted, Narrow(digit));
  const Operand copy = Wide(scalar(OpCode::kAnd, count(below), word(1)));
  return {digit,
          scalar(OpCode::kNe, scalar(OpCode::kAnd, wanted, own), word(0)),
          scalar(OpCode::kEq, below, word(0)),
          scalar(OpCode::kEq, above, word(1)),
          builder().Mul(builder().Sub(Int(1), copy), sort.length),
          builder().Mul(copy, sort.length)};
}

void RadixSortWriter::SortByDigit(const Sort& sort, const Operand& digit) {
  Blocks(sort.tiles, [&](const Operand&) {
    const Pass pass = DescribePass(sort, digit);
    If(pass.is_wanted, [&] {
      const Tile tile = TakeTile(sort, pass);
      TakeKeys(sort, pass, tile);
      CountKeys(sort, tile);
      PublishCounts(sort, pass, tile);
      SumBefore(tile.starts, tile.parts);
      PlaceCounters(sort, tile);
      OrderKeys(sort, tile);
      LookBack(sort, pass, tile);
      StoreKeys(sort, pass, tile);
      if (sort.places == nullptr) return;
      OrderPlaces(sort, pass, tile);
      StorePlaces(sort, pass, tile);
    });
  });
}

RadixSortWriter::Tile RadixSortWriter::TakeTile(const Sort& sort, const Pass& pass) {
  Tile tile;
  const bool has_places = sort.places != nullptr;
  const DType word = DType::kU32;
  tile.bits = Own(sort, sort.dtype(), sort.each, "bits");
  tile.digits = Own(sort, DType::kU8, sort.each, "digits");
  tile.ranks = Own(sort, word, sort.each, "ranks");
  tile.peers = Own(sort, word, 1, "peers");
  if (has_places) tile.targets = Own(sort, word, sort.each, "targets");
  const bool is_narrow = ir::SizeInBytes(sort.dtype()) < ir::SizeInBytes(word);
  tile.sorted = Shared(has_places && is_narrow ? word : sort.dtype(), sort.tile(), "sorted");
  tile.counters = Shared(word, sort.threads / kWarp * kRadix, "counters");
  tile.starts = Shared(word, kRadix, "starts");
  tile.parts = Shared(word, 2 * kWarp, "parts");
  const Var* number = Shared(word, 1, "number");
  const Operand ticket = builder().Add(Int(kTickets), builder().Mul(pass.digit, Int(kTicketStep)));
  Threads(1, [&](const Operand&) {
    const Operand taken =
        builder().Atomic(OpCode::kAdd, sort.words, {ticket}, Number(1, DType::kU32));
    builder().Store(number, {Int(0)}, taken);
  });
  tile.number = Wide(builder().Load(number, {Int(0)}));
  tile.start = builder().Mul(tile.number, Int(sort.tile()));
  tile.count = Min(builder().Sub(sort.length, tile.start), Int(sort.tile()));
  tile.is_whole = builder().Scalar(OpCode::kEq, {tile.count, Int(sort.tile())});
  return tile;
}

// A warp's keys are side by side, of which its lanes take every 32nd: in the order of the array,
// they are its first of each lane, then its second ones.
void RadixSortWriter::EachKey(const Sort& sort, const Operand& thread,
                              const std::function<void(const Operand&, const Operand&)>& write) {
  const Operand lane = builder().Scalar(OpCode::kAnd, {thread, Int(kWarp - 1)});
  const Operand of_warp = builder().Mul(builder().Sub(thread, lane), Int(sort.each));
  const Operand first = builder().Add(of_warp, lane);
  Loop(Int(0), Int(sort.each), {},
       [&](const Operand& k) { write(k, builder().Add(first, builder().Mul(k, Int(kWarp)))); });
}

void RadixSortWriter::EachPlace(const Sort& sort, const Operand& thread,
                                const std::function<void(const Operand&, const Operand&)>& write) {
  Loop(Int(0), Int(sort.each), {}, [&](const Operand& k) {
    write(k, builder().Add(thread, builder().Mul(k, Int(sort.threads))));
  });
}

// Behind the array's end, keys have the last digit, and stand last among those that have it.
void RadixSortWriter::TakeKeys(const Sort& sort, const Pass& pass, const Tile& tile) {
  const Operand last = builder().Sub(sort.length, Int(1));
  WarpThreads(sort.threads, [&](const Operand& thread) {
    const Operand lane = builder().Scalar(OpCode::kAnd, {thread, Int(kWarp - 1)});
    for (int64_t digit = 0; digit < kRadix; digit += kWarp) {
      const Operand at = Counter(thread, builder().Add(lane, Int(digit)));
      builder().Store(tile.counters, {at}, Number(0, DType::kU32));
    }
    const auto take = [&](const std::function<Operand(const Operand& at)>& load) {
      const auto each = [&](bool is_whole) {
        EachKey(sort, thread, [&](const Operand& k, const Operand& at) {
          const Operand place = builder().Add(tile.start, at);
          builder().Store(tile.bits, {thread, k}, load(is_whole ? place : Min(place, last)));
        });
        return Operands{};
      };
      return Choose(tile.is_whole, [&] { return each(true); }, [&] { return each(false); });
    };
    const auto from_keys = [&] {
      return take([&](const Operand& at) { return FirstBits(sort, at); });
    };
    const auto from_copy = [&] {
      return take([&](const Operand& at) {
        return builder().Load(sort.bits, {builder().Add(pass.from, at)});
      });
    };
    Choose(pass.is_first, from_keys, from_copy);
    EachKey(sort, thread, [&](const Operand& k, const Operand& at) {
      const Operand bits = Compared(sort, builder().Load(tile.bits, {thread, k}));
      const Operand own = DigitOf(sort, bits, pass.digit);
      const Operand is_inside = builder().Scalar(OpCode::kLt, {at, tile.count});
      const Operand behind = Number(kRadix - 1, DType::kU8);
      builder().Store(tile.digits, {thread, k},
                      builder().Scalar(OpCode::kSelect, {is_inside, own, behind}));
    });
  });
}

Operand RadixSortWriter::Counter(const Operand& thread, const Operand& digit) {
  const Operand first = builder().Scalar(OpCode::kAnd, {thread, Int(-kWarp)});
  return builder().Add(builder().Mul(first, Int(kRadix / kWarp)), Wide(digit));
}

void RadixSortWriter::CountKeys(const Sort& sort, const Tile& tile) {
  Threads(sort.threads, [&](const Operand& thread) {
    EachKey(sort, thread, [&](const Operand& k, const Operand&) {
      const Operand digit = builder().Load(tile.digits, {thread, k});
      builder().Atomic(OpCode::kAdd, tile.counters, {Counter(thread, digit)},
                       Number(1, DType::kU32));
    });
  });
}

void RadixSortWriter::PublishCounts(const Sort& sort, const Pass& pass, const Tile& tile) {
  const Operand none = Number(0, DType::kU32), added = Number(kRadixAdded, DType::kU32);
  Threads(kRadix, [&](const Operand& digit) {
    const auto add = [&](const Operand& warp, const Operands& sum) {
      const Operand at = builder().Add(builder().Mul(warp, Int(kRadix)), digit);
      return Operands{builder().Add(sum[0], builder().Load(tile.counters, {at}))};
    };
    const Operand sum = Carry(Int(0), Int(sort.threads / kWarp), {none}, add)[0];
    builder().Store(tile.starts, {digit}, sum);
    const Operand behind = Narrow(builder().Sub(Int(sort.tile()), tile.count));
    const Operand is_last = builder().Scalar(OpCode::kEq, {digit, Int(kRadix - 1)});
    const Operand surplus = builder().Scalar(OpCode::kSelect, {is_last, behind, none});
    const Operand has_before = builder().Scalar(OpCode::kGt, {tile.number, Int(0)});
    const Operand whole = Number(2 * kRadixAdded, DType::kU32);
    const Operand says = builder().Scalar(OpCode::kSelect, {has_before, added, whole});
    builder().Atomic(OpCode::kAdd, sort.words, {Word(sort, pass, tile.number, digit)},
                     builder().Add(builder().Sub(sum, surplus), says));
  });
}

void RadixSortWriter::PlaceCounters(const Sort& sort, const Tile& tile) {
  Threads(kRadix, [&](const Operand& digit) {
    const auto place = [&](const Operand& warp, const Operands& next) {
      const Operand at = builder().Add(builder().Mul(warp, Int(kRadix)), digit);
      const Operand count = builder().Load(tile.counters, {at});
      builder().Store(tile.counters, {at}, next[0]);
      return Operands{builder().Add(next[0], count)};
    };
    Carry(Int(0), Int(sort.threads / kWarp), {builder().Load(tile.starts, {digit})}, place);
  });
}

void RadixSortWriter::OrderKeys(const Sort& sort, const Tile& tile) {
  Loop(Int(0), Int(sort.each - 1), {},
       [&](const Operand& k) { OrderKey(sort, tile, k, /*waits_for_block=*/false); });
  OrderKey(sort, tile, Int(sort.each - 1), /*waits_for_block=*/true);
}

void RadixSortWriter::OrderKey(const Sort& sort, const Tile& tile, const Operand& k,
                               bool waits_for_block) {
  const auto counter = [&](const Operand& thread) {
    return Counter(thread, builder().Load(tile.digits, {thread, k}));
  };
  const auto lane = [&](const Operand& thread) {
    return Narrow(builder().Scalar(OpCode::kAnd, {thread, Int(kWarp - 1)}));
  };
  const Operand one = Number(1, DType::kU32);
  WarpThreads(sort.threads, [&](const Operand& thread) {
    const Operand peers =
        builder().EmitOne(OpCode::kMatch, DType::kU32, {tile.digits, thread, k}, {}, {}, "peers");
    const Operand bit = builder().Scalar(OpCode::kShl, {one, lane(thread)});
    const Operand below = builder().Scalar(OpCode::kAnd, {peers, builder().Sub(bit, one)});
    const Operand place = builder().Load(tile.counters, {counter(thread)});
    const Operand rank = builder().Add(place, builder().Scalar(OpCode::kPopCount, {below}));
    builder().Store(tile.peers, {thread, Int(0)}, peers);
    builder().Store(tile.ranks, {thread, k}, rank);
    const Operand bits = builder().Load(tile.bits, {thread, k});
    builder().Store(tile.sorted, {Wide(rank)}, builder().Cast(bits, tile.sorted->type.dtype()));
  });
  const auto move = [&](const Operand& thread) {
    const Operand peers = builder().Load(tile.peers, {thread, Int(0)});
    const Operand above = builder().Scalar(OpCode::kShr, {peers, lane(thread)});
    If(builder().Scalar(OpCode::kEq, {above, one}), [&] {
      const Operand rank = builder().Load(tile.ranks, {thread, k});
      builder().Store(tile.counters, {counter(thread)}, builder().Add(rank, one));
    });
  };
  waits_for_block ? Threads(sort.threads, move) : WarpThreads(sort.threads, move);
}

Operand RadixSortWriter::Word(const Sort& sort, const Pass& pass, const Operand& tile,
                              const Operand& digit) {
  const Operand before = builder().Add(builder().Mul(pass.digit, sort.tiles), tile);
  const Operand of_tile = builder().Add(builder().Mul(before, Int(kRadix)), digit);
  return builder().Add(of_tile, Int(FirstLook(sort.digits)));
}

// A digit's start becomes how far behind its place in the tile a key of it is stored.
void RadixSortWriter::LookBack(const Sort& sort, const Pass& pass, const Tile& tile) {
  const Operand none = Number(0, DType::kU32), added = Number(kRadixAdded, DType::kU32);
  const auto scalar = [&](OpCode op, const Operand& a, const Operand& b) {
    return builder().Scalar(op, {a, b});
  };
  Threads(kRadix, [&](const Operand& digit) {
    const auto is_open = [&](const Operands& carried) {
      return scalar(OpCode::kGe, carried[0], Int(0));
    };
    const auto look = [&](const Operands& carried) {
      const Operand word = Word(sort, pass, carried[0], digit);
      const Operand seen = builder().Atomic(OpCode::kAdd, sort.words, {word}, none);
      const Operand count = scalar(OpCode::kAnd, seen, Number(kRadixAdded - 1, DType::kU32));
      const Operand is_all = scalar(OpCode::kGe, seen, Number(2 * kRadixAdded, DType::kU32));
      const Operand is_there = Wide(scalar(OpCode::kNe, seen, none));
      const Operand next = builder().Sub(carried[0], is_there);
      return Operands{builder().Scalar(OpCode::kSelect, {is_all, Int(-1), next}),
                      builder().Add(carried[1], count)};
    };
    const Operand first = builder().Sub(tile.number, Int(1));
    const Operand before = Repeat({first, none}, is_open, look)[1];
    If(scalar(OpCode::kGt, tile.number, Int(0)), [&] {
      builder().Atomic(OpCode::kAdd, sort.words, {Word(sort, pass, tile.number, digit)},
                       builder().Add(before, added));
    });
    const Operand of_digit =
        builder().Add(builder().Mul(pass.digit, Int(kRadix)), builder().Add(digit, Int(kCounts)));
    const Operand place = builder().Add(builder().Load(sort.words, {of_digit}), before);
    builder().Store(tile.starts, {digit},
                    builder().Sub(place, builder().Load(tile.starts, {digit})));
  });
}

void RadixSortWriter::StoreKeys(const Sort& sort, const Pass& pass, const Tile& tile) {
  const bool has_places = sort.places != nullptr;
  Threads(sort.threads, [&](const Operand& thread) {
    const auto store = [&](const std::function<void(const Operand& to, const Operand&)>& write) {
      EachPlace(sort, thread, [&](const Operand& k, const Operand& at) {
        const Operand bits = builder().Cast(builder().Load(tile.sorted, {at}), sort.dtype());
        const Operand start =
            builder().Load(tile.starts, {Wide(DigitOf(sort, Compared(sort, bits), pass.digit))});
        const Operand to = builder().Add(start, Narrow(at));
        if (has_places) builder().Store(tile.targets, {thread, k}, to);
        If(builder().Scalar(OpCode::kLt, {at, tile.count}), [&] { write(Wide(to), bits); });
      });
      return Operands{};
    };
    const auto to_keys = [&] {
      return store([&](const Operand& to, const Operand& bits) {
        if (!has_places) builder().Store(sort.keys, {to}, KeyOf(sort, bits));
      });
    };
    const auto to_copy = [&] {
      return store([&](const Operand& to, const Operand& bits) {
        builder().Store(sort.bits, {builder().Add(pass.to, to)}, bits);
      });
    };
    Choose(pass.is_last, to_keys, to_copy);
  });
}

// Keys have gone from where the tile's places are put in order.
void RadixSortWriter::OrderPlaces(const Sort& sort, const Pass& pass, const Tile& tile) {
  Threads(sort.threads, [&](const Operand& thread) {
    const auto order = [&](const std::function<Operand(const Operand& at)>& load) {
      const auto each = [&](bool is_whole) {
        EachKey(sort, thread, [&](const Operand& k, const Operand& at) {
          const auto move = [&] {
            const Operand place = load(builder().Add(tile.start, at));
            builder().Store(tile.sorted, {Wide(builder().Load(tile.ranks, {thread, k}))},
                            builder().Cast(place, tile.sorted->type.dtype()));
          };
          is_whole ? move() : If(builder().Scalar(OpCode::kLt, {at, tile.count}), move);
        });
        return Operands{};
      };
      return Choose(tile.is_whole, [&] { return each(true); }, [&] { return each(false); });
    };
    const auto from_places = [&] {
      return order([&](const Operand& at) { return Narrow(builder().Load(sort.places, {at})); });
    };
    const auto from_copy = [&] {
      return order([&](const Operand& at) {
        return builder().Load(sort.indexes, {builder().Add(pass.from, at)});
      });
    };
    Choose(pass.is_first, from_places, from_copy);
  });
}

void RadixSortWriter::StorePlaces(const Sort& sort, const Pass& pass, const Tile& tile) {
  Threads(sort.threads, [&](const Operand& thread) {
    const auto store = [&](const std::function<void(const Operand& to, const Operand&)>& write) {
      EachPlace(sort, thread, [&](const Operand& k, const Operand& at) {
        const Operand place = builder().Load(tile.sorted, {at});
        const Operand to = Wide(builder().Load(tile.targets, {thread, k}));
        If(builder().Scalar(OpCode::kLt, {at, tile.count}), [&] { write(to, place); });
      });
      return Operands{};
    };
    const auto to_places = [&] {
      return store([&](const Operand& to, const Operand& place) {
        builder().Store(sort.places, {to}, builder().Cast(place, sort.places->type.dtype()));
      });
    };
    const auto to_copy = [&] {
      return store([&](const Operand& to, const Operand& place) {
        builder().Store(sort.indexes, {builder().Add(pass.to, to)}, Narrow(place));
      });
    };
    Choose(pass.is_last, to_places, to_copy);
  });
}

}  // namespace parakeet::passes
