// The outside names of a specialization: globals, closure cells and builtins that its compilation
// read. Those that decided about the code are guards, compared before each call; arrays and lists
// are captures, read again for each call and passed as arguments. What users' functions stand for
// is compared where some registration has changed since it last was.
#ifndef PARAKEET_PYLIB_CORE_OUTSIDE_H_
#define PARAKEET_PYLIB_CORE_OUTSIDE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "pylib/core/arguments.h"
#include "pylib/core/expected_call.h"
#include "pylib/manifest.h"
#include "pylib/python.h"

namespace parakeet::pylib {

// Counts the registrations of users' overloads in this process. With the GIL held.
extern uint64_t overloads_version;

// Where an outside name is read.
struct OutsidePlace {
  Namespace space = Namespace::kGlobal;
  // The cell; the globals; the builtins; the function whose default it is; the object whose
  // attribute it is.
  Ref holder;
  Ref name;
  Ref globals;            // of a builtin: they must not have the name
  Py_ssize_t number = 0;  // of a default: its place in __defaults__, or -1: in __kwdefaults__

  // Finds where `function` reads the name, which is of none of its overloads or attributes. False,
  // perhaps with an exception set, where it has no such name.
  bool Locate(const OutsideName& from, PyObject* function);
  // Borrowed; null where nothing is bound. Not of an attribute.
  PyObject* Read() const;
  // The same of any place; an exception is cleared.
  Ref ReadNow() const;
};

// What stands for an object, or for the method of that name where `object` is None, by now: a
// function or None. Null with an exception set.
Ref LookUpOverload(PyObject* object, const std::string& method);

class OutsideObjects {
 public:
  // `version` is overloads_version as it was before the compilation. `allows_no_overload`: any
  // registration after that ends what holds.
  explicit OutsideObjects(uint64_t version = 0, bool allows_no_overload = false)
      : version_(version), allows_no_overload_(allows_no_overload) {}

  // `functions` and `objects` are what the compiler returned with the manifest; `statics` are the
  // specialization's. False with an exception set.
  bool Bind(const Manifest& manifest, PyObject* functions, PyObject* objects,
            const std::vector<Ref>& statics);

  // Whether every guarded name still means what it meant. An object that was replaced by one of
  // equal content is remembered, so that the next comparison is by identity.
  bool Holds() { return (version_ == overloads_version && guards_.empty()) || AllHold(); }
  bool has_captures() const { return !captures_.empty(); }
  // Appends the captured arrays to the slots of a call. kRefused: one is no longer what the code
  // was compiled for, and the specialization is stale.
  Encoded ReadCaptures(const Manifest& manifest, Arguments* call) const;
  // The same for a call that is compared in place. False where that leaves something open.
  bool TakeCaptures(const ExpectedCall& expected, DirectArguments* call) const;

 private:
  struct Guard {
    OutsidePlace place;
    Ref object;
  };
  // The object, or None and the name of a method; and the function that stands for it, or None.
  struct Overload {
    Ref replaced;
    std::string method;
    Ref function;
  };
  struct Capture {
    OutsidePlace place;
    int argument = -1;  // the static argument in whose closure it is, or -1: `place` says
    Py_ssize_t cell = 0;
    std::vector<uint32_t> path;
  };

  bool AllHold();
  void GuardAttribute(PyObject* holder, const std::string& name, PyObject* object);
  bool OverloadsHold();
  static PyObject* AlongPath(PyObject* object, const std::vector<uint32_t>& path);
  static Ref Follow(const Capture& capture, const Arguments& call);

  std::vector<Guard> guards_;
  std::vector<Capture> captures_;
  std::vector<Overload> overloads_;
  uint64_t version_;
  bool allows_no_overload_;
};

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_OUTSIDE_H_
