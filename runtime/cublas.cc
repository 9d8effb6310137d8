#include "runtime/cublas.h"

#include <dlfcn.h>

#include <iterator>
#include <mutex>
#include <optional>
#include <string_view>

namespace parakeet::runtime {
namespace {

constexpr const char* kNames[] = {"libcublas.so.13", "libcublas.so.12"};

// The first driver that runs cuBLAS of CUDA 13.
constexpr int kDriverOf13 = 13000;

// cuBLAS's numbers.
constexpr int kReadings[] = {0, 1, 2};  // as it is, transposed, conjugated too
constexpr int kTypes[] = {0, 1, 4, 5};  // f32, f64, c64, c128
constexpr int kInSingle = 68;           // sums in f32, without the short products of TF32
constexpr int kInDouble = 70;
constexpr int kDefaultAlgorithm = -1;

struct Search {
  std::mutex mutex;
  std::vector<std::string> files;
  std::optional<Cublas> replacement;
  std::string opened;
};

Search& TheSearch() {
  static auto* const search = new Search;
  return *search;
}

bool FindFunctions(void* library, Cublas* cublas) {
#define PARAKEET_CUBLAS_FUNCTION(member, symbol, arguments)                            \
  cublas->member = reinterpret_cast<decltype(cublas->member)>(dlsym(library, symbol)); \
  if (cublas->member == nullptr) return false;
#include "runtime/cublas_functions.def"
#undef PARAKEET_CUBLAS_FUNCTION
  return true;
}

bool IsFor13(std::string_view file) { return file.ends_with(".13"); }

struct OpenedCublas {
  Cublas cublas = {};
  bool is_ready = false;
  std::string why;

  explicit OpenedCublas(const CudaDriver& driver) {
    Search& search = TheSearch();
    const std::lock_guard lock(search.mutex);
    if (search.replacement) cublas = *search.replacement;
    is_ready = search.replacement.has_value();
    int version = 0;
    if (driver.DriverGetVersion(&version) != 0) version = 0;
    why = "no libcublas.so was found";
    // One that is in the process already, as another package's, brings no second one in.
    for (size_t i = 0; i < std::size(kNames) && !is_ready; ++i) Try(kNames[i], RTLD_NOLOAD);
    for (size_t i = 0; i < search.files.size() && !is_ready; ++i) {
      const std::string& file = search.files[i];
      if (IsFor13(file) && version < kDriverOf13) continue;
      Try(file, 0);
    }
  }

  void Try(const std::string& file, int flags) {
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | flags);
    is_ready = library != nullptr && FindFunctions(library, &cublas);
    if (is_ready) TheSearch().opened = file;
  }
};

// 1 and 0 in the form of the sums.
struct Factors {
  double one[2] = {1, 0};
  float short_one[2] = {1, 0};
  double zero[2] = {0, 0};
};

}  // namespace

void SetCublasFiles(std::vector<std::string> files) {
  Search& search = TheSearch();
  const std::lock_guard lock(search.mutex);
  search.files = std::move(files);
}

std::string CublasFile() {
  Search& search = TheSearch();
  const std::lock_guard lock(search.mutex);
  return search.opened;
}

const Cublas* OpenCublas(const CudaDriver& driver, std::string* why) {
  // Never closed: other threads may be in it while the process ends.
  static const auto* const opened = new OpenedCublas(driver);
  if (opened->is_ready) return &opened->cublas;
  *why = opened->why;
  return nullptr;
}

void SetCublas(const Cublas& cublas) {
  Search& search = TheSearch();
  const std::lock_guard lock(search.mutex);
  search.replacement = cublas;
}

// The handle is of the current context's device.
bool CublasOfThread::Open() {
  is_opened_ = true;
  std::string why;
  const Cublas* cublas = OpenCublas(driver_, &why);
  CuAddress workspace = 0;
  if (cublas == nullptr || cublas->Create(&handle_) != 0) return false;
  if (cublas->SetStream(handle_, stream_) != 0) return false;
  if (driver_.MemAllocAsync(&workspace, workspace_bytes_, stream_) != 0) return false;
  void* const address = reinterpret_cast<void*>(uintptr_t(workspace));
  if (cublas->SetWorkspace(handle_, address, workspace_bytes_) != 0) return false;
  cublas_ = cublas;
  return true;
}

bool CublasOfThread::Multiply(const BlasProduct& product) {
  if (cublas_ == nullptr && (is_opened_ || !Open())) return false;
  const Factors factors;
  const bool is_short = product.element == kPkF32 || product.element == kPkC64;
  const void* const one = is_short ? static_cast<const void*>(factors.short_one)
                                   : static_cast<const void*>(factors.one);
  const int type = kTypes[product.element];
  const int sums = is_short ? kInSingle : kInDouble;
  const BlasMatrix &a = product.a, &b = product.b, &c = product.c;
  const int a_reading = kReadings[size_t(a.reading)], b_reading = kReadings[size_t(b.reading)];
  if (product.batch == 1) {
    return cublas_->Gemm(handle_, a_reading, b_reading, product.rows, product.columns,
                         product.depth, one, a.data, type, a.column_stride, b.data, type,
                         b.column_stride, factors.zero, c.data, type, c.column_stride, sums,
                         kDefaultAlgorithm) == 0;
  }
  return cublas_->GemmBatched(handle_, a_reading, b_reading, product.rows, product.columns,
                              product.depth, one, a.data, type, a.column_stride, a.batch_stride,
                              b.data, type, b.column_stride, b.batch_stride, factors.zero, c.data,
                              type, c.column_stride, c.batch_stride, product.batch, sums,
                              kDefaultAlgorithm) == 0;
}

}  // namespace parakeet::runtime
