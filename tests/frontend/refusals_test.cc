// Every construct that the language refuses by its syntax, with its whole message; and what stands
// beside it and is accepted.
#include <gtest/gtest.h>

#include <string>

#include "tests/frontend/embedded_python.h"

namespace parakeet::frontend {
namespace {

// A function with `body` on lines of its own; a Limitation's message is expected to be
// "demo.py:<line>:<column>: <construct> is not supported inside jit; <advice>" and the excerpt.
struct Refused {
  const char* source;
  const char* message;
};

class RefusalsTest : public EmbeddedPython, public testing::WithParamInterface<Refused> {};

TEST_P(RefusalsTest, SaysWhatWhereAndWhatElse) {
  EXPECT_EQ(Judge(GetParam().source), GetParam().message);
}

constexpr Refused kRefusedNodes[] = {
    {"async def f(x): pass",
     "Limitation: demo.py:1:1: `async def` is not supported inside jit; write a plain `def`\n"
     "    async def f(x): pass\n    ^^^^^^^^^^^^^^^^^^^^"},
    {"def f(x):\n  try: x\n  except: pass",
     "Limitation: demo.py:2:3: `try` is not supported inside jit; check conditions with `if` and "
     "`raise`\n    try: x\n    ^^^^^^"},
    {"def f(x):\n  with x: pass",
     "Limitation: demo.py:2:3: `with` of other than np.errstate is not supported inside jit; enter "
     "the context around the call of the jitted function\n    with x: pass\n    ^^^^^^^^^^^^"},
    {"def f(x):\n  class C: pass",
     "Limitation: demo.py:2:3: `class` is not supported inside jit; use tuples of arrays and "
     "nested "
     "functions\n    class C: pass\n    ^^^^^^^^^^^^^"},
    {"def f(x):\n  match x:\n    case 1: pass",
     "Limitation: demo.py:2:3: `match` is not supported inside jit; use `if` and `elif`\n"
     "    match x:\n    ^^^^^^^^"},
    {"def f(x):\n  import os",
     "Limitation: demo.py:2:3: `import` is not supported inside jit; import at the top of the "
     "module\n    import os\n    ^^^^^^^^^"},
    {"def f(x):\n  from os import path",
     "Limitation: demo.py:2:3: `import` is not supported inside jit; import at the top of the "
     "module\n    from os import path\n    ^^^^^^^^^^^^^^^^^^^"},
    {"def f(x):\n  global y",
     "Limitation: demo.py:2:3: `global` is not supported inside jit; pass the value as an argument "
     "and return the new one\n    global y\n    ^^^^^^^^"},
    {"def f(x):\n  def g():\n    nonlocal x",
     "Limitation: demo.py:3:5: `nonlocal` is not supported inside jit; return the new value from "
     "the nested function and assign it\n    nonlocal x\n    ^^^^^^^^^^"},
    {"def f(x):\n  y = yield x",
     "Limitation: demo.py:2:7: `yield` is not supported inside jit; return an array, or a tuple of "
     "arrays\n    y = yield x\n        ^^^^^^^"},
    {"def f(x):\n  yield from x",
     "Limitation: demo.py:2:3: `yield from` is not supported inside jit; return an array, or a "
     "tuple of arrays\n    yield from x\n    ^^^^^^^^^^^^"},
    {"def f(x):\n  return {1: x}",
     "Limitation: demo.py:2:10: a dict is not supported inside jit; use a tuple, or one array for "
     "keys and one for values\n    return {1: x}\n           ^^^^^^"},
    {"def f(x):\n  return {i: i for i in x}",
     "Limitation: demo.py:2:10: a dict comprehension is not supported inside jit; use a list "
     "comprehension, which makes an array\n    return {i: i for i in x}\n           "
     "^^^^^^^^^^^^^^^^^"},
    {"def f(x):\n  for i in {1, 2}: pass",
     "Limitation: demo.py:2:12: a set is not supported inside jit; use a tuple or an array\n"
     "    for i in {1, 2}: pass\n             ^^^^^^"},
    {"def f(x):\n  return {i for i in x}",
     "Limitation: demo.py:2:10: a set comprehension is not supported inside jit; use a list "
     "comprehension, and np.unique on its array\n    return {i for i in x}\n           "
     "^^^^^^^^^^^^^^"},
    {"def f(**k): pass",
     "Limitation: demo.py:1:9: `**k` is not supported inside jit; name the parameters\n"
     "    def f(**k): pass\n            ^"},
    {"def f(x):\n  return g(**x)",
     "Limitation: demo.py:2:12: `**` in a call is not supported inside jit; name the keyword "
     "arguments\n    return g(**x)\n             ^^^"},
    {"def f(x):\n  @g\n  def h(): pass",
     "Limitation: demo.py:2:4: a decorator on a nested function is not supported inside jit; a "
     "nested function needs none\n    @g\n     ^"},
    {"def f(x):\n  raise",
     "Limitation: demo.py:2:3: `raise` of the exception in flight is not supported inside jit; "
     "write `raise ValueError(\"...\")` with a built-in exception\n    raise\n    ^^^^^"},
    {"def f(x):\n  raise x[0]",
     "Limitation: demo.py:2:9: `raise` of an expression is not supported inside jit; write `raise "
     "ValueError(\"...\")` with a built-in exception\n    raise x[0]\n          ^^^^"},
    {"def f(x):\n  raise ValueError(1) from x",
     "Limitation: demo.py:2:28: `raise ... from` is not supported inside jit; leave the cause out\n"
     "    raise ValueError(1) from x\n                             ^"},
    {"def f(x):\n  raise OSError(a=1)",
     "Limitation: demo.py:2:17: a keyword argument of an exception is not supported inside jit; "
     "pass it by position\n    raise OSError(a=1)\n                  ^^^"},
    {"def f(x):\n  return b'a'",
     "Limitation: demo.py:2:10: a bytes literal is not supported inside jit; use a string, or an "
     "array of uint8\n    return b'a'\n           ^^^^"},
    {"def f(x):\n  return x + 18446744073709551616",
     "Limitation: demo.py:2:14: an integer literal beyond 64 bits is not supported inside jit; "
     "write it as a float\n    return x + 18446744073709551616\n               "
     "^^^^^^^^^^^^^^^^^^^^"},
    {"def f(x):\n  return -9223372036854775809",
     "Limitation: demo.py:2:10: an integer literal beyond 64 bits is not supported inside jit; "
     "write it as a float\n    return -9223372036854775809\n           ^^^^^^^^^^^^^^^^^^^^"},
    {"def f(x):\n  raise ValueError(f'{x:{x}}')",
     // Python before 3.12 gives a part of an f-string the place of the whole.
     "Limitation: demo.py:2:20: a computed format is not supported inside jit; write the format "
     "out\n    raise ValueError(f'{x:{x}}')\n                     ^^^^^^^^^^"},
    {"def f(x):\n  return '\\ud800'",
     "ValueError: demo.py:2:10: a string with lone surrogates is not valid text\n"
     "    return '\\ud800'\n           ^^^^^^^^"},
};

constexpr Refused kRefusedPlaces[] = {
    {"def f(x):\n  return f'{x}'",
     "Limitation: demo.py:2:10: an f-string outside of `raise` and `assert` is not supported "
     "inside "
     "jit; use it as the message of `raise` or `assert`\n    return f'{x}'\n           ^^^^^^"},
    {"def f(x):\n  raise ValueError(g(f'{x}'))",
     "Limitation: demo.py:2:22: an f-string outside of `raise` and `assert` is not supported "
     "inside "
     "jit; use it as the message of `raise` or `assert`\n    raise ValueError(g(f'{x}'))\n"
     "                       ^^^^^^"},
    {"def f(x):\n  return 'a' + x",
     "Limitation: demo.py:2:10: an operation on a string is not supported inside jit; strings are "
     "static arguments, messages and docstrings only; a message may be an f-string\n    return 'a' "
     "+ x\n           ^^^"},
    {"def f(x):\n  raise ValueError('%d' % x)",
     "Limitation: demo.py:2:20: an operation on a string is not supported inside jit; strings are "
     "static arguments, messages and docstrings only; a message may be an f-string\n    raise "
     "ValueError('%d' % x)\n"
     "                     ^^^^"},
    {"def f(x):\n  x += 'a'",
     "Limitation: demo.py:2:8: an operation on a string is not supported inside jit; strings are "
     "static arguments, messages and docstrings only; a message may be an f-string\n    x += 'a'\n "
     "        ^^^"},
    {"def f(x):\n  for i in 'abc': pass",
     "Limitation: demo.py:2:12: an operation on a string is not supported inside jit; strings are "
     "static arguments, messages and docstrings only; a message may be an f-string\n    for i in "
     "'abc': pass\n"
     "             ^^^^^"},
    {"def f(x):\n  return 'a'.join(x)",
     "Limitation: demo.py:2:10: an operation on a string is not supported inside jit; strings are "
     "static arguments, messages and docstrings only; a message may be an f-string\n    return "
     "'a'.join(x)\n           ^^^"},
    {"def f(x):\n  x[0, 'a'] = 1",
     "Limitation: demo.py:2:8: indexing with a string is not supported inside jit; pass the fields "
     "as separate arrays and index with integers\n    x[0, 'a'] = 1\n         ^^^"},
    {"def f(x):\n  g = (i for i in x)",
     "Limitation: demo.py:2:7: a generator expression outside of a call, `for` or an unpacking is "
     "not supported inside jit; write a list comprehension, which makes an array\n    g = (i for i "
     "in x)\n"
     "        ^^^^^^^^^^^^^^"},
    {"def f(x):\n  x.flags = 1",
     "Limitation: demo.py:2:3: assignment to this attribute is not supported inside jit; only "
     "`real`, `imag` and `shape` can be assigned\n    x.flags = 1\n    ^^^^^^^"},
    {"def f(x):\n  for x.n in x: pass",
     "Limitation: demo.py:2:7: assignment to this attribute is not supported inside jit; only "
     "`real`, `imag` and `shape` can be assigned\n    for x.n in x: pass\n        ^^^"},
    {"def f(x):\n  del x, (x, x[0])",
     "Limitation: demo.py:2:14: `del` of anything but a name is not supported inside jit; select "
     "what to keep: `x[mask]`, np.concatenate\n    del x, (x, x[0])\n               ^^^^"},
    {"def f(x):\n  raise MyError('a')",
     "Limitation: demo.py:2:9: `raise` of anything but a built-in exception is not supported "
     "inside "
     "jit; raise ValueError, IndexError, ... with a message\n    raise MyError('a')\n"
     "          ^^^^^^^"},
    {"def f(ValueError):\n  raise ValueError",
     "Limitation: demo.py:2:9: `raise` of anything but a built-in exception is not supported "
     "inside "
     "jit; raise ValueError, IndexError, ... with a message\n    raise ValueError\n"
     "          ^^^^^^^^^^"},
    {"def f(x):\n  def g(a=f'{x}'): pass",
     "Limitation: demo.py:2:11: an f-string outside of `raise` and `assert` is not supported "
     "inside "
     "jit; use it as the message of `raise` or `assert`\n    def g(a=f'{x}'): pass\n"
     "            ^^^^^^"},
    {"def f(x):\n  return g(lambda: 'a' * x)",
     "Limitation: demo.py:2:20: an operation on a string is not supported inside jit; strings are "
     "static arguments, messages and docstrings only; a message may be an f-string\n    return "
     "g(lambda: 'a' * x)\n"
     "                     ^^^"},
    {"def f(x):\n  while x:\n    if x: pass\n    else:\n      del x[0]",
     "Limitation: demo.py:5:11: `del` of anything but a name is not supported inside jit; select "
     "what to keep: `x[mask]`, np.concatenate\n    del x[0]\n        ^^^^"},
};

INSTANTIATE_TEST_SUITE_P(Nodes, RefusalsTest, testing::ValuesIn(kRefusedNodes));
INSTANTIATE_TEST_SUITE_P(Places, RefusalsTest, testing::ValuesIn(kRefusedPlaces));

class AcceptedTest : public EmbeddedPython, public testing::WithParamInterface<const char*> {};

TEST_P(AcceptedTest, Passes) { EXPECT_EQ(Judge(GetParam()), "accepted"); }

INSTANTIATE_TEST_SUITE_P(
    All, AcceptedTest,
    testing::Values(
        "def f(x, mode='edge'):\n  'doc \\ud800'\n  return np.pad(x, 1, mode='edge') if mode == "
        "'edge' else x",
        "def f(x):\n  assert x, f'{x!r}'\n  raise ValueError('bad', f'size {x:.3f}', x)",
        "def f(x):\n  for i in (j for j in x): pass\n  return sum(i for i in x)",
        "def f(x):\n  return [j for i in x for j in (k for k in i)]",
        "def f(x):\n  return None is x or x is not None",
        "def f(x):\n  x.real = x.imag[:] = 1\n  x.shape = 2, -1\n  x.real += 1",
        "def f(x):\n  a, (b, *c), *d = x\n  return g(*x), (*x, 1), [*x], x[(*a, 1)]",
        "def f(x):\n  del x", "def f(x):\n  raise LinAlgError",
        "def f(*x, a: 'T' = {}): \n  return (n := len(x))"));

}  // namespace
}  // namespace parakeet::frontend
