#include "backends/nvvm/device_functions.h"

#include <cstddef>

#include "runtime/device_abi.h"

namespace parakeet::backends {
namespace {

// The places that the text below counts on.
static_assert(offsetof(PkErrorRecord, state) == 4 && kPkRecordEmpty == 0 && kPkRecordHolds == 1 &&
              offsetof(PkErrorRecord, site) == 8 && offsetof(PkErrorRecord, place_count) == 12 &&
              offsetof(PkErrorRecord, scalar_count) == 16 && offsetof(PkErrorRecord, place) == 24 &&
              offsetof(PkErrorRecord, scalars) == 24 + 8 * 32 && kPkMostPlace == 32 &&
              kPkMostScalars == 16 && kPkSiteMemory == -1);

// Threads of a warp that wait for the lock let the one that holds it go on: since compute
// capability 7.0 each has a program counter of its own.
constexpr const char* kText = R"(
define void @parakeet_fail(ptr %r, i32 %site, i32 %pc0, ptr %p, i32 %sc0, ptr %s) noinline {
entry:
  %pc = call i32 @llvm.smin.i32(i32 %pc0, i32 32)
  %sc = call i32 @llvm.smin.i32(i32 %sc0, i32 16)
  %state = getelementptr i8, ptr %r, i64 4
  %site_at = getelementptr i8, ptr %r, i64 8
  %pc_at = getelementptr i8, ptr %r, i64 12
  %sc_at = getelementptr i8, ptr %r, i64 16
  %place = getelementptr i8, ptr %r, i64 24
  %scalars = getelementptr i8, ptr %r, i64 280
  br label %try
try:
  %got = cmpxchg ptr %r, i32 0, i32 1 monotonic monotonic
  %mine = extractvalue { i32, i1 } %got, 1
  br i1 %mine, label %held, label %try
held:
  call void @llvm.nvvm.membar.gl()
  %set = load volatile i32, ptr %state
  %free = icmp eq i32 %set, 0
  br i1 %free, label %take, label %compare
compare:
  %rpc = load volatile i32, ptr %pc_at
  br label %word
word:
  %i = phi i32 [ 0, %compare ], [ %next, %equal ]
  %mine_ends = icmp sge i32 %i, %pc
  br i1 %mine_ends, label %prefix, label %more
prefix:
  %shorter = icmp sgt i32 %rpc, %pc
  br i1 %shorter, label %take, label %done
more:
  %its_ends = icmp sge i32 %i, %rpc
  br i1 %its_ends, label %done, label %both
both:
  %wide = zext i32 %i to i64
  %a_at = getelementptr i64, ptr %p, i64 %wide
  %b_at = getelementptr i64, ptr %place, i64 %wide
  %a = load i64, ptr %a_at
  %b = load volatile i64, ptr %b_at
  %less = icmp slt i64 %a, %b
  br i1 %less, label %take, label %not_less
not_less:
  %greater = icmp sgt i64 %a, %b
  br i1 %greater, label %done, label %equal
equal:
  %next = add i32 %i, 1
  br label %word
take:
  store volatile i32 1, ptr %state
  store volatile i32 %site, ptr %site_at
  store volatile i32 %pc, ptr %pc_at
  store volatile i32 %sc, ptr %sc_at
  br label %places
places:
  %k = phi i32 [ 0, %take ], [ %k1, %place_word ]
  %places_end = icmp sge i32 %k, %pc
  br i1 %places_end, label %scalar_words, label %place_word
place_word:
  %kw = zext i32 %k to i64
  %from = getelementptr i64, ptr %p, i64 %kw
  %to = getelementptr i64, ptr %place, i64 %kw
  %word_value = load i64, ptr %from
  store volatile i64 %word_value, ptr %to
  %k1 = add i32 %k, 1
  br label %places
scalar_words:
  %m = phi i32 [ 0, %places ], [ %m1, %scalar_word ]
  %scalars_end = icmp sge i32 %m, %sc
  br i1 %scalars_end, label %done, label %scalar_word
scalar_word:
  %mw = zext i32 %m to i64
  %sfrom = getelementptr i64, ptr %s, i64 %mw
  %sto = getelementptr i64, ptr %scalars, i64 %mw
  %scalar_value = load i64, ptr %sfrom
  store volatile i64 %scalar_value, ptr %sto
  %m1 = add i32 %m, 1
  br label %scalar_words
done:
  call void @llvm.nvvm.membar.gl()
  %unlocked = atomicrmw xchg ptr %r, i32 0 monotonic
  ret void
}

define ptr @parakeet_alloc(ptr %r, i64 %bytes) noinline {
entry:
  %asked = alloca i64
  store i64 %bytes, ptr %asked
  %size = call i64 @llvm.umax.i64(i64 %bytes, i64 16)
  %buffer = call ptr @malloc(i64 %size)
  %none = icmp eq ptr %buffer, null
  br i1 %none, label %fail, label %done
fail:
  call void @parakeet_fail(ptr %r, i32 -1, i32 0, ptr null, i32 1, ptr %asked)
  br label %done
done:
  ret ptr %buffer
}

define void @parakeet_free(ptr %r, ptr %buffer) noinline {
  call void @free(ptr %buffer)
  ret void
}

declare ptr @malloc(i64)
declare void @free(ptr)
declare void @llvm.nvvm.membar.gl()
declare i32 @llvm.smin.i32(i32, i32)
declare i64 @llvm.umax.i64(i64, i64)
)";

}  // namespace

const char* DeviceFunctions() { return kText; }

}  // namespace parakeet::backends
