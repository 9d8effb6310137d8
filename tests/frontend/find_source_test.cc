// Source of functions wherever Python lets one be defined; and what is said where there is none or
// another.
#include "frontend/find_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "frontend/print_syntax.h"
#include "frontend/read_ast.h"
#include "tests/frontend/embedded_python.h"

namespace parakeet::frontend {
namespace {

class FindSourceTest : public EmbeddedPython {
 protected:
  // The function that `expression` gives in a module of `source`, printed with places.
  static std::string Found(const std::string& source, const std::string& expression) {
    return FoundIn(Run(source), expression);
  }

  static std::string FoundIn(const PyRef& module, const std::string& expression) {
    const FoundSource found = FindSource(Evaluate(module, expression).get());
    EXPECT_EQ(PyErr_Occurred(), nullptr);
    return PrintSyntax(*ReadAst(found.node.get(), 0, found.line_shift), /*spans=*/true);
  }
};

TEST_F(FindSourceTest, ADefKeepsItsPlaceAndItsLines) {
  const PyRef module = Run("import os\n\n@staticmethod\n# why\ndef f(x):\n  return x\n\ny = 1\n");
  const FoundSource found = FindSource(Evaluate(module, "f.__func__").get());
  EXPECT_EQ(found.file.name, "demo.py");
  EXPECT_EQ(found.file.first_line, 3);
  EXPECT_EQ(found.file.lines,
            (std::vector<std::string>{"@staticmethod", "# why", "def f(x):", "  return x"}));
  EXPECT_EQ(FoundIn(module, "f.__func__"),
            "def f(x):  # 5:0-6:10\n  # binds x\n  return x  # 6:2-6:10\n");
}

TEST_F(FindSourceTest, NestedFunctionsKeepTheirColumns) {
  EXPECT_EQ(
      Found("def outer(n):\n    y = 1\n    def f(x):\n        '''\ndoc'''\n        return (x +\n"
            "y + n)\n    return f\n",
            "outer(1)"),
      "def f(x):  # 3:4-7:6\n  # binds x; outside y n\n"
      "  return ((x + y) + n)  # 6:8-7:6\n");
}

TEST_F(FindSourceTest, MethodsAndPrivateNames) {
  const std::string source =
      "class A:\n  class _B:\n    @property\n    def p(self): return self.__x\n"
      "    def m(self, x):\n      __y = self.__x\n      return lambda: __y + super().z\n";
  EXPECT_EQ(Found(source, "A._B.p.fget"),
            "def p(self):  # 4:4-4:32\n  # binds self\n  return self.__x  # 4:17-4:32\n");
  EXPECT_EQ(Found(source, "A._B().m"),
            "def m(self, x):  # 5:4-7:36\n  # binds self x __y&; outside super\n"
            "  __y = self.__x  # 6:6-6:20\n"
            "  return (lambda: (^__y + super().z))  # 7:6-7:36\n");
}

TEST_F(FindSourceTest, ALambdaAmongOthersOnItsLine) {
  const std::string source =
      "fs = [lambda x: x + 1, lambda x: x + 2, (lambda x: (x + 1)), lambda: (lambda y: (y))]\n";
  EXPECT_EQ(Found(source, "fs[0]"),
            "def <lambda>(x):  # 1:6-1:21\n  # binds x\n  return (x + 1)  # 1:16-1:21\n");
  EXPECT_EQ(Found(source, "fs[1]"),
            "def <lambda>(x):  # 1:23-1:38\n  # binds x\n  return (x + 2)  # 1:33-1:38\n");
  EXPECT_EQ(Found(source, "fs[2]"),
            "def <lambda>(x):  # 1:41-1:58\n  # binds x\n  return (x + 1)  # 1:52-1:57\n");
  EXPECT_EQ(Found(source, "fs[3]()"),
            "def <lambda>(y):  # 1:70-1:83\n  # binds y\n  return y  # 1:81-1:82\n");
  EXPECT_EQ(Found(source, "fs[3]"),
            "def <lambda>():  # 1:61-1:84\n  # binds\n  return (lambda y: y)  # 1:70-1:83\n");
}

TEST_F(FindSourceTest, LambdasOverManyLinesAndWithClosures) {
  const std::string source =
      "def make(n):\n    return dict(\n        a=lambda x, k=(1,\n  2): (x if x else (\n"
      "            n + 1)), b=2)\n";
  EXPECT_EQ(Found(source, "make(1)['a']"),
            "def <lambda>(x, k=...):  # 3:10-5:19\n  # binds x k; outside n\n"
            "  return (x if x else (n + 1))  # 4:7-5:18\n");
}

TEST_F(FindSourceTest, AFileOnDiskAndItsChange) {
  const std::string path = testing::TempDir() + "find_source_" + std::to_string(getpid()) + ".py";
  const auto write = [&](const std::string& text) { std::ofstream(path) << text; };
  const std::string original = "x = 1\ndef f(a):\n  return a * 0.5\n";
  write(original);
  const PyRef module = Run(original, path, /*tell_linecache=*/false);
  EXPECT_EQ(JudgeFunction(module, "f"), "accepted");
  // linecache still holds the old text, which is the function's.
  write("x = 1\ny = 2\ndef f(a):\n  return a * 0.5\n");
  EXPECT_EQ(JudgeFunction(module, "f"), "accepted");
  Evaluate(module, "__import__('linecache').clearcache()");
  const std::string changed =
      "OSError: the source found for `f` (" + path +
      ":2) is not what Python compiled: the file has changed since it was loaded, or was rewritten "
      "on import; load it again";
  EXPECT_EQ(JudgeFunction(module, "f"), changed);
  write("x = 1\ndef f(a):\n  return a * 0.25 # longer\n");
  EXPECT_EQ(JudgeFunction(module, "f"), changed);
  write("x = 1\ndef f(a):\n  return a / 0.5 # longer yet\n");
  EXPECT_EQ(JudgeFunction(module, "f"), changed);
  write("x = 1\ndef f(a):\n  return a * 0.5 # a comment is no change\n");
  EXPECT_EQ(JudgeFunction(module, "f"), "accepted");
  std::remove(path.c_str());
}

TEST_F(FindSourceTest, ConstantsAreComparedToTheLetter) {
  const PyRef module = Run("def f(x): return x + 1\n", "first.py");
  Run("def f(x): return x + 1.0\n", "first.py");
  EXPECT_NE(JudgeFunction(module, "f"), "accepted");
  Run("def f(x): return x + True\n", "first.py");
  EXPECT_NE(JudgeFunction(module, "f"), "accepted");
  Run("def f(x): return x + 1\n", "first.py");
  EXPECT_EQ(JudgeFunction(module, "f"), "accepted");
}

TEST_F(FindSourceTest, FunctionsThatPytestHasRewritten) {
  const PyRef module =
      Run("def f(x):\n  assert x\n  return x\ndef g(x):\n  def h():\n    assert x\n  return h\n"
          "def rewrite(code):\n"
          "  return code.replace(co_names=('@pytest_ar',), co_code=code.co_code + b'\\x09\\x00')\n"
          "f.__code__ = rewrite(f.__code__)\n"
          "g.__code__ = g.__code__.replace(co_consts=tuple(\n"
          "    rewrite(c) if hasattr(c, 'co_code') else c for c in g.__code__.co_consts))\n");
  EXPECT_EQ(JudgeFunction(module, "f"), "accepted");
  EXPECT_EQ(JudgeFunction(module, "g"), "accepted");
  Run("def f(y):\n  assert x\n  return x\ndef g(x):\n  def h(z):\n    assert x\n  return h\n");
  EXPECT_NE(JudgeFunction(module, "f"), "accepted");
  EXPECT_NE(JudgeFunction(module, "g"), "accepted");
}

TEST_F(FindSourceTest, WithoutColumnsALambdaIsFoundInTheWholeText) {
  const PyRef module = Run("fs = [lambda x: x + 1,\n  lambda x: x + 2, lambda x: x + 3]\n");
  Evaluate(module, "setattr(fs[2], '__code__', fs[2].__code__.replace(co_linetable=b''))");
  EXPECT_EQ(FoundIn(module, "fs[2]"),
            "def <lambda>(x):  # 2:19-2:34\n  # binds x\n  return (x + 3)  # 2:29-2:34\n");
}

TEST_F(FindSourceTest, FormFeedsThatLinecacheTakesForNewlines) {
  const PyRef module = Run("x = 1\n\f\n\f\ndef f(x):\n  return x\n\ny = 1\n");
  EXPECT_EQ(FoundIn(module, "f"), "def f(x):  # 4:0-5:10\n  # binds x\n  return x  # 5:2-5:10\n");
  EXPECT_EQ(FindSource(Evaluate(module, "f").get()).file.lines,
            (std::vector<std::string>{"def f(x):", "  return x"}));
}

// Python compiles `a.f()` in another way where the module imports `a` by name.
TEST_F(FindSourceTest, WhatTheModuleImportsChangesNothing) {
  const std::string function = "def f(x): return math.sqrt(x) + os.f(x.g(x))\n";
  EXPECT_EQ(JudgeFunction(Run("import math, os\n" + function), "f"), "accepted");
  EXPECT_EQ(JudgeFunction(Run("from os import path as math\nos = 1\n" + function), "f"),
            "accepted");
  EXPECT_EQ(JudgeFunction(Run("from math import pi as math, e as os\n" + function), "f"),
            "accepted");
  EXPECT_EQ(JudgeFunction(Run("from math import pi as math\nos = 1\n" + function), "f"),
            "accepted");
  // A notebook's cell, after one that has imported.
  const PyRef module = Run(function);
  Evaluate(module, "globals().update(math=__import__('math'))");
  EXPECT_EQ(JudgeFunction(module, "f"), "accepted");
  // Two lambdas on a line, in a module of which no guess is right.
  const std::string two = "fs = [lambda x: pi.f(os.g()), lambda x: pi.f(os.h())]\n";
  EXPECT_EQ(Found("from math import pi\nos = 1\n" + two, "fs[1]"),
            "def <lambda>(x):  # 3:30-3:52\n  # binds x; outside pi os\n"
            "  return pi.f(os.h())  # 3:40-3:52\n");
}

TEST_F(FindSourceTest, FutureAnnotationsAreNoChange) {
  const PyRef module =
      Run("from __future__ import annotations\ndef f(x):\n  def g(y: int) -> float: return y\n"
          "  return g(x)\n");
  EXPECT_EQ(JudgeFunction(module, "f"), "accepted");
}

TEST_F(FindSourceTest, WarningsOfTheUsersSourceAreNotRepeated) {
  const PyRef module = Run("import warnings\nwarnings.simplefilter('error')\n", "w.py");
  const PyRef user = Run("def f(x):\n  return x\n", "v.py");
  EXPECT_EQ(JudgeFunction(user, "f"), "accepted");
  Evaluate(module, "warnings.simplefilter('ignore')");
  const PyRef warned = Run("def f(x):\n  g('\\d', x is None)\n  return x\n", "u.py");
  Evaluate(module, "warnings.simplefilter('error')");
  EXPECT_EQ(JudgeFunction(warned, "f"), "accepted");
  EXPECT_EQ(JudgeFunction(module, "warnings.filters[0]"),
            "TypeError: expected a Python function, got tuple");
  Evaluate(module, "warnings.resetwarnings()");
}

TEST_F(FindSourceTest, NoSource) {
  const PyRef module = Run("def f(x): return x\ng = lambda x: x\n", "<stdin>", false);
  const std::string end =
      ": Python keeps none here (the plain prompt before Python 3.13, exec, -c); define the "
      "function in a file or a notebook";
  EXPECT_EQ(JudgeFunction(module, "f"),
            "OSError: could not get the source of `f` (<stdin>:1)" + end);
  EXPECT_EQ(JudgeFunction(module, "g"),
            "OSError: could not get the source of `<lambda>` (<stdin>:2)" + end);
}

TEST_F(FindSourceTest, WhatPython313KeepsOfItsPrompt) {
  const PyRef module =
      Run("import linecache\n"
          "lines = ['def f(x): return x\\n']\n"
          "linecache._getlines_from_code = lambda code: lines if code is f.__code__ else []\n"
          "exec(compile(lines[0], '<stdin>', 'single'))\n");
  EXPECT_EQ(JudgeFunction(module, "f"), "accepted");
  Evaluate(module, "delattr(linecache, '_getlines_from_code')");
  EXPECT_NE(JudgeFunction(module, "f"), "accepted");
}

TEST_F(FindSourceTest, WhatIsNoFunction) {
  const PyRef module = Run("class C: pass\n");
  for (const auto& [expression, kind] : {std::pair("len", "builtin_function_or_method"),
                                         {"C", "type"},
                                         {"3", "int"},
                                         {"None", "NoneType"}}) {
    EXPECT_EQ(JudgeFunction(module, expression),
              std::string("TypeError: expected a Python function, got ") + kind);
  }
}

TEST_F(FindSourceTest, ErrorsPointIntoTheUsersFile) {
  const PyRef module = Run("class A:\n    def f(x):\n        h = lambda: {}\n", "note.py");
  EXPECT_EQ(
      JudgeFunction(module, "A.f"),
      "Limitation: note.py:3:21: a dict is not supported inside jit; use a tuple, or one array "
      "for keys and one for values\n    h = lambda: {}\n                ^^");
}

}  // namespace
}  // namespace parakeet::frontend
