#include "pylib/core/disk_cache.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "pylib/core/make_specialization.h"
#include "pylib/core/question.h"
#include "pylib/core/without_gil.h"
#include "pylib/disk_entry.h"

namespace parakeet::pylib {
namespace {

// How many entries with one question there may be.
constexpr int kPlaces = 4;

// Used with the GIL held.
struct Settings {
  std::string path;
  int64_t limit = 0;
  bool is_open = false;
  std::shared_ptr<CacheFolder> folder;  // null: not opened yet, or of no use
  CacheCounters counters;
};

Settings& TheSettings() {
  static Settings* const settings = new Settings;
  return *settings;
}

std::shared_ptr<CacheFolder> Folder() {
  Settings& settings = TheSettings();
  if (!settings.is_open && !settings.path.empty()) {
    settings.folder = CacheFolder::Open(settings.path, settings.limit);
    settings.is_open = true;
  }
  return settings.folder;
}

bool IsOptimizing() {
  PyObject* flags = PySys_GetObject("flags");
  const Ref level =
      Ref::Steal(flags == nullptr ? nullptr : PyObject_GetAttrString(flags, "optimize"));
  const bool is_on = !level || PyLong_AsLong(level.get()) != 0;
  PyErr_Clear();
  return is_on;
}

bool IsKept(const FunctionState& function, const Arguments& call) {
  const uint64_t header = call.key[0];
  const bool is_kind_kept = TargetOf(header) != Target::kInterpreter && !IsProfiled(header);
  if (!function.may_cache || !is_kind_kept) return false;
  return !IsDebugging() && !IsOptimizing();
}

std::string NameOf(const std::string& question, int place) {
  return NameOfQuestion(question) + "-" + std::to_string(place);
}

// The entry at a place, if it answers the question, in the `bytes` of its file. What cannot be read
// goes.
std::optional<DiskEntry> ReadEntry(CacheFolder* folder, const std::string& question, int place,
                                   std::string* bytes) {
  const WithoutGil others_run;
  const std::string name = NameOf(question, place);
  std::optional<std::string> read = folder->Read(name);
  if (!read) return std::nullopt;
  *bytes = *std::move(read);
  std::optional<DiskEntry> entry = ParseEntry(*bytes);
  if (!entry) folder->Remove(name);
  if (entry && entry->question != question) return std::nullopt;
  return entry;
}

// The first that is free, else the one that was not used for the longest time.
int ChoosePlace(CacheFolder* folder, const std::string& question) {
  int best = 0;
  int64_t oldest = INT64_MAX;
  for (int place = 0; place < kPlaces; ++place) {
    const std::optional<int64_t> use = folder->LastUse(NameOf(question, place));
    if (!use) return place;
    if (*use < oldest) best = place;
    oldest = std::min(oldest, *use);
  }
  return best;
}

}  // namespace

void SetCacheFolder(const std::string& folder, int64_t limit) {
  Settings& settings = TheSettings();
  settings.path = folder;
  settings.limit = limit;
  settings.is_open = false;
  settings.folder = nullptr;
}

bool IsDebugging() {
  const char* debug = std::getenv("PARAKEET_DEBUG");
  return debug != nullptr && *debug != 0;
}

std::shared_ptr<CacheFolder> FolderOf(const FunctionState& function) {
  return function.may_cache ? Folder() : nullptr;
}

CacheCounters ReadCacheCounters() { return TheSettings().counters; }

CacheUsage MeasureCache() {
  const std::shared_ptr<CacheFolder> folder = Folder();
  return folder == nullptr ? CacheUsage() : folder->Measure();
}

void ClearCache() {
  if (const std::shared_ptr<CacheFolder> folder = Folder()) folder->Clear();
}

DiskQuery::DiskQuery(FunctionState* function, const Arguments& call)
    : function_(function), call_(call) {
  if (IsKept(*function, call)) folder_ = Folder();
  if (folder_ == nullptr) return;
  statics_ = OwnedStatics(call);
  question_ = QuestionOf(*function, call);
  if (question_.empty()) folder_ = nullptr;
}

DiskQuery::Outcome DiskQuery::Load(std::unique_ptr<Specialization>* found) {
  if (folder_ == nullptr) return Outcome::kNothing;
  Outcome outcome = LoadFrom(question_, found);
  if (outcome == Outcome::kNothing && (!statics_.empty() || call_.has_lengths)) {
    types_question_ = QuestionOfTypes(*function_, call_);
    if (types_question_ != question_) outcome = LoadFrom(types_question_, found);
  }
  if (outcome == Outcome::kNothing) outcome = WhatElseIsThere();
  CacheCounters& counters = TheSettings().counters;
  counters.hits += outcome == Outcome::kFound;
  counters.misses += outcome == Outcome::kNothing;
  return outcome;
}

// A header that is to say both says one first.
DiskQuery::Outcome DiskQuery::WhatElseIsThere() const {
  const uint64_t header = call_.key[0];
  const auto is_there = [&](uint64_t other) {
    if (other == header) return false;
    return folder_->LastUse(NameOf(QuestionOf(*function_, call_, other), 0)).has_value();
  };
  const uint64_t with_sides = WithShortSides(header, true);
  if (is_there(WithFewRows(header, true))) return Outcome::kFewLongRows;
  if (is_there(with_sides)) return Outcome::kShortSides;
  const bool says_sides = with_sides == header;
  if (!says_sides && is_there(WithFewRows(with_sides, true))) return Outcome::kShortSides;
  return Outcome::kNothing;
}

DiskQuery::Outcome DiskQuery::LoadFrom(const std::string& question,
                                       std::unique_ptr<Specialization>* found) {
  for (int place = 0; place < kPlaces; ++place) {
    std::string bytes;
    std::optional<DiskEntry> entry = ReadEntry(folder_.get(), question, place, &bytes);
    if (!entry) continue;
    const Outcome outcome = Take(std::move(*entry), question != question_, found);
    if (outcome != Outcome::kNothing) return outcome;
  }
  return Outcome::kNothing;
}

DiskQuery::Outcome DiskQuery::Take(DiskEntry entry, bool by_types,
                                   std::unique_ptr<Specialization>* found) {
  CompiledParts parts;
  parts.overloads_version = overloads_version;
  parts.allows_no_overload = entry.allows_no_overload;
  if (!ReadAgain({function_->function.get(), &statics_}, &entry, &parts.outside)) {
    return Outcome::kNothing;
  }
  if (!function_->asks_lengths) entry.need_lengths.clear();
  const bool fits = AreParameters(entry.need_static) && AreParameters(entry.need_lengths);
  if (!fits) return Outcome::kNothing;
  known_.insert({entry.need_static, entry.need_lengths});
  const bool has_more_values = Mark(entry.need_static, kValueInKey);
  const bool has_more_lengths = Mark(entry.need_lengths, kLengthsInKey);
  if (has_more_values || has_more_lengths) return Outcome::kKeyChanged;
  if (entry.need_short_axes && call_.has_short_axes) return Outcome::kShortAxes;
  // What was found by types alone is the code of calls whose keys hold no values: it takes other
  // slots than this one has.
  if (!entry.has_answer || by_types) return Outcome::kNothing;
  parts.manifest = std::move(entry.manifest);
  parts.image = entry.image;
  parts.is_image_checked = true;  // with the entry
  std::unique_ptr<Specialization> made = MakeSpecialization(call_, std::move(parts));
  const bool is_good = made != nullptr && CapturesHold(*made);
  PyErr_Clear();
  if (!is_good) return Outcome::kNothing;
  made->is_from_disk = true;
  *found = std::move(made);
  return Outcome::kFound;
}

// Whether what the code captures has the layout that it was compiled for.
bool DiskQuery::CapturesHold(const Specialization& made) const {
  Arguments scratch;
  for (PyObject* object : call_.statics) scratch.statics.Append(object);
  return made.outside.ReadCaptures(made.manifest, &scratch) == Encoded::kYes;
}

bool DiskQuery::AreParameters(const std::vector<uint32_t>& numbers) const {
  return std::all_of(numbers.begin(), numbers.end(),
                     [&](uint32_t number) { return number < function_->in_key.size(); });
}

// Whether something of that was not known.
bool DiskQuery::Mark(const std::vector<uint32_t>& parameters, InKey more) {
  bool is_new = false;
  for (const uint32_t parameter : parameters) {
    is_new |= (function_->in_key[parameter] & more) == 0;
    function_->in_key[parameter] |= more;
  }
  return is_new;
}

std::vector<uint32_t> DiskQuery::Marked(InKey what) const {
  std::vector<uint32_t> parameters;
  for (uint32_t i = 0; i < function_->in_key.size(); ++i) {
    if ((function_->in_key[i] & what) != 0) parameters.push_back(i);
  }
  return parameters;
}

void DiskQuery::Write(DiskEntry entry) {
  const WithoutGil others_run;
  const std::string name = NameOf(entry.question, ChoosePlace(folder_.get(), entry.question));
  folder_->Write(name, SerializeEntry(entry));
}

void DiskQuery::StoreShortAxes(const Manifest& manifest, const OutsideParts& outside) {
  if (folder_ == nullptr) return;
  DiskEntry entry;
  entry.question = question_;
  entry.manifest = manifest;
  if (!RecordOutside({function_->function.get(), &statics_}, outside, &entry)) return;
  entry.need_short_axes = true;
  entry.has_answer = false;
  Write(std::move(entry));
}

void DiskQuery::Store(const Manifest& manifest, std::string_view image,
                      const OutsideParts& outside) {
  if (folder_ == nullptr) return;
  DiskEntry entry;
  entry.question = question_;
  entry.manifest = manifest;
  if (!RecordOutside({function_->function.get(), &statics_}, outside, &entry)) return;
  entry.need_lengths = Marked(kLengthsInKey);
  const Needs needs = {Marked(kValueInKey), entry.need_lengths};
  if (!types_question_.empty() && types_question_ != question_ && !known_.contains(needs)) {
    DiskEntry statics = entry;
    statics.question = types_question_;
    statics.need_static = needs.first;
    statics.has_answer = false;
    Write(std::move(statics));
  }
  entry.image = image;
  Write(std::move(entry));
}

}  // namespace parakeet::pylib
