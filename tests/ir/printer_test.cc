#include "ir/printer.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "ir/builder.h"
#include "ir/equal.h"
#include "ir/parser.h"
#include "ir/uses.h"
#include "ir/verifier.h"
#include "tests/ir/samples.h"

namespace parakeet::ir {
namespace {

TEST(Printer, SamplesUseEveryOperation) {
  std::set<OpCode> used;
  for (const auto& [stage, text] : Samples()) {
    const Program program = Parse(text);
    for (const Function* function : program.functions) {
      ForEachBinding(*function->body, [&](const Binding& binding) { used.insert(binding.op); });
    }
  }
  for (int i = 0; i < NumOps(); ++i) {
    EXPECT_TRUE(used.contains(static_cast<OpCode>(i)))
        << Name(static_cast<OpCode>(i)) << " has no sample";
  }
}

TEST(Printer, ParseIsItsInverse) {
  for (const auto& [stage, text] : Samples()) {
    const Program program = Parse(text);
    const std::string printed = Print(program);
    const Program again = Parse(printed);
    EXPECT_TRUE(Equal(program, again)) << printed;
    EXPECT_EQ(Print(again), printed);
    const std::string with_spans = Print(program, {.spans = true});
    EXPECT_EQ(Print(Parse(with_spans), {.spans = true}), with_spans);
  }
}

// The whole text of one function, as it is printed.
TEST(Printer, NestedOperators) {
  constexpr char kText[] = R"(fn @conv(%image: [h][w]f64, %weights: [a][b]f64 c readonly) ->)"
                           R"( (%h2: i64, [h2][w]f64) entry {
  %h2: i64 = sub %h, 2
  %r: [h2][w]f64 = imap (%i, %j) in (%h2, %w) {
    %s: f64 = ireduce (%p, %q) in (%a, %b) add from 0.0 tree(block 8192, lanes 4) {
      %0: i64 = add %i, %p
      %x: f64 = load %image[%0, %q]
      %y: f64 = load %weights[%p, %q]
      %z: f64 = mul %x, %y
      yield %z }
    yield %s }
  return %h2, %r }
)";
  EXPECT_EQ(Print(Parse(kText)), kText);
}

TEST(Printer, OneLineFormReadsAsTheLongForm) {
  const Program program = Parse(
      "fn @norm(%x: [n]f32) -> [n]f32 { // squares\n"
      "%y: [n]f32 = imap (%i) in (%n) { %a: f32 = load %x[%i]  %b: f32 = mul %a, %a  yield %b } "
      "return %y }");
  EXPECT_EQ(Print(program),
            "fn @norm(%x: [n]f32) -> [n]f32 {\n"
            "  %y: [n]f32 = imap (%i) in (%n) {\n"
            "    %a: f32 = load %x[%i]\n"
            "    %b: f32 = mul %a, %a\n"
            "    yield %b }\n"
            "  return %y }\n");
}

// A function of one block that binds `hints` in turn to the constant 1.
const Function* FunctionOf(Arena* arena, std::initializer_list<std::string_view> hints) {
  Builder builder(arena);
  for (std::string_view hint : hints)
    builder.EmitOne(OpCode::kNeg, DType::kI64, {Operand::Int(1)}, {}, {}, hint);
  Function function;
  function.name = "f";
  function.body = builder.Finish({}, {});
  return arena->New(std::move(function));
}

TEST(Printer, HintsAreMadeUniqueAndReadable) {
  Arena arena;
  EXPECT_EQ(Print(*FunctionOf(&arena, {"x", "", "x", "", "x", "2y", "a-b", "nan", "größe"})),
            "fn @f() {\n"
            "  %x: i64 = neg 1\n"
            "  %0: i64 = neg 1\n"
            "  %x.1: i64 = neg 1\n"
            "  %1: i64 = neg 1\n"
            "  %x.2: i64 = neg 1\n"
            "  %_2y: i64 = neg 1\n"
            "  %a_b: i64 = neg 1\n"
            "  %nan_: i64 = neg 1\n"
            "  %größe: i64 = neg 1\n"
            "  return }\n");
}

TEST(Printer, SizesWithoutNamesAreNumbered) {
  constexpr char kText[] = "fn @f(%x: [%0][3][n]f64, %1: [%0]f64) -> [%0]f64 {\n  return %1 }\n";
  EXPECT_EQ(Print(Parse(kText)), kText);
}

TEST(Printer, SizesMayBeLaterParameters) {
  const Program program = Parse("fn @f(%x: [n]f64, %n: i64) { return }");
  const Function& function = *program.functions[0];
  EXPECT_EQ(function.params[0].var->type.dims()[0], Operand(function.params[1].var));
  EXPECT_TRUE(function.Sizes().empty());
  EXPECT_EQ(Print(Parse(Print(program))), Print(program));
}

TEST(Printer, SpansOfSourcesSitesFunctionsAndBindings) {
  constexpr char kText[] =
      R"(source 0 "demo.py"
source 1 "<stdin>" line 7
site 0 IndexError "index {} is \"out\"\x01" @1:12:9-12:14

fn @f(%x: f64) -> f64 @0:1:0-2:20 {
  %y: f64 = neg %x @0:2:2-2:4
  %z: f64 = map () {
    yield %y } @1:3:0-4:1
  return %z }
)";
  EXPECT_EQ(Print(Parse(kText), {.spans = true}), kText);
  EXPECT_EQ(Print(Parse(kText)).find("@1"), std::string::npos);
}

TEST(Printer, SourcesThatTextCannotTellApartAreOne) {
  Program program = Parse("site 0 IndexError \"\" fn @f() { }");
  program.sources->Add({"<stdin>", {"x = 1"}});
  program.sources->Add({"<stdin>", {"x = 2"}});
  program.sources->Add({"demo.py", {}});
  Site site = program.sites[0];
  site.span = {2, 1, 0, 1, 1};
  program.sites = Sites({site});
  const std::string text = Print(program, {.spans = true});
  EXPECT_EQ(text.substr(0, text.find("\n\n")),
            "source 0 \"<stdin>\"\nsource 1 \"demo.py\"\nsite 0 IndexError \"\" @1:1:0-1:1");
  EXPECT_EQ(Print(Parse(text), {.spans = true}), text);
}

// What breaks the rules of its operation still prints, and reads back: here with each attribute of
// each kind.
TEST(Printer, MalformedBindingsPrintGenerically) {
  Program program;
  Builder builder(program.arena.get());
  const Var* x = builder.NewVar(Type::Array(DType::kF64, {Operand::Int(3)}), "x");
  const AttrValue values[] = {int64_t{-1}, int64_t{2}, std::vector<int64_t>{7}, std::string("q")};
  for (int i = 0; i < NumOps(); ++i) {
    const OpCode op = static_cast<OpCode>(i);
    for (const AttrValue& value : values) {
      Attributes attrs;
#define PARAKEET_ATTRIBUTE(name, text, kind, doc) attrs = attrs.With(Attr::k##name, value);
#include "ir/attributes.def"
      Builder inner(program.arena.get());
      const Block* block = inner.Finish({inner.NewVar(DType::kF32, "p")}, {x});
      builder.Emit(op, {}, {x, Operand::Int(1)}, attrs, {block});
      builder.Emit(op, {}, {x, Operand::Int(1)}, attrs);
      builder.Emit(op, {}, {x}, attrs);
      builder.Emit(op, {}, {}, attrs);
    }
    builder.Emit(op, {}, {});
  }
  program.functions.push_back(
      program.arena->New(Function{"f", {{x}}, {}, builder.Finish({}, {}), false, false, {}}));
  const std::string text = Print(program);
  EXPECT_EQ(Verify(program, Stage::kIndexed).size(), 20) << "it is refused, at length";
  EXPECT_NE(text.find("generic slice %x, 1 {axes = [7], perm = [7], site = [7]"),
            std::string::npos);
  EXPECT_EQ(Print(Parse(text)), text);
}

TEST(Printer, BindingsForMessages) {
  const Program program =
      Parse("fn @f(%x: [n]f64) { %0: i64 = neg 1 %1: f64 = load %x[%0] return }");
  const Function& function = *program.functions[0];
  const Binding& load = *function.body->bindings[1];
  EXPECT_EQ(Print(load, &function), "%1: f64 = load %x[%0]");
  EXPECT_EQ(Print(load), "%0: f64 = load %x[%1]");
  EXPECT_EQ(Print(function.params[0].var->type), "[n]f64");
}

}  // namespace
}  // namespace parakeet::ir
