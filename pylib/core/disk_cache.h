// Compiled code on disk: what a process has compiled, others load, without the compiler.
//
// An entry is found by the hash of its question (question.h) and taken where every outside thing
// that its compilation read still is what it was (outside_records.h). A question has a few places,
// since one may have several answers at a time: functions made by one `def` over other globals.
#ifndef PARAKEET_PYLIB_CORE_DISK_CACHE_H_
#define PARAKEET_PYLIB_CORE_DISK_CACHE_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pylib/core/arguments.h"
#include "pylib/core/cache_folder.h"
#include "pylib/core/function.h"
#include "pylib/core/outside_records.h"
#include "pylib/core/specialization.h"

namespace parakeet::pylib {

// From now on, entries are in `folder`, and take `limit` bytes together; an empty folder is none.
// Opened at the first miss; one that cannot be used is none.
void SetCacheFolder(const std::string& folder, int64_t limit);

// Under PARAKEET_DEBUG nothing on disk is looked for or kept.
bool IsDebugging();

// Where what is made of the function's code is kept; null: nowhere. With the GIL held.
std::shared_ptr<CacheFolder> FolderOf(const FunctionState& function);

struct CacheCounters {
  int64_t hits = 0;
  int64_t misses = 0;
};
CacheCounters ReadCacheCounters();
CacheUsage MeasureCache();
void ClearCache();

// One miss in memory: first the look on the disk, then what is kept for the next time. With the GIL
// held, which is given up while files are read and written. Leaves no exception set.
class DiskQuery {
 public:
  // Does nothing where the function's code is not kept: the interpreter's, `jit(cache=False)`,
  // under PARAKEET_DEBUG or `python -O` (whose code objects do not say what is asserted).
  DiskQuery(FunctionState* function, const Arguments& call);

  enum class Outcome : uint8_t {
    kNothing,
    kFound,
    kKeyChanged,   // more parameters of the function are static than the key says
    kShortAxes,    // the key is to say how long the last axes are that are short
    kShortSides,   // its header is to say short sides: there is code for these, which takes any
    kFewLongRows,  // or few rows, likewise
  };
  Outcome Load(std::unique_ptr<Specialization>* found);

  // `manifest` and `image` as the compiler made them.
  void Store(const Manifest& manifest, std::string_view image, const OutsideParts& outside);
  // That calls with short last axes have code of their own.
  void StoreShortAxes(const Manifest& manifest, const OutsideParts& outside);

 private:
  // What a header is to say for which the same call has code: kNothing where there is none.
  Outcome WhatElseIsThere() const;
  Outcome LoadFrom(const std::string& question, std::unique_ptr<Specialization>* found);
  Outcome Take(DiskEntry entry, bool by_types, std::unique_ptr<Specialization>* found);
  bool AreParameters(const std::vector<uint32_t>& numbers) const;
  bool Mark(const std::vector<uint32_t>& parameters, InKey more);
  std::vector<uint32_t> Marked(InKey what) const;
  bool CapturesHold(const Specialization& made) const;
  void Write(DiskEntry entry);

  FunctionState* function_;
  const Arguments& call_;
  std::shared_ptr<CacheFolder> folder_;  // null: does nothing
  std::vector<Ref> statics_;
  std::string question_;
  std::string types_question_;
  // Which parameters entries say to be static, and to have lengths that matter.
  using Needs = std::pair<std::vector<uint32_t>, std::vector<uint32_t>>;
  std::set<Needs> known_;
};

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_DISK_CACHE_H_
