// All that dispatch needs to know of compiled code beside the code itself. The compiler writes it,
// `_core` reads it; as bytes it stands beside the image in a disk cache.
#ifndef PARAKEET_PYLIB_MANIFEST_H_
#define PARAKEET_PYLIB_MANIFEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pylib/key.h"

namespace parakeet::pylib {

enum class ResultKind : uint8_t { kNone, kScalar, kArray, kTuple, kList };

// One node of the tree that a call returns; the tree is a list in preorder.
struct ResultNode {
  ResultKind kind = ResultKind::kNone;
  uint8_t type = 0;      // scalar, array: NumPy's type number
  bool python = false;   // scalar: Python's own, else NumPy's
  bool is_view = false;  // array: never the argument itself that it sees
  uint8_t rank = 0;      // array
  uint32_t slot = 0;     // scalar, array: its first result slot (runtime/abi.h)
  uint32_t length = 0;   // tuple, list: how many nodes are directly below
  bool is_kept = false;  // scalar: in memory of the device, with the slots of an array of rank 0
};

// Which of a function's namespaces a name is read from; kDefault: the defaults of its parameters;
// kOverload: no namespace, but what stands for the object in the function's place, or for the array
// method of that name where None is in its place; kAttribute: the attributes of the module or other
// object in its place.
enum class Namespace : uint8_t { kClosure, kGlobal, kBuiltin, kDefault, kOverload, kAttribute };

// A name that the compilation read outside the code. `function` indexes the functions that travel
// with the manifest.
struct OutsideName {
  Namespace space = Namespace::kGlobal;
  uint32_t function = 0;
  std::string name;
};

// An outside array or list, which is read anew for each call.
struct CaptureSource {
  OutsideName from;
  std::vector<uint32_t> path;  // indexes into tuples, from that object to the array
};

// The exception of the site at which code gives up for shapes that it does not take.
inline constexpr std::string_view kOtherShapes = "OtherShapes";
// That of the site at which it gives up since there is better code for a short last axis, which is
// compiled where the key says how short.
inline constexpr std::string_view kShortAxes = "ShortAxes";
// That of the site at which it gives up since there are better tiles for products with so short a
// side, which code has where the key's header says so.
inline constexpr std::string_view kShortSides = "ShortSides";
// That of the site at which it gives up since there are better loops for rows so few and long,
// likewise.
inline constexpr std::string_view kFewLongRows = "FewRows";

// A check that may fail: what to raise and where. The message is a format string in Python's sense,
// for the scalars that the check records.
struct ErrorSite {
  std::string exception;
  std::string message;
  std::vector<uint8_t> scalar_types;  // NumPy's type numbers
  std::string file;                   // empty where the place is not known
  std::string function;
  int32_t line = 0;
  int32_t column = 0;
  int32_t end_line = 0;
  int32_t end_column = 0;
};

// Cycles that part of a call takes: `cycles` times the product of the extents, which are argument
// slots (runtime/abi.h) holding array sizes.
struct CostTerm {
  double cycles = 0;
  std::vector<uint32_t> extents;
};

struct PhaseTime {
  std::string name;
  double ms = 0;
};

// A region of profiled code (pk_mark): the operator of the source that its nests come from.
struct RegionPlace {
  std::string file;  // empty where the place is not known
  int32_t line = 0, column = 0, end_line = 0, end_column = 0;
};

struct Manifest {
  std::vector<uint64_t> leaves;  // the leaf words of arguments and captures, in order of the entry
  // For each array among the leaves: whether its elements are stored to, and whether it matters
  // what they are before the call.
  std::vector<uint8_t> written;
  std::vector<uint8_t> contents;
  std::vector<ResultNode> results;
  uint32_t result_slots = 0;
  std::vector<CaptureSource> captures;
  std::vector<OutsideName> dependencies;  // as the objects that travel with the manifest had them
  std::vector<ErrorSite> sites;
  bool is_bounded = false;  // whether the terms say all that the call may take
  std::vector<CostTerm> cost;
  std::vector<PhaseTime> phases;
  std::vector<RegionPlace> regions;
};

std::string Serialize(const Manifest& manifest);

// nullopt for bytes that Serialize did not write: every length and index is checked, so that a
// manifest that parses may be used without further checks.
std::optional<Manifest> ParseManifest(std::string_view bytes);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_MANIFEST_H_
