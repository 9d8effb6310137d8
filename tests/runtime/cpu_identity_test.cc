#include "runtime/cpu_identity.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <string>

namespace parakeet::runtime {
namespace {

TEST(CpuIdentityTest, IsTheSameOnEveryCore) {
  const std::string identity = CpuIdentity();
  EXPECT_NE(identity, std::string(identity.size(), '\0'));
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &before)) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof(one), &one) == 0) EXPECT_EQ(CpuIdentity(), identity) << cpu;
  }
  sched_setaffinity(0, sizeof(before), &before);
}

}  // namespace
}  // namespace parakeet::runtime
