#include "tests/passes/random_time_loops.h"

#include <string>

namespace parakeet::passes {
namespace {

// A program under construction: its text, and a number for each value.
struct Text {
  std::string all;
  int values = 0;
  std::string Value() { return "%v" + std::to_string(values++); }
};

void Replace(std::string& text, const std::string& what, const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

std::string Array(int k, const std::string& suffix) {
  return "%" + std::string(1, char('a' + k)) + suffix;
}

// Adds up elements around an iteration's own, of the array that is stored to its own alone.
void AddNest(Text& text, int stored, const std::string& suffix, Random& random) {
  const std::string i = text.Value(), j = text.Value();
  text.all += "    foreach (" + i + ", " + j + ") in (%h, INSIDE) {\n";
  const auto index = [&](const std::string& from, int moved) {
    const std::string value = text.Value();
    text.all += "      " + value + ": i64 = add " + from + ", " + std::to_string(moved) + "\n";
    return value;
  };
  std::string sum = "0.5";
  for (int loads = RandomNumber(random, 1, 3); loads > 0; --loads) {
    const int array = RandomNumber(random, 0, kTimeLoopArrays - 1);
    const bool is_own = array == stored;
    const std::string row = index(i, is_own ? 2 : RandomNumber(random, 0, 4));
    const std::string column = index(j, is_own ? 1 : RandomNumber(random, 0, 2));
    const std::string element = text.Value(), half = text.Value(), next = text.Value();
    text.all += "      " + element + ": f64 = load " + Array(array, suffix) + "[" + row + ", " +
                column + "]\n      " + half + ": f64 = mul 0.375, " + element + "\n      " + next +
                ": f64 = add " + sum + ", " + half + "\n";
    sum = next;
  }
  const std::string row = index(i, 2), column = index(j, 1);
  text.all +=
      "      store " + Array(stored, suffix) + "[" + row + ", " + column + "], " + sum + " }\n";
}

// Stores one row, of another array's row beside it and of what the step has for all.
void AddRow(Text& text, int stored, const std::string& suffix, Random& random) {
  const std::string j = text.Value(), element = text.Value(), sum = text.Value();
  const bool is_last = RandomNumber(random, 0, 1) == 1;
  const std::string beside = RandomNumber(random, 0, 1) == 0 ? "%1" : "%0";
  text.all += "    foreach (" + j + ") in (COLUMNS) {\n      " + element + ": f64 = load " +
              Array((stored + 1) % kTimeLoopArrays, suffix) + "[" + (is_last ? "%before" : beside) +
              ", " + j + "]\n      " + sum + ": f64 = add %wave, " + element + "\n      store " +
              Array(stored, suffix) + "[" + (is_last ? "%last" : "%0") + ", " + j + "], " + sum +
              " }\n";
}

// Adds up elements of rows around an iteration's own, where the first row lies behind the last.
void AddRing(Text& text, int stored, const std::string& suffix, Random& random) {
  const std::string i = text.Value(), j = text.Value();
  text.all += "    foreach (" + i + ", " + j + ") in (%n, COLUMNS) {\n";
  std::string sum = "%wave";
  for (int loads = RandomNumber(random, 1, 2); loads > 0; --loads) {
    const int other = (stored + RandomNumber(random, 1, kTimeLoopArrays - 1)) % kTimeLoopArrays;
    const bool is_before = RandomNumber(random, 0, 1) == 0;
    const std::string moved = text.Value(), is_in = text.Value(), around = text.Value(),
                      row = text.Value(), element = text.Value(), half = text.Value(),
                      next = text.Value();
    const std::string by = std::to_string(RandomNumber(random, 0, 3));
    text.all += "      " + moved + ": i64 = " + (is_before ? "sub " : "add ") + i + ", " + by +
                "\n      " + is_in + ": bool = " + (is_before ? "ge " : "lt ") + moved + ", " +
                (is_before ? "0" : "%n") + "\n      " + around +
                ": i64 = " + (is_before ? "add " : "sub ") + moved + ", %n\n      " + row +
                ": i64 = select " + is_in + ", " + moved + ", " + around + "\n      " + element +
                ": f64 = load " + Array(other, suffix) + "[" + row + ", " + j + "]\n      " + half +
                ": f64 = mul 0.375, " + element + "\n      " + next + ": f64 = add " + sum + ", " +
                half + "\n";
    sum = next;
  }
  text.all += "      store " + Array(stored, suffix) + "[" + i + ", " + j + "], " + sum + " }\n";
}

}  // namespace

int RandomNumber(Random& random, int from, int to) {
  return std::uniform_int_distribution<int>(from, to)(random);
}

std::string RandomTimeLoop(Random& random, int columns) {
  Text text;
  text.all =
      "fn @f(%a: [n][COLUMNS]f64 c, %b: [n][COLUMNS]f64 c, %c: [n][COLUMNS]f64 c, %steps: i64) -> "
      "f64 entry {\n"
      "  %h: i64 = sub %n, 4\n  %last: i64 = sub %n, 1\n"
      "  %before: i64 = sub %n, 2\n  %0: i64 = mul 0, %n\n  %1: i64 = add %0, 1\n";
  const int turning = RandomNumber(random, 0, 2);  // 0: none; else so many of the others and %a
  std::string results, carried, yielded;
  const std::string inside = turning > 0 ? ".t" : "";
  for (int k = 0; k <= turning && turning > 0; ++k) {
    const std::string comma = k > 0 ? ", " : "";
    results += comma + Array(k, ".r") + ": [n][COLUMNS]f64";
    carried += comma + Array(k, ".t") + ": [n][COLUMNS]f64 = " + Array(k, "");
    yielded += comma + Array((k + 1) % (turning + 1), ".t");
  }
  const std::string comma = turning > 0 ? ", " : "";
  text.all += "  " + results + comma +
              "%last.number: f64, %last.kept: f64 = for %t in 0 to %steps step 1 (" + carried +
              comma +
              "%number: f64 = 0.5, %kept: f64 = 0.75) {\n    %time: f64 = cast %t\n"
              "    %part: f64 = mul %number, %kept\n"
              "    %wave: f64 = add %time, %part\n    %next.number: f64 = mul %wave, 0.25\n";
  for (int nests = RandomNumber(random, 1, 3); nests > 0; --nests) {
    const int stored = RandomNumber(random, 0, kTimeLoopArrays - 1);
    const size_t from = text.all.size();
    const int kind = RandomNumber(random, 0, 5);
    (kind == 0 ? AddRow : kind < 3 ? AddRing : AddNest)(text, stored, "@", random);
    // What is not carried has its name from outside.
    std::string& all = text.all;
    for (size_t at = from; (at = all.find('@', at)) != std::string::npos;)
      all.replace(at, 1, turning > 0 && all[at - 1] - 'a' <= turning ? inside : "");
  }
  text.all += "    yield " + yielded + comma + "%next.number, %kept }\n  return %last.number }\n";
  Replace(text.all, "INSIDE", std::to_string(columns - 2));
  Replace(text.all, "COLUMNS", std::to_string(columns));
  return text.all;
}

}  // namespace parakeet::passes
