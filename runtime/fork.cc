#include "runtime/fork.h"

#include <algorithm>
#include <atomic>

#include "runtime/openmp_calls.h"
#include "runtime/openmp_library.h"
#include "runtime/trip_costs.h"

namespace parakeet::runtime {
namespace {

// Cycles that sharing a loop has to save to be worth a fork: of any team, and more for each
// thread. A fork and a join take 440 ns with 2 threads and 8 us with 16 of 8 cores, and what one
// core has in its caches goes to the others, which may take as long as half of the loop.
struct Worth {
  int64_t fork;
  int64_t thread;
};
constexpr Worth kWorthForking{kPkLeastWorthForking, 2'000};
// The same where workers sleep between regions and have to be woken.
constexpr Worth kWorthWaking{100'000, 20'000};

// Pieces a thread, where there is much to do or nobody knows: enough that one long piece at the end
// does not leave the others idle. A thread begins with its own and then takes those of others: one
// whose core has other work to do does not keep the rest waiting. With fewer than the least, a
// thread has what it had the last time.
constexpr int64_t kPiecesPerThread = 16;
constexpr int64_t kLeastPiecesPerThread = 4;
// Cycles of a piece that are worth asking for it. Few threads wait less for the last one where
// trips are even, and each finds its own part of what loops before have read in its core's caches:
// a matrix of 5 MB times a vector takes 2 threads half the time if each reads the same rows always.
constexpr int64_t kDearPiece = 20'000;
constexpr int64_t kFewThreads = 4;
constexpr int64_t kDearPieceOfFew = 200'000;
// Of uneven trips, halves may be a quarter and three; to ask for a piece takes some 200 cycles.
constexpr int64_t kDearPieceOfUneven = 5'000;

// A cost of even trips is what the compiler knows, but for how long loops inside run, of which it
// may think much too high. What is somewhat cheaper than it says may be so that neighbours are
// spread alike.
constexpr int64_t kFarTooDear = 16;
// Cycles of a loop, as it was seen, below which most may be what sharing it costs.
constexpr int64_t kShortLoop = 400'000;

struct Region {
  const OpenMpCalls& openmp;
  PkCall* call;
  PkForkBody body;
  void* captures;
  uint64_t trips;
  uint64_t pieces;
  bool is_dynamic;
  std::atomic<int64_t> cycles{0};  // Of all threads.

  void RunShare() const {
    const auto piece = [this](uint64_t k) {
      const auto bound = [this](uint64_t number) {
        return static_cast<int64_t>(trips * number / pieces);
      };
      body(call, captures, bound(k), bound(k + 1));
    };
    is_dynamic ? openmp.ShareDynamically(pieces, piece) : openmp.ShareStatically(pieces, piece);
  }
};

void RunMember(int32_t* /*global*/, int32_t* /*number*/, Region* region) {
  const int64_t begin = NowCycles();
  region->RunShare();
  region->cycles.fetch_add(NowCycles() - begin, std::memory_order_relaxed);
}

// What a trip takes by what is known before it runs, and by what it took.
int64_t CostOf(PkForkBody body, int64_t trips, int64_t guess, int32_t how) {
  const int64_t seen = TripCosts::OfProcess().Of(body, trips);
  const bool is_wrong = (how & kPkForkEven) == 0 || seen < guess / kFarTooDear;
  return seen > 0 && is_wrong ? seen : guess;
}

void RunAlone(PkCall* call, PkForkBody body, void* captures, int64_t trips) {
  const int64_t begin = NowCycles();
  body(call, captures, 0, trips);
  TripCosts::OfProcess().Note(body, trips, NowCycles() - begin);
}

bool IsWorth(int64_t trips, int64_t cost, int64_t team, const Worth& worth) {
  // The thread with most trips is the last to end: all but those are saved.
  const int64_t saved = trips - (trips + team - 1) / team;
  return saved > (cost == 0 ? 0 : (worth.fork + worth.thread * team) / cost);
}

}  // namespace

Shares SharesOf(int64_t trips, int64_t cost, int32_t team, int32_t how) {
  const bool yields = (how & kPkForkYields) != 0, is_even = (how & kPkForkEven) != 0;
  if (trips <= 1 || !IsWorth(trips, cost, team, yields ? kWorthWaking : kWorthForking))
    return {0, false};
  int64_t pieces = team * kPiecesPerThread;
  const int64_t dear_of_even = team <= kFewThreads ? kDearPieceOfFew : kDearPiece;
  const int64_t dear = is_even ? dear_of_even : kDearPieceOfUneven;
  if (cost > 0 && cost < dear) pieces = std::min(pieces, trips / (1 + dear / cost));
  const bool are_many = pieces >= team * kLeastPiecesPerThread;
  return {std::min(trips, are_many ? pieces : team), are_many};
}

void RunShared(PkCall* call, PkForkBody body, void* captures, int64_t trips, Shares shares,
               int32_t team, bool yields) {
  const OpenMpCalls& openmp = OpenMpCalls::Bound();
  Region region{openmp,
                call,
                body,
                captures,
                static_cast<uint64_t>(trips),
                static_cast<uint64_t>(shares.pieces),
                shares.is_dynamic};
  // Workers that wait for the next region of their own call keep a core busy; a library that comes
  // first wants it. How long they wait is set for this thread's regions, and then as it was.
  const int32_t before = yields ? openmp.BlockTime() : 0;
  if (yields) openmp.SetBlockTime(0);
  openmp.Fork(team, RunMember, &region);
  if (yields) openmp.SetBlockTime(before);
  // More may be what sharing costs.
  TripCosts& costs = TripCosts::OfProcess();
  const int64_t before_it = costs.Of(body, trips);
  if (before_it == 0 || region.cycles / trips < before_it) costs.Note(body, trips, region.cycles);
}

}  // namespace parakeet::runtime

void pk_fork(PkCall* call, PkForkBody body, void* captures, int64_t trips, int64_t cost,
             int32_t how) {
  using namespace parakeet::runtime;
  if (trips <= 0) return;
  if (trips == 1 || call->team == 1) return body(call, captures, 0, trips);
  const int64_t likely = CostOf(body, trips, cost, how);
  const Shares shares = SharesOf(trips, likely, call->team, how);
  // What several threads took of a short loop is mostly what it costs to share it: now and then one
  // thread shows.
  const bool is_short = likely != cost && likely < kShortLoop / trips;
  const bool is_alone = shares.pieces == 0 || !BindOpenMp().empty();
  const bool is_due = (is_alone || is_short) && TripCosts::OfProcess().IsDue(body, trips);
  if (is_due) return RunAlone(call, body, captures, trips);
  if (is_alone) return body(call, captures, 0, trips);
  RunShared(call, body, captures, trips, shares, call->team, (how & kPkForkYields) != 0);
}
