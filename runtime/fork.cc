// pk_fork (abi.h): one region for all parallel loops of compiled code, whose bodies it is handed.
#include <algorithm>

#include "runtime/abi.h"
#include "runtime/openmp_calls.h"

namespace parakeet::runtime {
namespace {

struct Region {
  const OpenMpCalls& openmp;
  PkCall* call;
  PkForkBody body;
  void* captures;
  uint64_t trips;
  uint64_t pieces;
  bool is_dynamic;

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

void RunMember(int32_t* /*global*/, int32_t* /*number*/, const Region* region) {
  region->RunShare();
}

}  // namespace
}  // namespace parakeet::runtime

void pk_fork(PkCall* call, PkForkBody body, void* captures, int64_t trips, int64_t pieces,
             int32_t team, int32_t how) {
  using parakeet::runtime::OpenMpCalls;
  const OpenMpCalls& openmp = OpenMpCalls::Bound();
  const parakeet::runtime::Region region{openmp,
                                         call,
                                         body,
                                         captures,
                                         static_cast<uint64_t>(trips),
                                         static_cast<uint64_t>(std::min(trips, pieces)),
                                         (how & kPkForkDynamic) != 0};
  // Workers that wait for the next region of their own call keep a core busy; a library that comes
  // first wants it. How long they wait is set for this thread's regions, and then as it was.
  const bool yields = (how & kPkForkYields) != 0;
  const int32_t before = yields ? openmp.BlockTime() : 0;
  if (yields) openmp.SetBlockTime(0);
  openmp.Fork(team, parakeet::runtime::RunMember, &region);
  if (yields) openmp.SetBlockTime(before);
}
