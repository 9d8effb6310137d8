// What the reader makes of each construct: the whole printed tree, places in the source, and what
// is refused at once.
#include "frontend/read_ast.h"

#include <gtest/gtest.h>

#include "frontend/print_syntax.h"
#include "tests/frontend/embedded_python.h"

namespace parakeet::frontend {
namespace {

class ReadAstTest : public EmbeddedPython {};

TEST_F(ReadAstTest, ReadsEveryStatement) {
  const FunctionSyntaxPtr function = Read(R"(
def f(x, n):
  "docstring"
  a = b = x
  (a, *b), x[0] = n
  [a, b] = n
  x[1:] += a
  c: int = 3
  d: int
  (d): int
  update(a)
  if a: pass
  elif b: return
  else: return a, b
  while n > 0:
    n -= 1
    break
  else:
    continue
  for i, (j, k) in x:
    continue
  else:
    ...
  assert a, "message"
  assert b
  raise ValueError
  raise ValueError(f"bad {n!r:>3} size", n)
  del a, b
  def g(y=n): return y
)");
  EXPECT_EQ(PrintSyntax(*function), R"(def f(x, n):
  # binds x n a b c d i j k g; outside update ValueError
  a = b = x
  ((a, *b), x[0]) = n
  (a, b) = n
  x[1:] += a
  c: _ = 3
  d: _
  pass
  update(a)
  if a:
    pass
  else:
    if b:
      return
    else:
      return (a, b)
  while (n > 0):
    n -= 1
    break
  else:
    continue
  for (i, (j, k)) in x:
    continue
  else:
    pass
  assert a, "message"
  assert b
  raise ValueError()
  raise ValueError(f("bad ", {n!r:">3"}, " size"), n)
  del a, b
  def g(y=n):
    # binds y
    return y
)");
}

struct ExpressionCase {
  const char* source;
  const char* printed;
};

class ExpressionTest : public EmbeddedPython, public testing::WithParamInterface<ExpressionCase> {};

TEST_P(ExpressionTest, IsReadAs) {
  EXPECT_EQ(ReadExpression(GetParam().source), GetParam().printed);
}

INSTANTIATE_TEST_SUITE_P(
    All, ExpressionTest,
    testing::Values(
        ExpressionCase{"a + b * c - d / e", "((a + (b * c)) - (d / e))"},
        ExpressionCase{"a // b % c ** d @ e", "(((a // b) % (c ** d)) @ e)"},
        ExpressionCase{"a << b >> c | d ^ e & f", "(((a << b) >> c) | (d ^ (e & f)))"},
        ExpressionCase{"-a, +b, ~c, not d", "((-a), (+b), (~c), (not d))"},
        ExpressionCase{"a < b <= c != d", "(a < b <= c != d)"},
        ExpressionCase{"a == b > c >= d", "(a == b > c >= d)"},
        ExpressionCase{"a is None, a is not b, a in b, a not in b",
                       "((a is None), (a is not b), (a in b), (a not in b))"},
        ExpressionCase{"a and b and c or d", "((a and b and c) or d)"},
        ExpressionCase{"a if b else c", "(a if b else c)"},
        ExpressionCase{"f(a, *b, c=d)", "f(a, *b, c=d)"},
        ExpressionCase{"np.linalg.norm(a)", "np.linalg.norm(a)"},
        ExpressionCase{"a[i, ::2, None, ..., 1:n]", "a[(i, ::2, None, ..., 1:n)]"},
        ExpressionCase{"a[*i]", "a[(*i,)]"},
        ExpressionCase{"(), (a,), [a, b], [*a]", "((), (a,), [a, b], [*a])"},
        ExpressionCase{"[g(i) for i in a if i if j]", "[g(i') for i' in a if i' if j]"},
        ExpressionCase{"sum(i * j for i in a for j in i)",
                       "sum(((i' * j') for i' in a for j' in i'))"},
        ExpressionCase{"lambda: 1", "(lambda: 1)"},
        ExpressionCase{"lambda a, /, b=2, *c, d, e=5: a", "(lambda a, /, b=2, *c, d, e=5: a)"},
        ExpressionCase{"lambda *, a: a", "(lambda *, a: a)"},
        ExpressionCase{"(y := a)", "(y := a)"},
        ExpressionCase{"f'{a}{{}}{b!s:.3f}'", "f({a}, \"{}\", {b!s:\".3f\"})"},
        ExpressionCase{"True, False, None, ...", "(True, False, None, ...)"},
        ExpressionCase{"1, -1, 9223372036854775807", "(1, -1, 9223372036854775807)"},
        ExpressionCase{"-9223372036854775808", "-9223372036854775808"},
        ExpressionCase{"9223372036854775808, 0xffffffffffffffff",
                       "(9223372036854775808, 18446744073709551615)"},
        ExpressionCase{"0.5, -0.0, 1e300, 0.1, 5e-324, 1e999",
                       "(0.5, -0.0, 1e+300, 0.1, 4.94065645841247e-324, inf)"},
        ExpressionCase{"1j, -1j, -1 ** 2", "(complex(0.0, 1.0), complex(-0.0, -1.0), (-(1 ** 2)))"},
        ExpressionCase{"'\"a\\n\\0\\u00e9'", "\"\\\"a\\x0a\\x00\u00e9\""}));

TEST_F(ReadAstTest, ResolvesNamesAsPythonDoes) {
  const FunctionSyntaxPtr function = Read(R"(
def f(x):
  i = 1
  y = [[i * x for i in row] for row in x if (last := row)]
  def g(a=i):
    def h(): return a + y + np.pi + late
    return h() + len(x)
  late = lambda z: z + i
  return g, last
)");
  EXPECT_EQ(PrintSyntax(*function), R"(def f(x):
  # binds x& i& row' last i' y& g late&; outside np len
  i = 1
  y = [[(i' * x) for i' in row'] for row' in x if (last := row')]
  def g(a=i):
    # binds a& h; captures y late x; outside np len
    def h():
      # binds; captures a y late; outside np
      return (((^a + ^y) + np.pi) + ^late)
    return (h() + len(^x))
  late = (lambda z: (z + ^i))
  return (g, last)
)");
}

TEST_F(ReadAstTest, TellsVariablesApartByAddress) {
  const FunctionSyntaxPtr function = Read("def f(i):\n  j = [i for i in i]\n  j += 1\n  return j");
  ASSERT_EQ(function->variables.size(), 3u);
  EXPECT_EQ(function->variables[0]->name, "i");
  EXPECT_TRUE(function->variables[0]->is_parameter);
  const Variable* const of_comprehension = function->variables[1].get();
  EXPECT_TRUE(of_comprehension->is_of_comprehension);
  EXPECT_EQ(of_comprehension->function, function.get());
  EXPECT_EQ(of_comprehension->index, 1);
  EXPECT_EQ(function->variables[2]->bindings, 2);
  const auto& value = As<ComprehensionExpr>(*As<AssignStmt>(*function->body[0]).value);
  EXPECT_EQ(As<NameExpr>(*value.element).variable, of_comprehension);
  EXPECT_EQ(As<NameExpr>(*value.generators[0].iterable).variable, function->variables[0].get());
}

TEST_F(ReadAstTest, SpansCountLinesFromOneAndBytesFromZero) {
  const FunctionSyntaxPtr function = Read("def f(x: int, \u00e9=1):\n  return (\u00e9 +\n    x)\n");
  EXPECT_EQ(function->span, (ir::Span{0, 1, 0, 3, 6}));
  EXPECT_EQ(function->name_span, (ir::Span{0, 1, 0, 1, 5}));
  EXPECT_EQ(function->parameters[0].span, (ir::Span{0, 1, 6, 1, 7}));
  EXPECT_EQ(function->parameters[1].span, (ir::Span{0, 1, 14, 1, 16}));
  const auto& sum = As<BinaryExpr>(*As<ReturnStmt>(*function->body[0]).value);
  EXPECT_EQ(sum.span, (ir::Span{0, 2, 10, 3, 5}));
  EXPECT_EQ(sum.right->span, (ir::Span{0, 3, 4, 3, 5}));
  EXPECT_EQ(PrintSyntax(*function, /*spans=*/true),
            "def f(x, \u00e9=...):  # 1:0-3:6\n  # binds x \u00e9\n"
            "  return (\u00e9 + x)  # 2:2-3:6\n");
}

TEST_F(ReadAstTest, OutermostDefaultsAreNotRead) {
  const FunctionSyntaxPtr function =
      Read("@jit\ndef f(a: {1}, b={}, *, c, d=[x for x in {}]): pass");
  EXPECT_FALSE(function->parameters[0].has_default);
  EXPECT_TRUE(function->parameters[1].has_default);
  EXPECT_EQ(function->parameters[1].default_value, nullptr);
  EXPECT_FALSE(function->parameters[2].has_default);
  EXPECT_TRUE(function->parameters[3].has_default);
  EXPECT_TRUE(function->outside_names.empty());
}

TEST_F(ReadAstTest, AWrongDowncastIsABug) {
  const FunctionSyntaxPtr function = Read("def f(): return 1");
  EXPECT_EQ(TryAs<NameExpr>(As<ReturnStmt>(*function->body[0]).value), nullptr);
  EXPECT_THROW(As<NameExpr>(*As<ReturnStmt>(*function->body[0]).value), ir::Failure);
  EXPECT_THROW(As<IfStmt>(*function->body[0]), ir::Failure);
}

}  // namespace
}  // namespace parakeet::frontend
