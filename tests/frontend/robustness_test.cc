// No input crashes the reader, whatever is in the tree: each is read, or refused by a Failure, and
// nothing leaks.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "frontend/check_subset.h"
#include "frontend/print_syntax.h"
#include "frontend/python_errors.h"
#include "frontend/read_ast.h"
#include "frontend/read_python_function.h"
#include "ir/diagnostics.h"
#include "tests/frontend/embedded_python.h"

namespace parakeet::frontend {
namespace {

class RobustnessTest : public EmbeddedPython {
 protected:
  static std::string Repeat(const std::string& text, int count) {
    std::string result;
    for (int i = 0; i < count; ++i) result += text;
    return result;
  }
  static std::string JudgeExpression(const std::string& expression) {
    const std::string outcome = Judge("def f(x):\n return " + expression + "\n");
    return outcome.substr(0, outcome.find('\n'));
  }
};

TEST_F(RobustnessTest, DeepSourceIsRefused) {
  const std::string message = "source nests deeper than 400 levels";
  EXPECT_EQ(JudgeExpression(Repeat("x+", 300) + "x"), "accepted");
  for (const char* step : {"x+", "-", "not ", "x if x else ", "lambda: "}) {
    const std::string outcome = JudgeExpression(Repeat(step, 500) + "x");
    EXPECT_NE(outcome.find(message), std::string::npos) << step << ": " << outcome;
    EXPECT_EQ(outcome.substr(0, 14), "RecursionError") << step;
  }
  EXPECT_NE(JudgeExpression("x" + Repeat("[0]", 500)).find(message), std::string::npos);
  EXPECT_NE(JudgeExpression("x" + Repeat(".T", 500)).find(message), std::string::npos);
  std::string branches = "def f(x):\n if x: pass\n" + Repeat(" elif x: pass\n", 450);
  EXPECT_NE(Judge(branches).find(message), std::string::npos);
}

TEST_F(RobustnessTest, SourceTooDeepForPythonsParserIsARecursionError) {
  const PyRef module = Run("def f(x):\n  return x\n", "deep.py");
  Run("x = 1\n", "deeper.py");
  // Python itself refuses to parse this text, which linecache claims to be the function's.
  const std::string text = "def f(x):\n  return " + Repeat("-", 100000) + "x\n";
  const PyRef source = PyRef::Steal(PyUnicode_FromString(text.c_str()));
  PyDict_SetItemString(module.get(), "text", source.get());
  Evaluate(module,
           "__import__('linecache').cache.__setitem__('deep.py', (0, None, text.splitlines(True), "
           "'deep.py'))");
  EXPECT_EQ(JudgeFunction(module, "f"),
            "RecursionError: the source of `f` (deep.py:1) nests too deeply");
}

TEST_F(RobustnessTest, HugeLiteralsAndOddNames) {
  EXPECT_NE(JudgeExpression("1" + Repeat("0", 4000)).find("beyond 64 bits"), std::string::npos);
  EXPECT_NE(JudgeExpression("-0x1" + Repeat("0", 10000)).find("beyond 64 bits"), std::string::npos);
  EXPECT_EQ(JudgeExpression("[\u03b1 * \U0001d4b3 for \u03b1 in \u03b2]"), "accepted");
  EXPECT_EQ(JudgeExpression("g('\\0\\uffff\\U0010ffff')"), "accepted");
  EXPECT_EQ(JudgeExpression("g(" + Repeat("x, ", 3000) + ")"), "accepted");
}

// Puts every value of a list of odd ones into every field of every node of a tree, one at a time,
// and reads it.
constexpr const char* kMutator = R"(
import ast
source = '''
def f(a, /, b, *c, d=1):
    "doc"
    x, (y, *z) = a[1:b, None, ...], -1
    x[0] += sum(i for i in c if i) + [j for j in c][0]
    k: int = 3
    for i in range(b):
        while i < d <= 4 and not k: break
        else: continue
    if (w := f(*c, key=1j)): pass
    assert x, f"{x!r:>3}"
    del y
    def g(h=x): return lambda u: u if h else x.real
    raise ValueError("n", f"{k}")
'''
huge = 10 ** 30
odd = [None, 0, -1, huge, 'text',
       '\ud800', b'b', 1.5, [], [None], [3], {}, ast.Name('x'), ast.arguments(),
       ast.Pass(), ast.Constant(frozenset()), ast.Tuple([]), ast.Starred(), object(), ast.Load]

def trees():
    tree = ast.parse(source)
    top = lambda: tree.body[0] if isinstance(getattr(tree, 'body', 0), list) and tree.body else tree
    for node in list(ast.walk(tree)):
        for field in [*node._fields, 'lineno', 'end_lineno', 'col_offset', 'end_col_offset']:
            had = field in vars(node)
            old = getattr(node, field, None)
            for value in odd:
                setattr(node, field, value)
                yield top()
                if isinstance(old, list) and old:
                    setattr(node, field, old[:-1] + [value])
                    yield tree.body[0]
            if field in vars(node):
                delattr(node, field)
                yield top()
            if had:
                setattr(node, field, old)

def cyclic():
    node = ast.parse('def f(x): return -x').body[0]
    node.body[0].value.operand = node.body[0].value
    yield node
    node = ast.parse('def f(x): return x').body[0]
    node.body.append(node)
    yield node
    node = ast.parse('def f(x): [x] = 1').body[0]
    node.body[0].targets[0].elts[0] = node.body[0].targets[0]
    yield node
)";

TEST_F(RobustnessTest, MutatedTreesAreReadOrRefused) {
  const PyRef module = Run(kMutator);
  int read = 0, refused = 0;
  for (const char* generator : {"trees()", "cyclic()"}) {
    const PyRef trees = Evaluate(module, generator);
    while (PyObject* next = PyIter_Next(trees.get())) {
      const PyRef tree = PyRef::Steal(next);
      try {
        const FunctionSyntaxPtr function = ReadAst(tree.get(), 0);
        CheckSubset(*function);
        PrintSyntax(*function, /*spans=*/true);
        ++read;
      } catch (const ir::Failure& failure) {
        EXPECT_NE(failure.kind(), ir::FailureKind::kBug) << failure.what();
        ++refused;
      }
      ASSERT_EQ(PyErr_Occurred(), nullptr);
    }
    ASSERT_EQ(PyErr_Occurred(), nullptr) << TakePythonError().message;
  }
  EXPECT_GT(read, 1000);
  EXPECT_GT(refused, 1000);
}

TEST_F(RobustnessTest, NothingLeaks) {
  const PyRef module =
      Run("def f(x, *, y=1):\n  z = [i * 1000003.5 for i in x]\n  def g(): return z\n  return g\n"
          "def bad(x):\n  return {x: 'unsupported'}\n"
          "l = lambda x: x\n");
  const auto blocks = [&] {
    Evaluate(module, "__import__('gc').collect()");
    return PyLong_AsLong(Evaluate(module, "__import__('sys').getallocatedblocks()").get());
  };
  const auto act = [&] {
    for (const char* name : {"f", "bad", "l", "len"}) JudgeFunction(module, name);
  };
  for (int i = 0; i < 20; ++i) act();
  // A leak of one object a call would show as 800 blocks in every round; caches of the interpreter
  // may move in some.
  long least = 800;
  for (int round = 0; round < 3; ++round) {
    const long before = blocks();
    for (int i = 0; i < 200; ++i) act();
    least = std::min(least, blocks() - before);
  }
  EXPECT_LT(least, 100);
}

}  // namespace
}  // namespace parakeet::frontend
