// Which library gets bound is decided once in a process, so every test runs in a fresh one.
#include "runtime/openmp_library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "runtime/call.h"
#include "runtime/image.h"
#include "tests/runtime/image_bytes.h"
#include "tests/runtime/parallel_region.h"

namespace parakeet::runtime {
namespace {

// Ends the child of a death test: 0 and silence when the condition holds.
void Require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "not so: %s\n", what.c_str());
  _exit(1);
}

class OpenMpLibraryDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (TestOpenMpPath().empty()) GTEST_SKIP() << "skipped: no libomp on this machine";
    for (const char* name : {"KMP_BLOCKTIME", "OMP_WAIT_POLICY", "KMP_DUPLICATE_LIB_OK"}) {
      unsetenv(name);
    }
  }
};

#define EXPECT_SUCCESS_IN_CHILD(statement) EXPECT_EXIT(statement, testing::ExitedWithCode(0), "")

int BlockTime() { return reinterpret_cast<int (*)()>(OpenMpSymbol("kmp_get_blocktime"))(); }

void OpenOwnLibrary() {
  Require(OpenMpLibraryFile().empty() && OpenMpSymbol("__kmpc_fork_call") == nullptr, "lazy");
  Require(dlsym(RTLD_DEFAULT, "__kmpc_fork_call") == nullptr, "not loaded before");
  SetOpenMpPath(TestOpenMpPath());
  Require(Table()->symbol("__kmpc_fork_call") != nullptr, "found through the table");
  Require(OpenMpLibraryFile() == TestOpenMpPath(), OpenMpLibraryFile());
  Require(RegionWorks(2), "a region works");
  Require(BlockTime() == 2, "workers sleep soon");
  Require(std::getenv("KMP_BLOCKTIME") == nullptr, "the block time is not left behind");
  Require(std::getenv("KMP_DUPLICATE_LIB_OK") != nullptr, "a second library is allowed");
  const pid_t child = fork();
  if (child == 0) _exit(RegionWorks(2) ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  Require(status == 0, "a region works in a forked child");
  Require(Table()->symbol("__kmpc_nothing") == nullptr, "unknown name");
  const std::string why = Table()->why_missing("__kmpc_nothing");
  Require(why == TestOpenMpPath() + " has no __kmpc_nothing", why);
  _exit(0);
}

TEST_F(OpenMpLibraryDeathTest, OpensItsOwnAtTheFirstNeed) {
  EXPECT_SUCCESS_IN_CHILD(OpenOwnLibrary());
}

void KeepUsersSettings() {
  setenv("KMP_BLOCKTIME", "17", 1);
  setenv("KMP_DUPLICATE_LIB_OK", "1", 1);
  SetOpenMpPath(TestOpenMpPath());
  Require(BindOpenMp().empty(), "bound");
  Require(BlockTime() == 17, "the user's block time");
  Require(std::string(std::getenv("KMP_BLOCKTIME")) == "17", "still in the environment");
  Require(std::string(std::getenv("KMP_DUPLICATE_LIB_OK")) == "1", "not overwritten");
  _exit(0);
}

TEST_F(OpenMpLibraryDeathTest, KeepsTheUsersSettings) {
  EXPECT_SUCCESS_IN_CHILD(KeepUsersSettings());
}

// As scikit-learn sets it.
void ForkWithoutStartingAnew() {
  setenv("KMP_INIT_AT_FORK", "FALSE", 1);
  SetOpenMpPath(TestOpenMpPath());
  Require(BindOpenMp().empty() && RegionWorks(2), "bound");
  Require(std::string(std::getenv("KMP_INIT_AT_FORK")) == "FALSE", "still in the environment");
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(RegionWorks(2) ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  Require(status == 0, "a region works in a forked child");
  _exit(0);
}

TEST_F(OpenMpLibraryDeathTest, AForkedChildHasThreadsWhateverOthersSet) {
  EXPECT_SUCCESS_IN_CHILD(ForkWithoutStartingAnew());
}

void KeepWaitPolicy() {
  setenv("OMP_WAIT_POLICY", "active", 1);
  SetOpenMpPath(TestOpenMpPath());
  Require(BindOpenMp().empty(), "bound");
  Require(BlockTime() != 2, "the user's policy decides");
  _exit(0);
}

TEST_F(OpenMpLibraryDeathTest, KeepsTheUsersWaitPolicy) {
  EXPECT_SUCCESS_IN_CHILD(KeepWaitPolicy());
}

// `mode` is how some other package has opened its library before us.
void ShareLoadedLibrary(int mode) {
  Require(dlopen(TestOpenMpPath().c_str(), RTLD_NOW | mode) != nullptr, "opened by another");
  SetOpenMpPath("/nowhere/libomp.so");
  const std::string error = BindOpenMp();
  Require(error.empty(), error);
  Require(std::filesystem::equivalent(OpenMpLibraryFile(), TestOpenMpPath()), OpenMpLibraryFile());
  Require(std::getenv("KMP_DUPLICATE_LIB_OK") == nullptr, "the environment is left alone");
  Require(RegionWorks(3), "a region works");
  _exit(0);
}

TEST_F(OpenMpLibraryDeathTest, SharesOneThatTheProcessHolds) {
  EXPECT_SUCCESS_IN_CHILD(ShareLoadedLibrary(RTLD_LOCAL));
  EXPECT_SUCCESS_IN_CHILD(ShareLoadedLibrary(RTLD_GLOBAL));
}

// A runtime under a name we do not look for stays beside ours; each runs its own regions. `first`
// says which of the two is there first.
void LiveBesideAnother(bool ours_first) {
  namespace fs = std::filesystem;
  const fs::path copy =
      fs::path(testing::TempDir()) / ("another_runtime_" + std::to_string(getpid()) + ".so");
  fs::copy_file(TestOpenMpPath(), copy, fs::copy_options::overwrite_existing);
  SetOpenMpPath(TestOpenMpPath());
  if (ours_first) Require(BindOpenMp().empty() && RegionWorks(2), "ours works");
  // A real second runtime knows this from the environment that we have set, or sets it itself.
  if (!ours_first) setenv("KMP_DUPLICATE_LIB_OK", "TRUE", 1);
  void* other = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  fs::remove(copy);
  Require(other != nullptr, "the other opens");
  const auto threads = reinterpret_cast<int (*)()>(dlsym(other, "omp_get_max_threads"));
  Require(threads() >= 1, "the other works");
  Require(BindOpenMp().empty() && RegionWorks(2) && RegionWorks(3), "ours works");
  Require(OpenMpSymbol("omp_get_max_threads") != dlsym(other, "omp_get_max_threads"), "two");
  _exit(0);
}

TEST_F(OpenMpLibraryDeathTest, LivesBesideAnotherRuntime) {
  EXPECT_SUCCESS_IN_CHILD(LiveBesideAnother(true));
  EXPECT_SUCCESS_IN_CHILD(LiveBesideAnother(false));
}

void BindFromManyThreads() {
  SetOpenMpPath(TestOpenMpPath());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&wrong] { wrong += !BindOpenMp().empty() || !RegionWorks(2); });
  }
  for (std::thread& thread : threads) thread.join();
  Require(wrong == 0, "every thread found the library");
  _exit(0);
}

TEST_F(OpenMpLibraryDeathTest, BindsOnceForThreadsAtOnce) {
  EXPECT_SUCCESS_IN_CHILD(BindFromManyThreads());
}

// Each is a loop of its own, of which nobody has seen how little it takes.
template <int kLoop>
void CountTrips(PkCall* /*call*/, void* captures, int64_t begin, int64_t end) {
  *static_cast<std::atomic<int64_t>*>(captures) += end - begin;
}

void BindWhenForking() {
  Call call(2);
  std::atomic<int64_t> count{0};
  pk_fork(&call, CountTrips<0>, &count, 10, 1, 0);
  Require(count == 10 && !IsOpenMpBound(), "not worth a fork");
  pk_fork(&call, CountTrips<1>, &count, 10, 0, 0);
  Require(count == 20 && !IsOpenMpBound(), "without a library");
  SetOpenMpPath(TestOpenMpPath());
  pk_fork(&call, CountTrips<2>, &count, 10, 0, 0);
  Require(count == 30 && IsOpenMpBound(), "with one");
  _exit(0);
}

TEST_F(OpenMpLibraryDeathTest, IsBoundByTheFirstFork) {
  EXPECT_SUCCESS_IN_CHILD(BindWhenForking());
}

void SayWhatIsMissing() {
  ImageParts parts;
  parts.text = "\xc3";
  parts.AddImport("__kmpc_fork_call");
  const std::string bytes = Pack(parts);
  std::string error;
  Require(LoadImage(bytes.data(), bytes.size(), &error) == nullptr, "no library, no image");
  Require(error ==
              "cannot run in parallel: no OpenMP library is loaded and the package has none "
              "of its own",
          error);
  SetOpenMpPath("/nowhere/libomp.so");
  LoadImage(bytes.data(), bytes.size(), &error);
  Require(error.find("cannot run in parallel: cannot open the OpenMP library: /nowhere") == 0,
          error);
  SetOpenMpPath("libm.so.6");
  LoadImage(bytes.data(), bytes.size(), &error);
  Require(error ==
              "cannot run in parallel: libm.so.6 is no OpenMP library that serves: it lacks "
              "__kmpc_fork_call",
          error);
  SetOpenMpPath(TestOpenMpPath());
  Require(LoadImage(bytes.data(), bytes.size(), &error) != nullptr, "a later try may succeed");
  _exit(0);
}

TEST_F(OpenMpLibraryDeathTest, AMissingLibraryIsOneClearError) {
  EXPECT_SUCCESS_IN_CHILD(SayWhatIsMissing());
}

}  // namespace
}  // namespace parakeet::runtime
