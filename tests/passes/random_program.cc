#include "tests/passes/random_program.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace parakeet {
namespace {

using Strings = std::vector<std::string>;

constexpr int kDeepest = 3;

constexpr char kSites[] = R"ir(site 0 IndexError "index {} is out of bounds for size {}"
site 1 ValueError "number {} is refused"
site 2 ValueError "shapes ({},) ({},)"
)ir";

constexpr char kCallees[] = R"ir(
fn @total(%x: [n]f64) -> f64 {
  %s: f64 = reduce (%a: f64 in %x) add from 0.0 { yield %a }
  return %s }
fn @pick(%x: [n]f64, %i: i64) -> f64 {
  %low: bool = ge %i, 0
  check %low, site 0 at (1) with (%i, %n)
  %high: bool = lt %i, %n
  check %high, site 0 at (2) with (%i, %n)
  %a: f64 = load %x[%i]
  %b: f64 = call @twice(%a) at (3)
  return %b }
fn @twice(%a: f64) -> f64 { %b: f64 = add %a, %a  return %b }
fn @raise_all(%x: [n]f64, %by: f64) {
  for %i in 0 to %n step 1 {
    %a: f64 = load %x[%i]  %b: f64 = add %a, %by  store %x[%i], %b }
  return }
fn @shifted(%x: [n]f64) -> [n]f64 {
  %y: [n]f64 = map (%a: f64 in %x) { %b: f64 = add %a, 0.5  yield %b }
  return %y }
)ir";

struct Array {
  std::string name;
  std::string dtype;
  Strings dims;
  bool writable = false;
  bool contiguous = false;  // Where reshape is a view whatever the arguments' strides.

  std::string Type() const {
    std::string type;
    for (const std::string& dim : dims) {
      type += "[" + (dim[0] == '%' ? dim.substr(1) : dim) + "]";
    }
    return type + dtype;
  }
};

// What a block may read, and where in program order it stands.
struct Scope {
  Strings reals = {"0.5", "-2.0"};
  Strings ints = {"1", "3"};
  Strings bools;
  std::vector<Array> arrays;
  std::vector<std::pair<std::string, std::string>> indexes;  // value, the size it is below
  Strings place;
  int statement = 0;
  int depth = 0;
  bool in_operator = false;
  bool has_place = true;  // False in a map, whose elements have no index for the place of a check.
};

class Writer {
 public:
  explicit Writer(Random& random) : random_(random) {}

  std::string Program() {
    text_ = kSites;
    text_ += "fn @f(%x: [n]f64" + Layout() + ", %y: [n]f64" + Layout() + ", %a: [n][m]f64" +
             Layout() + ", %k: [n]i64, %r: f64, %t: i64) -> (f64, i64, [n]f64, [n][m]f64) entry " +
             (Chance(8) ? "may_overlap " : "") + "{\n";
    text_ += "%n2: i64 = sub %n, 2\n%h: i64 = max %n2, 0\n%last: i64 = sub %n, 1\n";
    Scope scope;
    scope.reals.push_back("%r");
    scope.ints.push_back("%t");
    scope.arrays = {{"%x", "f64", {"%n"}, true},
                    {"%y", "f64", {"%n"}, true},
                    {"%a", "f64", {"%n", "%m"}, true},
                    {"%k", "i64", {"%n"}, true}};
    Statements(scope, 5 + Below(10));
    Return(scope);
    return text_ + kCallees;
  }

 private:
  // --- Choices. ---

  int Below(int end) { return static_cast<int>(random_() % end); }
  bool Chance(int one_in) { return Below(one_in) == 0; }
  std::string Layout() { return Chance(3) ? " fortran" : Chance(2) ? " c" : ""; }
  std::string New() { return "%v" + std::to_string(++values_); }

  // Newer values are likelier.
  const std::string& Of(const Strings& values) {
    const int size = static_cast<int>(values.size());
    return values[std::max(Below(size), Below(size))];
  }
  const std::string& Real(const Scope& scope) { return Of(scope.reals); }
  const std::string& Int(const Scope& scope) { return Of(scope.ints); }

  std::string Bool(Scope& scope) {
    if (scope.bools.empty() || Chance(2)) Compare(scope);
    return Of(scope.bools);
  }

  template <typename Fits>
  const Array* Choose(const Scope& scope, Fits fits) {
    std::vector<const Array*> found;
    for (const Array& array : scope.arrays) {
      if (fits(array)) found.push_back(&array);
    }
    const int size = static_cast<int>(found.size());
    return found.empty() ? nullptr : found[std::max(Below(size), Below(size))];
  }
  const Array* Any(const Scope& scope) {
    return Choose(scope, [](const Array&) { return true; });
  }

  // --- Statements. ---

  void Statements(Scope& scope, int count) {
    for (int i = 0; i < count; ++i) Statement(scope);
  }

  void Statement(Scope& scope) {
    ++scope.statement;
    const bool deep = scope.depth >= kDeepest;
    switch (Below(deep ? 8 : 26)) {
      case 0: return RealOperation(scope);
      case 1: return IntOperation(scope);
      case 2: return Compare(scope);
      case 3:
      case 4: return Load(scope);
      case 5: return Store(scope);
      case 6: return Check(scope);
      case 7: return Call(scope);
      case 8:
      case 9: return Map(scope);
      case 10:
      case 11: return Imap(scope);
      case 12:
      case 13: return Reduce(scope);
      case 14: return Scan(scope);
      case 15: return Slice(scope);
      case 16: return View(scope);
      case 17:
      case 18:
      case 19: return For(scope);
      case 20: return If(scope);
      case 21: return While(scope);
      case 22: return Alloc(scope);
      case 23: return CopyInto(scope);
      case 24: return Filter(scope);
      default: return Swap(scope);
    }
  }

  void Define(Strings& values, const std::string& type, const std::string& expression) {
    const std::string name = New();
    text_ += name + ": " + type + " = " + expression + "\n";
    values.push_back(name);
  }

  void RealOperation(Scope& scope) {
    static constexpr const char* kOps[] = {"add", "sub", "mul", "min", "max", "add", "mul"};
    static constexpr const char* kUnary[] = {"neg", "abs", "exp", "log", "floor", "sign"};
    if (Chance(5))
      return Define(scope.reals, "f64", std::string(kUnary[Below(6)]) + " " + Real(scope));
    if (Chance(6)) {
      return Define(scope.reals, "f64",
                    "select " + Bool(scope) + ", " + Real(scope) + ", " + Real(scope));
    }
    if (Chance(6)) return Define(scope.reals, "f64", "cast " + Int(scope));
    Define(scope.reals, "f64",
           std::string(kOps[Below(7)]) + " " + Real(scope) + ", " + Real(scope));
  }

  void IntOperation(Scope& scope) {
    static constexpr const char* kOps[] = {"add", "sub", "mul", "min", "max", "add", "sub"};
    if (Chance(5))
      return Define(scope.ints, "i64", (Chance(2) ? "mod " : "floordiv ") + Int(scope) + ", 3");
    Define(scope.ints, "i64", std::string(kOps[Below(7)]) + " " + Int(scope) + ", " + Int(scope));
  }

  void Compare(Scope& scope) {
    static constexpr const char* kOps[] = {"lt", "le", "gt", "ge", "eq", "ne"};
    const std::string op = std::string(kOps[Below(6)]) + " ";
    if (Chance(2)) return Define(scope.bools, "bool", op + Real(scope) + ", " + Real(scope));
    Define(scope.bools, "bool", op + Int(scope) + ", " + Int(scope));
  }

  // An index below `size`: one that is known to be, or any behind checks, wrapped or not.
  std::string Index(Scope& scope, const std::string& size) {
    Strings known;
    for (const auto& [index, below] : scope.indexes) {
      if (below == size) known.push_back(index);
    }
    if (!known.empty() && (!scope.has_place || !Chance(8))) return Of(known);
    std::string index = Int(scope);
    if (!known.empty() && Chance(2)) {
      Define(scope.ints, "i64", (Chance(2) ? "add " : "sub ") + Of(known) + ", 1");
      index = scope.ints.back();
    }
    if (Chance(2)) {
      Define(scope.ints, "i64", "add " + index + ", " + size);
      const std::string wrapped = scope.ints.back();
      Define(scope.bools, "bool", "lt " + index + ", 0");
      Define(scope.ints, "i64", "select " + scope.bools.back() + ", " + wrapped + ", " + index);
      index = scope.ints.back();
    }
    for (const std::string& condition : {"ge " + index + ", 0", "lt " + index + ", " + size}) {
      Define(scope.bools, "bool", condition);
      const std::string ok = scope.bools.back();
      scope.bools.pop_back();
      EmitCheck(scope, ok, 0, index + ", " + size);
    }
    scope.indexes.emplace_back(index, size);
    return index;
  }

  void EmitCheck(Scope& scope, const std::string& ok, int site, const std::string& scalars) {
    text_ += "check " + ok + ", site " + std::to_string(site) + " at (" + Place(scope) +
             ") with (" + scalars + ")\n";
  }

  std::string Place(Scope& scope) {
    std::string place;
    for (const std::string& part : scope.place) place += part + ", ";
    return place + std::to_string(++scope.statement);
  }

  std::string Element(Scope& scope, const Array& array) {
    std::string index;
    for (const std::string& dim : array.dims) {
      index += (index.empty() ? "" : ", ") + Index(scope, dim);
    }
    return array.name + "[" + index + "]";
  }

  // True where an element of the array can be named without a check that often fails.
  bool IsInReach(const Scope& scope, const Array& array) {
    if (scope.has_place && Chance(30)) return true;
    return std::all_of(array.dims.begin(), array.dims.end(), [&](const std::string& dim) {
      return std::any_of(scope.indexes.begin(), scope.indexes.end(),
                         [&](const auto& known) { return known.second == dim; });
    });
  }

  // A copy, since what is emitted on the way may move the scope's arrays.
  void Load(Scope& scope) {
    const Array* found = Choose(scope, [&](const Array& a) { return IsInReach(scope, a); });
    if (found == nullptr) return RealOperation(scope);
    const Array array = *found;
    const std::string element = Element(scope, array);
    Define(array.dtype == "f64" ? scope.reals : scope.ints, array.dtype, "load " + element);
  }

  void Store(Scope& scope) {
    const Array* found =
        Choose(scope, [&](const Array& a) { return a.writable && IsInReach(scope, a); });
    if (found == nullptr) return Load(scope);
    const Array array = *found;
    const std::string element = Element(scope, array);
    text_ += "store " + element + ", " + (array.dtype == "f64" ? Real(scope) : Int(scope)) + "\n";
  }

  void Check(Scope& scope) {
    if (!scope.has_place) return Compare(scope);
    const std::string number = Int(scope);
    if (Chance(4)) {
      Define(scope.ints, "i64",
             "broadcast_size " + std::string(Chance(2) ? "%n" : "1") + ", " +
                 (Chance(2)   ? "%m"
                  : Chance(2) ? "%n"
                              : "1") +
                 ", site 2 at (" + Place(scope) + ")");
      return;
    }
    Define(scope.bools, "bool",
           Chance(2) ? "lt " + number + ", 40" : "le " + Real(scope) + ", 300.0");
    EmitCheck(scope, scope.bools.back(), 1, number);
  }

  void Call(Scope& scope) {
    const Array* array =
        Choose(scope, [](const Array& a) { return a.dtype == "f64" && a.dims.size() == 1; });
    const bool may_store = array != nullptr && array->writable && !scope.in_operator;
    if (array == nullptr || Chance(4)) {
      const std::string argument = Real(scope);
      return Define(scope.reals, "f64", "call @twice(" + argument + ") at (" + Place(scope) + ")");
    }
    const Array chosen = *array;
    if (scope.has_place && Chance(12)) {
      const std::string index = Int(scope);
      return Define(scope.reals, "f64",
                    "call @pick(" + chosen.name + ", " + index + ") at (" + Place(scope) + ")");
    }
    if (may_store && Chance(2)) {
      const std::string by = Real(scope);
      text_ += "call @raise_all(" + chosen.name + ", " + by + ") at (" + Place(scope) + ")\n";
      return;
    }
    if (Chance(2))
      return Define(scope.reals, "f64",
                    "call @total(" + chosen.name + ") at (" + Place(scope) + ")");
    AddArray(scope, {"", "f64", chosen.dims, !scope.in_operator},
             "call @shifted(" + chosen.name + ") at (" + Place(scope) + ")");
  }

  const Array& AddArray(Scope& scope, Array array, const std::string& expression) {
    array.name = New();
    text_ += array.name + ": " + array.Type() + " = " + expression + "\n";
    scope.arrays.push_back(array);
    return scope.arrays.back();
  }

  // --- Operators. ---

  // The scope of a block inside `scope`; what it defines ends with it.
  static Scope Inside(const Scope& scope, bool is_operator) {
    Scope inner = scope;
    ++inner.depth;
    inner.place.push_back(std::to_string(scope.statement));
    inner.statement = 0;
    if (is_operator) {
      inner.in_operator = true;
      for (Array& array : inner.arrays) array.writable = false;
    }
    return inner;
  }

  std::string Yielded(const Scope& inner, const std::string& dtype) {
    return dtype == "f64" ? Real(inner) : Int(inner);
  }

  // `(%e: f64 in %x, ...) {` over arrays of one shape, whose names stand for elements inside.
  Strings Elements(Scope& inner, const Array& first) {
    inner.has_place = false;
    const Array* second = Choose(inner, [&](const Array& a) { return a.dims == first.dims; });
    std::string params;
    for (const Array* array : {&first, second}) {
      if (array == second && Chance(2)) break;
      const std::string name = New();
      params += (params.empty() ? "" : ", ") + name + ": " + array->dtype + " in " + array->name;
      (array->dtype == "f64" ? inner.reals : inner.ints).push_back(name);
    }
    return {params};
  }

  void Map(Scope& scope) {
    const Array first = *Any(scope);
    Scope inner = Inside(scope, true);
    const std::string outer_text = std::exchange(text_, "");
    const std::string params = Elements(inner, first)[0];
    Statements(inner, 1 + Below(3));
    const std::string dtype = Chance(4) ? "i64" : "f64";
    const std::string body =
        "map (" + params + ") {\n" + text_ + "yield " + Yielded(inner, dtype) + " }";
    text_ = outer_text;
    AddArray(scope, {"", dtype, first.dims, !scope.in_operator, true}, body);
  }

  Strings Space() {
    if (Chance(2)) return {"%n"};
    if (Chance(2)) return {"%n", "%m"};
    return Chance(2) ? Strings{"%h"} : Strings{"%m"};
  }

  // `(%i, %j) in (%n, %m)`, whose indexes are known inside.
  std::string OpenSpace(Scope& inner, const Strings& space) {
    std::string params, extents;
    for (const std::string& extent : space) {
      const std::string index = New();
      params += (params.empty() ? "" : ", ") + index;
      extents += (extents.empty() ? "" : ", ") + extent;
      inner.indexes.emplace_back(index, extent);
      if (extent == "%h") inner.indexes.emplace_back(index, "%n");
      inner.ints.push_back(index);
      inner.place.push_back(index);
    }
    return "(" + params + ") in (" + extents + ")";
  }

  void Imap(Scope& scope) {
    const Strings space = Space();
    Scope inner = Inside(scope, true);
    const std::string outer_text = std::exchange(text_, "");
    const std::string head = "imap " + OpenSpace(inner, space);
    Statements(inner, 1 + Below(4));
    const Array* row =
        Chance(3) ? Choose(inner, [](const Array& a) { return a.dims == Strings{"%m"}; }) : nullptr;
    const std::string dtype = row != nullptr ? row->dtype : Chance(4) ? "i64" : "f64";
    Strings dims = space;
    if (row != nullptr) dims.push_back("%m");
    const std::string order = Chance(4) ? " {fortran = 1}" : "";
    const std::string body =
        head + order + " {\n" + text_ + "yield " + (row ? row->name : Yielded(inner, dtype)) + " }";
    text_ = outer_text;
    if (dims.size() > 2) {
      text_ += New() + ": " + Array{"", dtype, dims}.Type() + " = " + body + "\n";
      return;
    }
    AddArray(scope, {"", dtype, dims, !scope.in_operator, order.empty()}, body);
  }

  std::string CombineText(const std::string& dtype) {
    const std::string from = dtype == "f64" ? "1.5" : "2";
    if (!Chance(5))
      return std::string(Chance(2) ? "add" : Chance(2) ? "max" : "min") + " from " + from;
    return "from " + from;
  }

  // What stands after the element block where the combine was not in a word: the last wins.
  std::string CombineBlock(const std::string& combine, const std::string& dtype) {
    if (!combine.starts_with("from")) return "";
    const std::string left = New(), right = New();
    return " combine (" + left + ": " + dtype + ", " + right + ": " + dtype + ") { yield " + right +
           " }";
  }

  void Reduce(Scope& scope) {
    Scope inner = Inside(scope, true);
    const std::string dtype = Chance(4) ? "i64" : "f64";
    const std::string combine = CombineText(dtype);
    const std::string outer_text = std::exchange(text_, "");
    std::string head;
    if (Chance(2)) {
      head = "reduce (" + Elements(inner, Array(*Any(scope)))[0] + ")";
    } else {
      head = "ireduce " + OpenSpace(inner, Space());
    }
    Statements(inner, 1 + Below(3));
    const std::string body = head + " " + combine + " {\n" + text_ + "yield " +
                             Yielded(inner, dtype) + " }" + CombineBlock(combine, dtype);
    text_ = outer_text;
    Define(dtype == "f64" ? scope.reals : scope.ints, dtype, body);
  }

  void Scan(Scope& scope) {
    Scope inner = Inside(scope, true);
    const std::string dtype = Chance(3) ? "i64" : "f64";
    const std::string combine = CombineText(dtype);
    const std::string outer_text = std::exchange(text_, "");
    const std::string head = "iscan " + OpenSpace(inner, {"%n"});
    Statements(inner, 1 + Below(3));
    const std::string body = head + " " + combine + " {\n" + text_ + "yield " +
                             Yielded(inner, dtype) + " }" + CombineBlock(combine, dtype);
    text_ = outer_text;
    AddArray(scope, {"", dtype, {"%n"}, !scope.in_operator}, body);
  }

  void Filter(Scope& scope) {
    const Array* found =
        Choose(scope, [](const Array& a) { return a.dims.size() == 1 && a.dtype == "f64"; });
    if (found == nullptr) return RealOperation(scope);
    const std::string count = New(), kept = New(), e = New(), p = New(), q = New(), s = New();
    text_ += count + ": i64, " + kept + ": [" + count.substr(1) + "]f64 = filter (" + e +
             ": f64 in " + found->name + ") {\n" + p + ": bool = gt " + e + ", 0.0\nyield " + p +
             " }\n";
    text_ +=
        s + ": f64 = reduce (" + q + ": f64 in " + kept + ") add from 0.0 { yield " + q + " }\n";
    scope.reals.push_back(s);
    scope.ints.push_back(count);
  }

  // --- Views. ---

  void Slice(Scope& scope) {
    const Array* found = Choose(scope, [](const Array& a) { return a.dims[0] == "%n"; });
    if (found == nullptr) return IntOperation(scope);
    const Array array = *found;
    Array view = array;
    view.contiguous = false;
    std::string rest;
    for (size_t axis = 1; axis < array.dims.size(); ++axis)
      rest += ", 0:" + array.dims[axis] + ":1";
    std::string first;
    switch (Below(array.dims.size() == 2 ? 5 : 4)) {
      case 0: first = "1:%h:1", view.dims[0] = "%h"; break;
      case 1: first = "%last:%n:-1"; break;
      case 2: first = std::string(Chance(2) ? "0" : "2") + ":%h:1", view.dims[0] = "%h"; break;
      case 3: first = "0:%n:1"; break;
      default:
        if (!IsInReach(scope, {"", "", {"%n"}})) return IntOperation(scope);
        first = Index(scope, "%n");
        view.dims.erase(view.dims.begin());
        break;
    }
    AddArray(scope, view, "slice " + array.name + "[" + first + rest + "]");
  }

  void View(Scope& scope) {
    const Array* found =
        Choose(scope, [](const Array& a) { return a.dims == Strings{"%n", "%m"}; });
    const Array* row = Choose(scope, [](const Array& a) { return a.dims == Strings{"%m"}; });
    if (row != nullptr && Chance(2)) {
      AddArray(scope, {"", row->dtype, {"%n", "%m"}, false}, "broadcast " + row->name);
      return;
    }
    if (found == nullptr) return Slice(scope);
    if (Chance(2)) {
      const Array turned = AddArray(scope, {"", found->dtype, {"%m", "%n"}, found->writable},
                                    "transpose " + found->name + " {perm = [1, 0]}");
      if (Chance(2))
        AddArray(scope, {"", turned.dtype, {"%n", "%m"}, turned.writable},
                 "transpose " + turned.name + " {perm = [1, 0]}");
      return;
    }
    found =
        Choose(scope, [](const Array& a) { return a.contiguous && a.dims == Strings{"%n", "%m"}; });
    if (found == nullptr) return Slice(scope);
    const Array array = *found;
    Define(scope.ints, "i64", "mul %n, %m");
    AddArray(scope, {"", array.dtype, {scope.ints.back()}, array.writable, true},
             "reshape " + array.name);
  }

  // --- Control. ---

  // Carried scalars: ` (%c: f64 = init, ...)` for the head; their names inside.
  struct Carried {
    Strings names, types, inits;
  };

  Carried Carry(Scope& scope, Scope& inner) {
    Carried carried;
    for (int k = Below(3); k > 0; --k) {
      const bool real = !Chance(3);
      carried.names.push_back(New());
      carried.types.push_back(real ? "f64" : "i64");
      carried.inits.push_back(real ? Real(scope) : Int(scope));
      (real ? inner.reals : inner.ints).push_back(carried.names.back());
    }
    return carried;
  }

  std::string Next(const Carried& carried, size_t k, Scope& inner) {
    if (Chance(3)) return Yielded(inner, carried.types[k]);
    Strings& values = carried.types[k] == "f64" ? inner.reals : inner.ints;
    Define(values, carried.types[k],
           std::string(Chance(4) ? "max " : "add ") + carried.names[k] + ", " + Of(values));
    return values.back();
  }

  void Results(Scope& scope, const Strings& types, const std::string& expression) {
    std::string names;
    for (const std::string& type : types) {
      const std::string name = New();
      names += (names.empty() ? "" : ", ") + name + ": " + type;
      (type == "f64" ? scope.reals : scope.ints).push_back(name);
    }
    text_ += names + (names.empty() ? "" : " = ") + expression + "\n";
  }

  void For(Scope& scope) {
    Scope inner = Inside(scope, false);
    const Carried carried = Carry(scope, inner);
    const std::string index = New();
    inner.place.push_back(index);
    inner.ints.push_back(index);
    std::string range = "0 to %n step 1";
    switch (Below(6)) {
      case 0: range = "1 to %n step 1"; break;
      case 1: range = "%last to -1 step -1"; break;
      case 2: range = "0 to %n step 2"; break;
      case 3: range = "0 to %t step 1"; break;
      default: break;
    }
    if (range.find("%n") != std::string::npos || range.find("%last") != std::string::npos) {
      inner.indexes.emplace_back(index, "%n");
    }
    const std::string outer_text = std::exchange(text_, "");
    Statements(inner, 1 + Below(4));
    std::string head, next;
    for (size_t k = 0; k < carried.names.size(); ++k) {
      head += (head.empty() ? " (" : ", ") + carried.names[k] + ": " + carried.types[k] + " = " +
              carried.inits[k];
      next += (next.empty() ? "yield " : ", ") + Next(carried, k, inner);
    }
    const std::string body = "for " + index + " in " + range + head + (head.empty() ? "" : ")") +
                             " {\n" + text_ + next + " }";
    text_ = outer_text;
    Results(scope, carried.types, body);
  }

  void While(Scope& scope) {
    Scope inner = Inside(scope, false);
    const Carried carried = Carry(scope, inner);
    const std::string count = New(), more = New(), go = New();
    inner.ints.push_back(count);
    inner.place.push_back(count);
    const std::string outer_text = std::exchange(text_, "");
    Statements(inner, 1 + Below(3));
    std::string head = count + ": i64 = 0", again = count + ": i64";
    std::string next = more;
    const std::string step = more + ": i64 = add " + count + ", 1\n";
    for (size_t k = 0; k < carried.names.size(); ++k) {
      head += ", " + carried.names[k] + ": " + carried.types[k] + " = " + carried.inits[k];
      again += ", " + carried.names[k] + ": " + carried.types[k];
      next += ", " + Next(carried, k, inner);
    }
    const std::string body = "while (" + head + ") {\n" + go + ": bool = lt " + count +
                             ", 2\nyield " + go + " } do (" + again + ") {\n" + text_ + step +
                             "yield " + next + " }";
    text_ = outer_text;
    Strings types = {"i64"};
    types.insert(types.end(), carried.types.begin(), carried.types.end());
    Results(scope, types, body);
  }

  void If(Scope& scope) {
    const std::string condition = Bool(scope);
    const Array* array = Chance(2) ? Any(scope) : nullptr;
    const std::string scalar = Chance(3) ? "" : "f64";
    const std::string outer_text = std::exchange(text_, "");
    Array joined;
    bool writable = true;
    if (array != nullptr) joined = *array;
    Strings blocks;
    for (int side = 0; side < 2; ++side) {
      Scope inner = Inside(scope, false);
      inner.place.push_back(std::to_string(side));
      text_.clear();
      Statements(inner, 1 + Below(3));
      std::string yields = scalar.empty() ? "" : "yield " + Real(inner);
      if (array != nullptr) {
        const Array chosen =
            *Choose(inner, [&](const Array& a) { return a.Type() == joined.Type(); });
        writable = writable && chosen.writable;
        yields += (yields.empty() ? "yield " : ", ") + chosen.name;
      }
      blocks.push_back(" {\n" + text_ + yields + " }");
    }
    text_ = outer_text;
    std::string results;
    if (!scalar.empty())
      results = New() + ": f64", scope.reals.push_back(results.substr(0, results.find(':')));
    if (array != nullptr) {
      joined.name = New();
      joined.writable = writable;
      joined.contiguous = false;
      results += (results.empty() ? "" : ", ") + joined.name + ": " + joined.Type();
    }
    text_ += results + (results.empty() ? "" : " = ") + "if " + condition + blocks[0] + " else" +
             blocks[1] + "\n";
    if (array != nullptr) scope.arrays.push_back(joined);
  }

  // --- Memory. ---

  void Alloc(Scope& scope) {
    const Array source = *Any(scope);
    std::string sizes;
    for (const std::string& dim : source.dims) sizes += (sizes.empty() ? "" : ", ") + dim;
    const std::string order = Chance(4) ? " {fortran = 1}" : "";
    Array made = AddArray(scope, {"", source.dtype, source.dims, true, order.empty()},
                          "alloc (" + sizes + ")" + order);
    text_ += "copy " + source.name + ", " + made.name + "\n";
  }

  // Copies what a map makes of a slice back to a slice: sources and targets of one root, at other
  // places.
  void CopyInto(Scope& scope) {
    const Array* target =
        Choose(scope, [](const Array& a) { return a.writable && a.Type() == "[n]f64"; });
    if (target == nullptr) return Load(scope);
    const std::string name = target->name;
    const std::string left = New(), right = New(), a = New(), b = New(), c = New(), made = New(),
                      place = New();
    text_ += left + ": [h]f64 = slice " + name + "[0:%h:1]\n" + right + ": [h]f64 = slice " +
             Array(*Choose(scope, [](const Array& x) { return x.Type() == "[n]f64"; })).name + "[" +
             (Chance(2) ? "2" : "1") + ":%h:1]\n";
    text_ += made + ": [h]f64 = map (" + a + ": f64 in " + left + ", " + b + ": f64 in " + right +
             ") {\n" + c + ": f64 = " + (Chance(2) ? "add " : "mul ") + a + ", " +
             (Chance(2) ? b : Real(scope)) + "\nyield " + c + " }\n";
    text_ += place + ": [h]f64 = slice " + name + "[" + (Chance(2) ? "1" : "0") + ":%h:1]\ncopy " +
             made + ", " + place + "\n";
  }

  // Two arrays that change places in a loop, one written from the other.
  void Swap(Scope& scope) {
    const Array* first =
        Choose(scope, [](const Array& a) { return a.writable && a.Type() == "[n]f64"; });
    if (first == nullptr || scope.in_operator) return For(scope);
    const Array* second =
        Choose(scope, [&](const Array& a) { return a.writable && a.Type() == "[n]f64"; });
    const std::string u = New(), v = New(), i = New(), p = New(), q = New(), x = New(), y = New();
    const std::string by = Real(scope);
    text_ += p + ": [n]f64, " + q + ": [n]f64 = for " + i + " in 0 to 2 step 1 (" + u +
             ": [n]f64 = " + first->name + ", " + v + ": [n]f64 = " + second->name + ") {\n";
    const std::string j = New();
    text_ += "for " + j + " in 0 to %n step 1 { " + x + ": f64 = load " + u + "[" + j + "]  " + y +
             ": f64 = add " + x + ", " + by + "  store " + v + "[" + j + "], " + y + " }\nyield " +
             v + ", " + u + " }\n";
    scope.arrays.push_back({p, "f64", {"%n"}, true});
    scope.arrays.push_back({q, "f64", {"%n"}, true});
  }

  // A sum of every array's elements keeps each of them in the result.
  void Return(Scope& scope) {
    std::string sum = Real(scope);
    for (const Array& array : scope.arrays) {
      if (array.dtype != "f64" || Chance(5)) continue;
      const std::string e = New(), s = New(), t = New();
      text_ += s + ": f64 = reduce (" + e + ": f64 in " + array.name + ") add from 0.0 { yield " +
               e + " }\n";
      text_ += t + ": f64 = add " + sum + ", " + s + "\n";
      sum = t;
    }
    const auto of_type = [&](const char* type) {
      return Choose(scope, [&](const Array& a) { return a.Type() == type; })->name;
    };
    const std::string one = of_type("[n]f64");
    text_ +=
        "return " + sum + ", " + Int(scope) + ", " + one + ", " + of_type("[n][m]f64") + " }\n";
  }

  Random& random_;
  std::string text_;
  int values_ = 0;
};

}  // namespace

std::string RandomProgram(Random& random) { return Writer(random).Program(); }

}  // namespace parakeet
