// Stored syntax trees are the trees that were stored: for what the language has, and for every
// function of the library.
#include "frontend/syntax_archive.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "frontend/ast_node.h"
#include "frontend/compile_source.h"
#include "frontend/print_syntax.h"
#include "frontend/python_errors.h"
#include "frontend/read_ast.h"
#include "frontend/serialize_syntax.h"
#include "tests/frontend/embedded_python.h"

namespace parakeet::frontend {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

void ExpectRoundTrip(const FunctionSyntax& function) {
  const std::string bytes = SerializeSyntax(function);
  const FunctionSyntaxPtr read = DeserializeSyntax(bytes, 0);
  EXPECT_EQ(PrintSyntax(*read, true), PrintSyntax(function, true));
  // Spans of expressions, which are not printed, and all the rest.
  EXPECT_EQ(SerializeSyntax(*read), bytes);
}

class SyntaxArchiveTest : public EmbeddedPython {
 protected:
  // A module of the library under test, in a file of its own.
  static PyRef Import(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
    const PyRef module = Run(text, path, false);
    const PyRef name = Checked(PyUnicode_FromString("parakeet.library.made"));
    Evaluate(module,
             "[f.__setattr__('__module__', 'parakeet.library.made') for f in "
             "list(globals().values()) if hasattr(f, '__code__')]");
    return module;
  }
};

constexpr char kEverything[] = R"(
def f(x, /, n, *rest, flag=True):
  a = b = x
  (a, *b), x[0] = n
  x[1:, ::2, None, ...] += a
  c: int = -3
  d: int
  if a < b <= c and not d: pass
  elif b: return
  else: return a, [b], 2.5, 1j, 18446744073709551615, "text\0", None
  while n > 0:
    n -= 1
    break
  else:
    continue
  for i, (j, k) in enumerate(x, start=1):
    x.real[i] = ~j if k is not None else f(*rest, key=k)
  assert a, f"message {n!r:>3}"
  raise ValueError(f"bad {n!r:>3} size", n)
  del a, b
  def g(y=n, *, z=lambda w: w + n + late):
    def h(): return (g, y, [i * x for i in y for j in i if j if (last := i)])
    return h
  return sum(x @ i for i in g(n)) ** -1
)";

TEST_F(SyntaxArchiveTest, EveryConstructComesBack) { ExpectRoundTrip(*Read(kEverything)); }

TEST_F(SyntaxArchiveTest, EveryFunctionOfTheLibraryComesBack) {
  int functions = 0;
  for (const auto& file : std::filesystem::directory_iterator("pylib/parakeet/library")) {
    const Compiled parsed = ParseSource(ReadFile(file.path()), "exec");
    ASSERT_TRUE(parsed.object) << file.path();
    for (const AstNode& statement : AstNode(parsed.object).List("body")) {
      if (statement.Kind() != "FunctionDef") continue;
      FunctionSyntaxPtr function;
      try {
        function = ReadAst(statement.object(), 0);
      } catch (const ir::Failure&) {
        continue;  // Python's own, outside the language.
      }
      ExpectRoundTrip(*function);
      ++functions;
    }
  }
  EXPECT_GT(functions, 200);
}

TEST_F(SyntaxArchiveTest, AFunctionIsFoundByItsPlace) {
  const std::string text =
      "\ndef first(x):\n  return x\n\n@(lambda f: f)\ndef second(y):\n  return y";
  const std::string path = testing::TempDir() + "made.py";
  const PyRef module = Import(path, text);
  SyntaxArchiveWriter writer;
  writer.Add("parakeet.library.made", text);
  const std::string bytes = writer.Finish();
  SyntaxArchive archive(bytes);
  ir::SourceMap sources;
  sources.Add({"another.py", {}, 1});
  const FunctionSyntaxPtr second = archive.Find(Evaluate(module, "second").get(), &sources);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(PrintSyntax(*second, true),
            "def second(y):  # 6:0-7:10\n  # binds y\n  return y  # 7:2-7:10\n");
  EXPECT_EQ(second->span.file, 1);
  EXPECT_EQ(sources.At(1).name, path);
  EXPECT_EQ(sources.At(1).Line(7), "  return y");
}

TEST_F(SyntaxArchiveTest, AFileWithAnotherTextIsNotTakenForTheOneThatWasRead) {
  const std::string text = "def first(x):\n  return x\n";
  SyntaxArchiveWriter writer;
  writer.Add("parakeet.library.made", text);
  const std::string bytes = writer.Finish();
  const PyRef module = Import(testing::TempDir() + "edited.py", "def first(x):\n  return 2\n");
  ir::SourceMap sources;
  EXPECT_EQ(SyntaxArchive(bytes).Find(Evaluate(module, "first").get(), &sources), nullptr);
  EXPECT_EQ(SyntaxArchive("").Find(Evaluate(module, "first").get(), &sources), nullptr);
}

TEST_F(SyntaxArchiveTest, DamagedTreesAreBugs) {
  const std::string bytes = SerializeSyntax(*Read(kEverything));
  for (size_t size = 0; size < bytes.size(); size += 7) {
    EXPECT_THROW(DeserializeSyntax(bytes.substr(0, size), 0), ir::Failure);
  }
}

}  // namespace
}  // namespace parakeet::frontend
