// What the front end makes of control flow, names, calls and comprehensions: every program is
// built, verified, interpreted, and gives what plain Python gives.
#include "frontend/build_ir.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontend/python_errors.h"
#include "tests/frontend/embedded_python.h"
#include "tests/frontend/ir_runner.h"

namespace parakeet::frontend {
namespace {

// A registry of builtins alone, and what the programs share.
constexpr char kPrelude[] = R"(
import builtins, sys, types
from array import array
class Entry:
    def __init__(self, kind, name): self.parakeet_kind, self.name = kind, name
def install():
    names = "len min max sum all any range enumerate zip reversed abs int float bool tuple".split()
    entries = {id(getattr(builtins, name)): Entry("intrinsic", name) for name in names}
    registry = types.ModuleType("parakeet.library.registry")
    registry.lookup = lambda o: entries.get(id(o)) or (o if isinstance(o, Entry) else None)
    registry.named = lambda table, name: None
    for name in ("parakeet", "parakeet.library"):
        sys.modules.setdefault(name, types.ModuleType(name))
    sys.modules["parakeet.library.registry"] = registry
    overloading = types.ModuleType("parakeet.overloading")
    overloading.lookup = overloading.lookup_method = lambda what, home: None
    sys.modules["parakeet.overloading"] = overloading
install()
empty = Entry("intrinsic", "empty")
tanh = Entry("primitive", "tanh")
def plain(value):
    if isinstance(value, tuple): return tuple(plain(v) for v in value)
    return value.tolist() if isinstance(value, (array, memoryview)) else value
def said(function, arguments):
    try: return plain(function(*arguments))
    except Exception as error: return type(error).__name__ + ": " + str(error)
def D(*numbers): return array("d", numbers)
)";

struct Case {
  const char* source;  // Defines f.
  std::vector<const char*> arguments;
};

class BuildIrTest : public EmbeddedPython {
 protected:
  static PyRef Load(const std::string& source) {
    // The prelude stands in a line of its own file: the source's lines count from 1.
    const PyRef module = Run(kPrelude, "prelude.py");
    const PyRef text = Checked(PyUnicode_FromString(source.c_str()));
    PyDict_SetItemString(module.get(), "source", text.get());
    Evaluate(module,
             "__import__('linecache').cache.__setitem__('demo.py', "
             "(len(source), None, source.splitlines(True), 'demo.py'))");
    Evaluate(module, "exec(compile(source, 'demo.py', 'exec', dont_inherit=True), globals())");
    return module;
  }

  static IrRun RunCase(const std::string& source, const std::string& arguments) {
    const PyRef module = Load(source);
    return RunAsIr(Evaluate(module, "f").get(), Evaluate(module, "(" + arguments + ",)").get());
  }

  static std::string Repr(const PyRef& module, const std::string& expression) {
    return TextOf(Checked(PyObject_Repr(Evaluate(module, expression).get())).get());
  }

  // The same value or exception as plain Python's.
  static void ExpectAsPython(const std::string& source, const std::string& arguments) {
    const PyRef module = Load(source);
    const std::string expected = Repr(module, "said(f, (" + arguments + ",))");
    const IrRun run =
        RunAsIr(Evaluate(module, "f").get(), Evaluate(module, "(" + arguments + ",)").get());
    PyRef got = run.result;
    if (!got) {
      const std::string said = run.raised.empty() ? "refused: " + run.refused : run.raised;
      got = PyRef::Steal(PyUnicode_FromString(said.c_str()));
    }
    PyDict_SetItemString(module.get(), "got", got.get());
    EXPECT_EQ(Repr(module, "plain(got)"), expected) << source << "with (" << arguments << ")\n"
                                                    << run.ir;
  }

  static void ExpectAllAsPython(const std::vector<Case>& cases) {
    for (const Case& test : cases) {
      for (const char* arguments : test.arguments) ExpectAsPython(test.source, arguments);
    }
  }

  static void ExpectRefused(const std::string& source, const std::string& arguments,
                            const std::string& message) {
    EXPECT_EQ(RunCase(source, arguments).refused, message) << source;
  }
};

TEST_F(BuildIrTest, LoopsThatMayNotRunLeaveNamesUnbound) {
  ExpectAllAsPython({
      {"def f(n):\n for i in range(n): y = i\n return y\n", {"3", "0"}},
      {"def f(n):\n for i in range(n): pass\n return i\n", {"4", "0"}},
      {"def f(c):\n if c > 0: y = 3\n if c > 1: del y\n return y\n", {"1", "2", "0"}},
      {"def f(n):\n y = n\n del y\n return y\n", {"1"}},
      {"def f(n):\n def g(): return k\n if n: k = 1\n return g()\n", {"1"}},
  });
}

TEST_F(BuildIrTest, VariablesWidenInLoops) {
  ExpectAllAsPython({
      {"def f(n):\n s = 0\n for i in range(n): s = s + 0.5\n return s\n", {"3"}},
      {"def f(u, v, n):\n for i in range(n): u, v = v, u\n return u, v\n",
       {"1, 2, 3", "1.5, 2.5, 4", "D(1), D(2), 3"}},
      {"def f(n):\n s, c = 0, 1\n while s < n:\n  if s > 3:\n   s = s + 1.5\n   continue\n"
       "  s += 1\n  c = c * 2\n return s, c\n",
       {"8"}},
      {"def f(n):\n t = 1, 2\n for i in range(n): t = t[1], t[0] + i\n return t\n", {"5", "0"}},
  });
  EXPECT_EQ(RunCase("def f(n):\n s = 0\n for i in range(n): s = s + 0.5\n return s\n", "0").types,
            "float");
}

TEST_F(BuildIrTest, ArraysChangeSizeInLoops) {
  ExpectAllAsPython({
      {"def f(x, n):\n for i in range(n): x = x[1:]\n return x\n", {"D(1, 2, 3, 4), 2"}},
      {"def f(x):\n while len(x) > 1: x = x[1:]\n return x[0]\n", {"D(1, 2, 3, 4)"}},
      {"def f(x, c):\n if c: y = x[1:]\n else: y = x\n return len(y), y[0]\n",
       {"D(1, 2, 3), True", "D(1, 2, 3), False"}},
  });
}

TEST_F(BuildIrTest, ArraysThatALoopLeavesAloneAreNotCarried) {
  const IrRun run = RunCase("def f(x, y):\n for i in range(len(x)): y[i] = x[i]\n return y\n",
                            "D(1, 2), D(0, 0)");
  EXPECT_NE(run.ir.find("\n  for %i in 0 to %n step 1 {\n"), std::string::npos) << run.ir;
  EXPECT_EQ(run.types, "float64[1]");
}

TEST_F(BuildIrTest, JumpsLeaveLoopsAndFunctions) {
  ExpectAllAsPython({
      {"def f(x, t):\n for i in range(len(x)):\n  for j in range(i):\n"
       "   if x[i] + x[j] == t: return i * 10 + j\n return -1\n",
       {"D(1, 2, 3, 4), 5.0", "D(1, 2, 3, 4), 50.0"}},
      {"def f(n):\n if n < 0: return -1\n if n == 0: return 0\n k = n * 2\n if k > 10:\n"
       "  if k > 20: return 20\n  k = k + 1\n return k\n",
       {"-3", "0", "3", "7", "30"}},
      {"def f(n):\n s = 0\n for i in range(n):\n  if i % 2 == 0: continue\n  if i == 7: continue\n"
       "  s += i\n return s\n",
       {"12"}},
      {"def f(n):\n c = 0\n for i in range(n):\n  for j in range(n):\n   if j > i: break\n"
       "   if (i + j) % 3 == 0: continue\n   c += j\n  else:\n   c += 1000\n"
       "  if c > 2000: break\n return c, i, j\n",
       {"6"}},
      {"def f(n):\n i = 0\n while i < n:\n  i += 1\n  if i == 5: break\n else:\n  i = -i\n"
       " return i\n",
       {"3", "9"}},
      {"def f(n):\n i = 0\n while True:\n  i += n\n  if i > 100: return i\n", {"7"}},
      {"def f(a, b):\n if a: return 1\n else:\n  if b: return 2\n return 3\n",
       {"0, 0", "0, 1", "1, 0", "1, 1"}},
      {"def f(n):\n s = 0\n for i in range(n):\n  if i == 2:\n   if s > 2: continue\n"
       "   if n > 7: return s\n  elif i == 5: break\n  s += i\n return -s\n",
       {"3", "7", "9"}},
      {"def f(n):\n while True:\n  if n > 10: return n\n  if n == 7: raise ValueError(f'seven "
       "{n}')\n"
       "  n = n + 3\n",
       {"0", "1"}},
      {"def f(n):\n s = 0\n while (k := n - s) > 3: s += 1\n return s, k\n", {"10"}},
      {"def f(c, d):\n if c:\n  if d: return 1\n  y = 2\n else:\n  y = 3\n  if d: return 4\n"
       " return y\n",
       {"0, 0", "0, 1", "1, 0", "1, 1"}},
      {"def f(n):\n r = 1\n for k in (1, 2.5, 3):\n  if k > n: break\n  r = r * k\n else:\n"
       "  return -1.0\n return r * 1.0\n",
       {"0", "1", "2", "3"}},
  });
}

TEST_F(BuildIrTest, RangesRunAsPythons) {
  const char* source =
      "def f(a, b, c):\n s = 0\n for i in range(a, b, c): s = s * 10 + i\n return s\n";
  ExpectAllAsPython({{source, {"1, 8, 2", "8, 1, -3", "1, 8, -1", "1, 8, 0"}},
                     {"def f(n):\n s = 0\n for i in range(n, -1, -1): s = s * 10 + i\n"
                      " for i in reversed(range(n)): s = s * 10 + i\n return s\n",
                      {"4"}},
                     {"def f(n):\n return [i for i in range(n, -n, -2)]\n", {"5"}}});
}

TEST_F(BuildIrTest, FunctionsAreCalledAsPythonsAre) {
  ExpectAllAsPython({
      {"def g(x, k=1): return x + k\ndef f(x): return g(x), g(x, 2), g(k=5, x=x), g(x, k=2.5)\n",
       {"3"}},
      {"def f(n): return 1 if n <= 1 else n * f(n - 1)\n", {"6"}},
      {"def f(n):\n if n < 2: return n\n return f(n - 1) + f(n - 2)\n", {"10"}},
      {"def even(n): return True if n == 0 else odd(n - 1)\n"
       "def odd(n): return False if n == 0 else even(n - 1)\ndef f(n): return even(n)\n",
       {"7", "8"}},
      {"def g(*xs):\n s = 0\n for x in xs: s = s + x\n return s\n"
       "def f(x): return g(1, x, 2.5), g(), g(*(x, x))\n",
       {"2"}},
      {"def g(x, *, k=2): return x * k\ndef f(x): return g(x), g(x, k=5)\n", {"3"}},
      {"def apply(h, x): return h(x)\ndef f(x, k): return apply(lambda v: v * k, x)\n", {"3, 4"}},
      {"def f(x):\n if len(x) == 0: return 0.0\n return x[0] + f(x[1:])\n", {"D(1, 2, 3)"}},
      {"def g(n): raise RuntimeError('no')\ndef f(n):\n if n > 1: g(n)\n return n\n", {"1", "2"}},
  });
  EXPECT_EQ(RunCase("def f(n): return 0 if n == 0 else f(n - 1) + 0.5\n", "4").types, "float");
  EXPECT_EQ(RunCase("def f(n): return f(n)\n", "1").raised, "RecursionError");
}

TEST_F(BuildIrTest, ClosuresReadTheirFrameWhenCalled) {
  ExpectAllAsPython({
      {"def f(n):\n g = lambda x: x + n\n n = 10\n return g(1)\n", {"3"}},
      {"def f(a, n):\n def g(x): return x * a\n s = 0.0\n for i in range(n):\n  s += g(i)\n"
       "  a = a + 1\n return s\n",
       {"2.0, 3"}},
      {"def f(n):\n s = 0\n for i in range(n):\n  g = lambda x, i=i: x * i\n"
       "  s += g(i) + (lambda y: y + i)(s)\n return s\n",
       {"4"}},
      {"def f(n):\n def g(k): return 1 if k == 0 else k * g(k - 1)\n return g(n)\n", {"5"}},
      {"def f(n, b):\n def ev(k): return True if k == 0 else od(k - 1)\n"
       " def od(k): return b if k == 0 else ev(k - 1)\n return ev(n)\n",
       {"5, False"}},
      {"def make(n):\n def add(x): return x + n\n return add\n"
       "def f(x):\n a = make(3)\n b = make(4)\n return a(x) * b(x)\n",
       {"2"}},
      {"def f(n):\n gs = (lambda x: x + 1, lambda x: x * n)\n r = 1\n for g in gs: r = g(r)\n"
       " return r\n",
       {"5"}},
  });
}

// Arrays from outside need NumPy; they are tried where the package is.
TEST_F(BuildIrTest, OutsideNamesAreRead) {
  ExpectAllAsPython({
      {"G = (1, 2.5, (3, 4))\nK = 3\ndef g(): return G[0] + K\n"
       "def f(i): return i * K + G[1] + G[2][1] + g()\n",
       {"1"}},
      {"def make(k):\n def f(i): return i * k\n return f\nf = make(2.5)\n", {"3"}},
  });
}

TEST_F(BuildIrTest, ComprehensionsMakeArrays) {
  ExpectAllAsPython({
      {"def f(x): return [v * 2 for v in x]\n", {"D(1, 2)", "D()"}},
      {"def f(n): return [[i * j for i in range(n)] for j in range(3)]\n", {"4"}},
      {"def f(n): return [i * j for i in range(n) for j in range(3)]\n", {"4"}},
      {"def f(x): return [v * 2 for v in x if v > 1 if v < 4]\n", {"D(0, 1, 2, 3, 4, 5)"}},
      {"def f(x): return [[x[i], x[i + 1]] for i in range(len(x) - 1)]\n", {"D(1, 2, 3)"}},
      {"def f(x): return [x[i] for i in (2, 0)]\n", {"D(1, 2, 3)"}},
  });
  EXPECT_EQ(
      RunCase("def f(x): return [x[i:i + 2] for i in range(len(x) - 1)]\n", "D(1, 2, 3)").types,
      "float64[2]");
  const IrRun ragged = RunCase("def f(n): return [[j for j in range(i)] for i in range(n)]\n", "3");
  EXPECT_EQ(ragged.raised,
            "ValueError: setting an array element with a sequence. The requested array has an "
            "inhomogeneous shape: an element has 1 along axis 0, the first has 0")
      << ragged.refused;
}

TEST_F(BuildIrTest, ErrorsAreRaisedInTheirPlace) {
  ExpectAllAsPython({
      {"def f(x, n):\n assert n > 0, f'bad {n} of {x:.2f} {{}}'\n return x\n",
       {"1.5, 2", "1.5, -2"}},
      {"def f(n):\n if n > 3: raise ValueError('too {big}')\n if n < 0: raise KeyError\n return "
       "n\n",
       {"1", "5"}},
      {"def f(n):\n for i in range(n):\n  assert i < 3\n return i\n", {"3", "5"}},
      {"def f(n):\n assert n\n return 10 // (n - 2)\n", {"2", "0", "5"}},
      {"def f(x):\n a, b, c = x\n (d, *e), g = (a, b, c), 5\n return a + d, e[0], g, len(e)\n",
       {"D(1, 2, 3)"}},
  });
  // Numbers count up in program order, through both sides of an if, and loops add their index.
  const IrRun run = RunCase(
      "def f(x, n):\n assert n\n if n > 2: a = x[0]\n else: a = x[1]\n"
      " for i in range(n): a += x[i]\n return a\n",
      "D(1, 2, 3), 2");
  size_t at = 0;
  for (const char* place : {"at (0)", "at (1)", "at (2)", "at (3, %i, 0)"}) {
    at = run.ir.find(place, at);
    EXPECT_NE(at, std::string::npos) << place << " in " << run.ir;
  }
}

TEST_F(BuildIrTest, ARaiseBecomesACheck) {
  const IrRun run = RunCase("def f(n):\n if n < 0: raise ValueError(f'{n * 2}')\n return n\n", "1");
  EXPECT_EQ(run.ir.find(" if "), std::string::npos) << run.ir;
}

TEST_F(BuildIrTest, StaticConditionsChooseOneBranch) {
  const std::string source =
      "def g(x, axis=None, keep=False):\n if axis is None:\n  return (x, 1) if keep else x\n"
      " if axis == 0: return x, 2\n return x, x, 3\n"
      "def f(x): return g(x), g(x, keep=True), g(x, 0), g(x, axis=1)\n";
  ExpectAsPython(source, "5");
  // A parameter of the entry function that decides a type is made static by its caller.
  ExpectAsPython("def f(x, k):\n if k == 0: return x\n return x, k\n", "5, 0");
  ExpectAsPython("def f(x, k):\n if k == 0: return x\n return x, k\n", "5, 1");
  // A loop whose index does is unrolled.
  ExpectAsPython(
      "def f(a, b):\n t = (a, (b, 1), 2)\n s = 0\n for i in range(3):\n  if i != 1: s += t[i]\n"
      " return s\n",
      "5, 7");
}

TEST_F(BuildIrTest, WrongCallsAndNamesAreRefusedInPythonsWords) {
  const std::string g = "def g(x, k=1): return x\n";
  ExpectRefused("def f(x): return wrong + x\n", "1",
                "NameError: demo.py:1:18: name 'wrong' is not defined\n"
                "    def f(x): return wrong + x\n"
                "                     ^^^^^");
  ExpectRefused(g + "def f(x): return g()\n", "1",
                "TypeError: demo.py:2:18: g() missing 1 required positional argument: 'x'\n"
                "    def f(x): return g()\n"
                "                     ^^^");
  ExpectRefused(g + "def f(x): return g(1, 2, 3)\n", "1",
                "TypeError: demo.py:2:18: g() takes from 1 to 2 positional arguments but 3 were "
                "given\n"
                "    def f(x): return g(1, 2, 3)\n"
                "                     ^^^^^^^^^^");
  ExpectRefused(g + "def f(x): return g(x, x=2)\n", "1",
                "TypeError: demo.py:2:18: g() got multiple values for argument 'x'\n"
                "    def f(x): return g(x, x=2)\n"
                "                     ^^^^^^^^^");
  ExpectRefused(g + "def f(x): return g(x, z=2)\n", "1",
                "TypeError: demo.py:2:18: g() got an unexpected keyword argument 'z'\n"
                "    def f(x): return g(x, z=2)\n"
                "                     ^^^^^^^^^");
  ExpectRefused("def f(x): return x(1)\n", "1",
                "TypeError: demo.py:1:18: an int is not callable\n"
                "    def f(x): return x(1)\n"
                "                     ^^^^");
  ExpectRefused("def f(x):\n for i in x: pass\n", "1",
                "TypeError: demo.py:2:11: 'int' object is not iterable\n"
                "    for i in x: pass\n"
                "             ^");
}

TEST_F(BuildIrTest, TypesThatDoNotJoinAreALimitationWhereTheyAreRead) {
  const std::string source = "def f(x):\n if x[0] > 0: y = 1\n else: y = 1, 2\n return ";
  ExpectAsPython(source + "5\n", "D(1)");
  ExpectRefused(source + "y\n", "D(1)",
                "Limitation: demo.py:4:9: 'y' is an int on one path and a tuple of 2 on another; "
                "give it one type on every path\n"
                "    return y\n"
                "           ^");
  ExpectRefused("def f(x):\n if x[0] > 0: return 1\n", "D(1)",
                "Limitation: demo.py:1:1: f() returns an int on one path and None on another; "
                "return one type on every path\n"
                "    def f(x):\n"
                "    ^^^^^");
}

TEST_F(BuildIrTest, ListsAreArraysOfPythonScalars) {
  ExpectAllAsPython({
      {"def f(n):\n s = 0\n for k in [1, 2, 3, 4, 5, 6, 7, 8, 9, n]: s = s * 2 + k\n return s\n",
       {"5"}},
      {"def f(n):\n a = [1, 2, 3]\n for i in range(n): a[i] = a[i] * 10\n return a\n", {"2"}},
      {"def f(a): return a[1] * 2, len(a)\n", {"[1, 2, 3]"}},
  });
  EXPECT_EQ(RunCase("def f(a): return a[1]\n", "[1, 2, 3]").types, "int");
  EXPECT_NE(RunCase("def f(a): a[0] = 5\n", "[1, 2, 3]").refused, "");
}

TEST_F(BuildIrTest, AReadOnlyArrayIsNotStoredTo) {
  EXPECT_EQ(
      RunCase("def f(x, n):\n if n: x[0] = 1.0\n return n\n", "memoryview(bytes(8)).cast('d'), 1")
          .raised,
      "ValueError: assignment destination is read-only");
  EXPECT_EQ(
      RunCase("def f(x, n):\n if n: x[0] = 1.0\n return n\n", "memoryview(bytes(8)).cast('d'), 0")
          .types,
      "int");
}

TEST_F(BuildIrTest, ResultsAreTreesOfPythonsTypes) {
  EXPECT_EQ(RunCase("def f(n, x): return n, (x[0], None), n / 2, n > 1, x\n", "1, D(2)").types,
            "(int, (float64, None), float, bool, float64[1])");
  ExpectRefused("def f(n): return lambda: n\n", "1",
                "Limitation: demo.py:1:1: a jitted function returns numbers, arrays, None and "
                "tuples of them, not a lambda\n"
                "    def f(n): return lambda: n\n"
                "    ^^^^^");
}

TEST_F(BuildIrTest, TheThreeWaysOfWritingAMapAreOneFunctionEach) {
  const std::string fast = "def f(x, a, b): return tanh(x * a) + b\n";
  const std::string loopy =
      "def f(x, a, b):\n y = empty((len(x),), float)\n for i in range(len(x)):\n"
      "  y[i] = tanh(x[i] * a) + b\n return y\n";
  const std::string comprehension = "def f(x, a, b): return [tanh(xi * a) + b for xi in x]\n";
  for (const std::string& source : {fast, loopy, comprehension}) {
    const PyRef module = Load(source);
    const IrRun run =
        RunAsIr(Evaluate(module, "f").get(), Evaluate(module, "(D(0, 1, -2), 0.5, 0.25)").get());
    ASSERT_TRUE(run.result) << run.refused << run.raised << run.ir;
    EXPECT_EQ(run.types, "float64[1]");
    PyDict_SetItemString(module.get(), "got", run.result.get());
    EXPECT_EQ(Repr(module, "[round(v, 12) for v in got]"),
              "[0.25, 0.71211715726, -0.511594155956]");
  }
}

}  // namespace
}  // namespace parakeet::frontend
