// From what the compiler made, or the disk cache kept, to a specialization that calls can find.
#ifndef PARAKEET_PYLIB_CORE_MAKE_SPECIALIZATION_H_
#define PARAKEET_PYLIB_CORE_MAKE_SPECIALIZATION_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "pylib/core/arguments.h"
#include "pylib/core/outside_records.h"
#include "pylib/core/specialization.h"
#include "pylib/manifest.h"
#include "pylib/python.h"

namespace parakeet::pylib {

struct CompiledParts {
  Manifest manifest;
  bool is_image_checked = false;  // whether the image's checksum need not be held against it
  std::string_view image;         // or, for the interpreter:
  void* program = nullptr;        // becomes the specialization's
  OutsideParts outside;
  uint64_t overloads_version = 0;  // as it was before the outside was read
  bool allows_no_overload = false;
};

// The static arguments of a call, owned.
std::vector<Ref> OwnedStatics(const Arguments& call);
Ref TupleOf(const std::vector<Ref>& objects);

// Null with an exception set.
std::unique_ptr<Specialization> MakeSpecialization(const Arguments& call, CompiledParts parts);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_MAKE_SPECIALIZATION_H_
