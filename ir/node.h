#ifndef PARAKEET_IR_NODE_H_
#define PARAKEET_IR_NODE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ir/arena.h"
#include "ir/ops.h"
#include "ir/span.h"
#include "ir/type.h"

namespace parakeet::ir {

enum class Attr : uint8_t {
#define PARAKEET_ATTRIBUTE(name, text, kind, doc) k##name,
#include "ir/attributes.def"
};
std::string_view Name(Attr attr);

using AttrValue = std::variant<int64_t, std::vector<int64_t>, std::string>;

// The attributes of one binding, in the order of attributes.def. Small: most bindings have none.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<Attr, AttrValue>> entries);

  bool Has(Attr attr) const { return Find(attr) != nullptr; }
  // The integer value, or `otherwise` when absent.
  int64_t Int(Attr attr, int64_t otherwise = 0) const;
  // The text, or an empty string when absent.
  const std::string& Text(Attr attr) const;
  const std::vector<int64_t>& Ints(Attr attr) const;
  // A copy with `attr` set, or without it.
  Attributes With(Attr attr, AttrValue value) const;
  Attributes Without(Attr attr) const;

  const std::vector<std::pair<Attr, AttrValue>>& entries() const { return entries_; }
  friend bool operator==(const Attributes&, const Attributes&) = default;

 private:
  const AttrValue* Find(Attr attr) const;
  std::vector<std::pair<Attr, AttrValue>> entries_;
};

struct Block;

// One operation and the values it defines. Immutable once in a block; shared freely; owned by the
// program's arena. The type of a result may use results before it as sizes: `%k: i64, %y: [k]f64 =
// filter ...`.
//
// Operands by operation, where the name does not say it:
//   check           ok, `at` place operands, then the message's scalars
//   broadcast_size  n, m, then the place
//   slice           the array, then per entry of attribute axes: i: index; r: start, size, step;
//                   n: nothing. Indices and ranges are already normalised: in range, sizes >= 0
//   map, filter     arrays; block 0 takes an element or a slice of each: rank(array) -
//                   rank(parameter) leading axes are the index space, the same for all
//   reduce, scan    arrays, then no or one init a result; block 1 combines: parameters are the left
//                   accumulators, then the right ones
//   imap, foreach, ifilter
//                   the extents, one a parameter of block 0
//   ireduce, iscan, contract
//                   the extents, then no or one init an accumulator; block 1 combines. Of contract,
//                   block 2, where it is there, takes the free indexes, then the accumulated
//                   values, and yields the elements; its stores are those of a foreach
//   lanes           lo, hi, one init a result; block 1 combines
//   alloc           the sizes
//   free            the array whose buffer is given back, then those that may share it and go on
//   load            the array, one index an axis
//   prefetch        as load
//   store           the array, one index an axis, the value
//   load_lanes ...  as load and store, then the mask when masked
//   copy            source, destination
//   mark            bytes, operations
//   for             lo, hi, step (a positive or negative constant), one init a result; block 0
//                   takes the index, then the carried values, and yields their next values
//   while           one init a result; block 0 yields the condition, block 1 the next values; both
//                   take the values
//   if              the condition; both blocks yield the results
//   call            the arguments, then `at` place operands, which inline_calls puts before the
//                   callee's places
//   library_call    as its row in library_routines.def says
//   view            the root, one offset a root axis, then row-major coefficients: root index k of
//                   element (j...) is offset[k] + sum over j of coefficient[k][j] * index[j]
struct Binding {
  OpCode op;
  std::vector<const Var*> results;
  std::vector<Operand> operands;
  std::vector<const Block*> blocks;
  Attributes attrs;
  Span span;

  const Var* result() const { return results.front(); }
};

// Parameters, bindings in order, and what the block yields (or, outermost, returns).
struct Block {
  std::vector<const Var*> params;
  std::vector<const Binding*> bindings;
  std::vector<Operand> results;
};

// How a parameter's array lies in memory. kC and kFortran are contiguous; kStrided promises
// nothing.
enum class Layout : uint8_t { kC, kFortran, kStrided };

struct Param {
  const Var* var;
  Layout layout = Layout::kStrided;
  bool writable = true;
  bool aligned = true;
  friend bool operator==(const Param&, const Param&) = default;
};

// A function. The sizes in its parameters' types are values bound by the call, defined by their
// first appearance. `results` are templates: their types give the result types, sizes being
// parameters' sizes, earlier results or constants. In an entry function no two parameters overlap
// in memory unless `may_overlap`, and a parameter's axis whose size is not the constant 1 is known
// not to be 1.
struct Function {
  std::string name;
  std::vector<Param> params;
  std::vector<const Var*> results;
  const Block* body = nullptr;
  bool entry = false;
  bool may_overlap = false;
  Span span;

  // The sizes bound by the parameters' types, in order of first appearance.
  std::vector<const Var*> Sizes() const;
};

// Where and how a run-time error is raised. The message is a format string in Python's sense: its
// holes (`{}`, `{:.2f}`, `{!r}`) take the check's scalars, in order, and a literal brace is
// doubled.
struct Site {
  std::string exception;
  std::string message;
  Span span;
  friend bool operator==(const Site&, const Site&) = default;
};

// The sites of a program. Copies share them until one adds its own: every pass copies a program.
class Sites {
 public:
  Sites() = default;
  Sites(std::vector<Site> sites)  // NOLINT: a list of sites is sites
      : sites_(std::make_shared<std::vector<Site>>(std::move(sites))) {}

  const Site& operator[](size_t number) const { return (*sites_)[number]; }
  size_t size() const { return sites_->size(); }
  bool empty() const { return sites_->empty(); }
  auto begin() const { return sites_->begin(); }
  auto end() const { return sites_->end(); }
  void push_back(Site site) {
    if (sites_.use_count() > 1) sites_ = std::make_shared<std::vector<Site>>(*sites_);
    sites_->push_back(std::move(site));
  }

 private:
  std::shared_ptr<std::vector<Site>> sites_ = std::make_shared<std::vector<Site>>();
};

// A whole program: the entry function first, then what it calls. Copies share the arena.
struct Program {
  std::shared_ptr<Arena> arena = std::make_shared<Arena>();
  std::vector<const Function*> functions;
  Sites sites;
  std::shared_ptr<SourceMap> sources = std::make_shared<SourceMap>();

  const Function* Find(std::string_view name) const;
  // Replaces the function of the same name, or adds it.
  void Set(const Function* function);
};

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_NODE_H_
