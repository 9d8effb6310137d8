#include "pylib/core/outside_records.h"

#include <string>
#include <utility>

#include "pylib/core/content.h"
#include "pylib/core/fingerprint.h"
#include "pylib/core/outside.h"
#include "pylib/core/source_homes.h"

namespace parakeet::pylib {
namespace {

constexpr int kDeepestRecord = 20;  // of tuples in tuples

// The steps through tuples from `from` to `wanted`.
bool FindIn(PyObject* from, PyObject* wanted, int depth, std::vector<uint32_t>* path) {
  if (Unwrap(from) == wanted) return true;
  if (!PyTuple_Check(from) || depth == kDeepestRecord) return false;
  for (Py_ssize_t i = 0; i < PyTuple_Size(from); ++i) {
    path->push_back(uint32_t(i));
    if (FindIn(PyTuple_GetItem(from, i), wanted, depth + 1, path)) return true;
    path->pop_back();
  }
  return false;
}

Ref Follow(Ref object, const std::vector<uint32_t>& path) {
  for (uint32_t step : path) {
    if (!PyTuple_Check(object.get()) || step >= size_t(PyTuple_Size(object.get()))) return Ref();
    object = Ref::Borrow(PyTuple_GetItem(object.get(), step));
  }
  return Ref::Borrow(Unwrap(object.get()));
}

// The objects of the records so far, and what they begin from. Both directions number objects by
// it, in the same order.
class Known {
 public:
  explicit Known(const Beginning& beginning) : beginning_(beginning) {
    fingerprint_.Add(beginning.function);
    for (const Ref& object : *beginning.statics) fingerprint_.Add(object.get());
    fingerprint_.Take();
  }

  // The content of the next record's object.
  std::string Append(Ref object) {
    fingerprint_.Add(object.get());
    objects_.push_back(std::move(object));
    return fingerprint_.Take();
  }
  bool is_certain() const { return fingerprint_.is_certain(); }
  const std::vector<Ref>& objects() const { return objects_; }
  const std::vector<Ref>& statics() const { return *beginning_.statics; }

  bool Find(PyObject* wanted, Origin* origin) const {
    *origin = Origin();
    if (wanted == Py_None) return true;
    if (beginning_.function == wanted) {
      origin->kind = Origin::Kind::kRoot;
      return true;
    }
    return FindAmong(*beginning_.statics, Origin::Kind::kStatic, wanted, origin) ||
           FindAmong(objects_, Origin::Kind::kRecord, wanted, origin);
  }

  // Null where the origin leads nowhere.
  Ref At(const Origin& origin) const {
    switch (origin.kind) {
      case Origin::Kind::kNone: return Ref::Borrow(Py_None);
      case Origin::Kind::kRoot: return Ref::Borrow(beginning_.function);
      case Origin::Kind::kStatic: return In(*beginning_.statics, origin);
      case Origin::Kind::kRecord: return In(objects_, origin);
    }
    return Ref();
  }

 private:
  static bool FindAmong(const std::vector<Ref>& objects, Origin::Kind kind, PyObject* wanted,
                        Origin* origin) {
    for (size_t i = 0; i < objects.size(); ++i) {
      origin->path.clear();
      if (!FindIn(objects[i].get(), wanted, 0, &origin->path)) continue;
      origin->kind = kind;
      origin->index = uint32_t(i);
      return true;
    }
    return false;
  }

  static Ref In(const std::vector<Ref>& objects, const Origin& origin) {
    if (origin.index >= objects.size()) return Ref();
    return Follow(objects[origin.index], origin.path);
  }

  const Beginning& beginning_;
  Fingerprint fingerprint_;
  std::vector<Ref> objects_;
};

class Recorder {
 public:
  Recorder(const Beginning& beginning, const OutsideParts& parts, DiskEntry* entry)
      : known_(beginning), parts_(parts), entry_(*entry) {}

  bool Run() {
    const Py_ssize_t count = PyTuple_Size(parts_.functions.get());
    entry_.holders.resize(size_t(count));
    for (size_t i = 0; i < entry_.manifest.dependencies.size(); ++i) {
      if (!Record(entry_.manifest.dependencies[i], PyTuple_GetItem(parts_.objects.get(), i))) {
        return false;
      }
    }
    for (const CaptureSource& capture : entry_.manifest.captures) {
      if (!Locate(capture.from.function)) return false;
    }
    FindHomes();
    return known_.is_certain();
  }

 private:
  PyObject* Holder(uint32_t number) const {
    return PyTuple_GetItem(parts_.functions.get(), number);
  }
  bool Locate(uint32_t number) { return known_.Find(Holder(number), &entry_.holders[number]); }

  bool Record(const OutsideName& name, PyObject* object) {
    if (!Locate(name.function)) {
      const bool is_no_overload = name.space == Namespace::kOverload && object == Py_None;
      entry_.allows_no_overload |= is_no_overload;
      return is_no_overload ||
             (name.space == Namespace::kAttribute && IsMadeByNumpy(Holder(name.function)));
    }
    entry_.records.push_back({name, known_.Append(Ref::Borrow(object))});
    return true;
  }

  void FindHomes() {
    SourceHomes homes;
    const auto add = [&](const Origin& origin) { homes.Add(origin, known_.At(origin).get()); };
    add({Origin::Kind::kRoot, 0, {}});
    for (uint32_t i = 0; i < known_.statics().size(); ++i) add({Origin::Kind::kStatic, i, {}});
    for (uint32_t i = 0; i < known_.objects().size(); ++i) add({Origin::Kind::kRecord, i, {}});
    for (const Origin& holder : entry_.holders) add(holder);  // some are inside tuples
    homes.Assign(&entry_);
  }

  Known known_;
  const OutsideParts& parts_;
  DiskEntry& entry_;
};

class Reader {
 public:
  Reader(const Beginning& beginning, DiskEntry* entry) : known_(beginning), entry_(*entry) {}

  bool Run(OutsideParts* parts) {
    if (entry_.allows_no_overload && overloads_version != 0) return false;
    for (const OutsideRecord& record : entry_.records) {
      Ref object = Read(record.name);
      if (!object || known_.Append(std::move(object)) != record.content) return false;
    }
    std::vector<Ref> holders;
    for (const Origin& origin : entry_.holders) {
      holders.push_back(known_.At(origin));
      if (!holders.back()) return false;
    }
    MoveLines();
    parts->functions = TupleOf(holders);
    parts->objects = TupleOf(known_.objects());
    return parts->functions && parts->objects;
  }

 private:
  static Ref TupleOf(const std::vector<Ref>& objects) {
    Ref tuple = Ref::Steal(PyTuple_New(Py_ssize_t(objects.size())));
    for (size_t i = 0; tuple && i < objects.size(); ++i) {
      PyTuple_SetItem(tuple.get(), Py_ssize_t(i), Ref(objects[i]).release());
    }
    return tuple;
  }

  Ref Read(const OutsideName& name) {
    const Ref holder = known_.At(entry_.holders[name.function]);
    if (!holder) return Ref();
    if (name.space == Namespace::kAttribute) {
      return Ref::Steal(PyObject_GetAttrString(holder.get(), name.name.c_str()));
    }
    if (name.space == Namespace::kOverload) {
      if (overloads_version == 0) return Ref::Borrow(Py_None);
      return LookUpOverload(holder.get(), name.name);
    }
    OutsidePlace place;
    return place.Locate(name, holder.get()) ? Ref::Borrow(place.Read()) : Ref();
  }

  void MoveLines() {
    for (size_t i = 0; i < entry_.homes.size(); ++i) {
      const Ref function = known_.At(entry_.homes[i].origin);
      if (function) MoveHome(function.get(), uint32_t(i), &entry_);
    }
  }

  Known known_;
  DiskEntry& entry_;
};

}  // namespace

bool RecordOutside(const Beginning& beginning, const OutsideParts& parts, DiskEntry* entry) {
  const bool is_recorded = Recorder(beginning, parts, entry).Run();
  PyErr_Clear();
  return is_recorded;
}

bool ReadAgain(const Beginning& beginning, DiskEntry* entry, OutsideParts* parts) {
  const bool holds = Reader(beginning, entry).Run(parts);
  PyErr_Clear();
  return holds;
}

}  // namespace parakeet::pylib
