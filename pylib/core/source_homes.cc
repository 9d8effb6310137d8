#include "pylib/core/source_homes.h"

#include "pylib/core/content.h"

namespace parakeet::pylib {
namespace {

// File and first line of a Python function; false for another object.
bool Place(PyObject* object, std::string* file, int32_t* first_line) {
  if (object == nullptr || !IsPythonFunction(Unwrap(object))) return false;
  const Ref code = Ref::Steal(PyObject_GetAttrString(Unwrap(object), "__code__"));
  const Ref name = Ref::Steal(code ? PyObject_GetAttrString(code.get(), "co_filename") : nullptr);
  const Ref line =
      Ref::Steal(code ? PyObject_GetAttrString(code.get(), "co_firstlineno") : nullptr);
  const char* text = name ? PyUnicode_AsUTF8AndSize(name.get(), nullptr) : nullptr;
  if (text != nullptr) *file = text;
  *first_line = line ? int32_t(PyLong_AsLong(line.get())) : 0;
  PyErr_Clear();
  return text != nullptr && *first_line > 0;
}

}  // namespace

void SourceHomes::Add(const Origin& origin, PyObject* object) {
  SourceHome home;
  if (!Place(object, &home.file, &home.first_line)) return;
  home.origin = origin;
  homes_.push_back(std::move(home));
}

uint32_t SourceHomes::HomeOf(const std::string& file, int32_t line) const {
  uint32_t best = kNoHome;
  for (uint32_t i = 0; i < homes_.size(); ++i) {
    const SourceHome& home = homes_[i];
    if (home.file != file || home.first_line > line) continue;
    if (best == kNoHome || home.first_line > homes_[best].first_line) best = i;
  }
  return best;
}

void SourceHomes::Assign(DiskEntry* entry) const {
  entry->homes = homes_;
  for (const ErrorSite& site : entry->manifest.sites) {
    entry->site_homes.push_back(HomeOf(site.file, site.line));
  }
}

void MoveHome(PyObject* function, uint32_t number, DiskEntry* entry) {
  const SourceHome& home = entry->homes[number];
  std::string file;
  int32_t first_line = 0;
  if (!Place(function, &file, &first_line)) return;
  const int32_t distance = first_line - home.first_line;
  if (distance == 0 && file == home.file) return;
  Manifest& manifest = entry->manifest;
  for (size_t i = 0; i < manifest.sites.size(); ++i) {
    if (entry->site_homes[i] != number) continue;
    manifest.sites[i].file = file;
    manifest.sites[i].line += distance;
    manifest.sites[i].end_line += distance;
  }
}

}  // namespace parakeet::pylib
