// Where a block of Python ends, as told line by line.
#include "frontend/source_scanner.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace parakeet::frontend {
namespace {

// The lines of the block that `text` starts with.
int BlockLines(const std::string& text) {
  std::istringstream stream(text);
  BlockScanner scanner;
  for (std::string line; std::getline(stream, line);) {
    if (!scanner.Add(line + "\n")) break;
  }
  return scanner.line_count();
}

TEST(BlockScannerTest, EndsAtTheNextStatementOfItsIndentation) {
  EXPECT_EQ(BlockLines("def f(x):\n  return x\ny = 1\n"), 2);
  EXPECT_EQ(BlockLines("  def f(x):\n    return x\n  y = 1\n"), 2);
  EXPECT_EQ(BlockLines("  def f(x):\n    return x\ny = 1\n"), 2);
  EXPECT_EQ(BlockLines("def f(x): return x\ny = 1\n"), 1);
  EXPECT_EQ(BlockLines("def f(x):\n  return x\n"), 2);
}

TEST(BlockScannerTest, CountsNoBlankLinesAndCommentsAfterIt) {
  EXPECT_EQ(BlockLines("def f(x):\n\n# c\n  return x\n\n  # c\n\ny = 1\n"), 4);
}

TEST(BlockScannerTest, TakesDecoratorsAndHeadersOfManyLines) {
  EXPECT_EQ(BlockLines("@a\n# c\n@b(\n1)\ndef f(\nx\n):\n  return x\n@a\ndef g(): pass\n"), 8);
  EXPECT_EQ(BlockLines("def f(x): \\\nreturn x\ny = 1\n"), 2);
  EXPECT_EQ(BlockLines("def f(x):\n  return (\n1)\ny = 1\n"), 3);
}

TEST(BlockScannerTest, LooksThroughStrings) {
  EXPECT_EQ(BlockLines("def f(x):\n  '''\ndoc ( '' \\'''\n'''\n  return 1\ny = 1\n"), 5);
  EXPECT_EQ(BlockLines("def f(x):\n  return '(', \"[\\\"[\", ''\ny = 1\n"), 2);
  EXPECT_EQ(BlockLines("def f(x):\n  return 'a\\\nb' # ('''\ny = 1\n"), 3);
  EXPECT_EQ(BlockLines("def f(x):\n  return r'\\\\' + '''(''' + \"\"\ny = 1\n"), 2);
}

TEST(BlockScannerTest, SurvivesWhatIsNoPython) {
  EXPECT_EQ(BlockLines("def f(x):\n  ))) ''' \n"), 2);
  EXPECT_EQ(BlockLines("def f(x):\n  'open\ny = 1\n"), 2);
  EXPECT_EQ(BlockLines("\\"), 1);
  EXPECT_EQ(BlockLines(""), 0);
}

TEST(SourceScannerTest, CountsOpenBrackets) {
  SourceScanner scanner;
  scanner.Feed("lambda x: f([x, ')', '''(''', # (");
  EXPECT_EQ(scanner.brackets(), 2);
  EXPECT_TRUE(scanner.IsInsideStatement());
}

}  // namespace
}  // namespace parakeet::frontend
