#include "ir/parser.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ir/parse_block.h"
#include "ir/text_reader.h"

namespace parakeet::ir {
namespace {

// Reads sources, sites and functions into a program.
class ProgramParser {
 public:
  explicit ProgramParser(std::string_view text) : reader_(text, program_.arena.get()) {}

  Program Read() {
    while (!reader_.IsNext(TokenKind::kEnd)) {
      if (reader_.TakeIf("source")) {
        ReadSource();
      } else if (reader_.TakeIf("site")) {
        ReadSite();
      } else {
        reader_.Expect("fn");
        ReadFunction();
      }
    }
    return std::move(program_);
  }

 private:
  // `source 0 "demo.py" line 3`
  void ReadSource() {
    ExpectIndex(program_.sources->size());
    SourceFile file;
    file.name = reader_.Expect(TokenKind::kString, "a file name in quotes").string;
    if (reader_.TakeIf("line")) file.first_line = static_cast<int32_t>(reader_.Int(INT32_MIN));
    program_.sources->Add(std::move(file));
  }

  // `site 0 IndexError "index {} is out of bounds" @0:12:9-12:14`
  void ReadSite() {
    ExpectIndex(program_.sites.size());
    Site site;
    site.exception = Word("an exception");
    site.message = reader_.Expect(TokenKind::kString, "a message in quotes").string;
    site.span = reader_.OptionalSpan();
    program_.sites.push_back(std::move(site));
  }

  void ExpectIndex(int64_t expected) {
    if (reader_.Int(0) != expected) reader_.Fail("expected rows numbered from 0, in order");
  }

  std::string Word(std::string_view what) {
    if (reader_.IsNext(TokenKind::kString)) return reader_.Take().string;
    return std::string(reader_.Expect(TokenKind::kWord, what).text);
  }

  void ReadFunction() {
    Function function;
    function.name = reader_.Expect(TokenKind::kFunction, "a function's name").string;
    if (program_.Find(function.name)) reader_.Fail("a function of this name came before");
    const size_t scope = reader_.Mark();
    reader_.Expect("(");
    while (!reader_.IsNext(")")) {
      if (!function.params.empty()) reader_.Expect(",");
      function.params.push_back(ReadParam(function.params));
    }
    reader_.Expect(")");
    if (reader_.TakeIf("->")) function.results = ReadResults();
    function.entry = reader_.TakeIf("entry");
    function.may_overlap = reader_.TakeIf("may_overlap");
    function.span = reader_.OptionalSpan();
    function.body = BlockParser(&reader_).Read(scope, {}, "return");
    program_.functions.push_back(program_.arena->New(std::move(function)));
  }

  // `%x: [n]f64 c readonly unaligned`. Sizes that are not known yet are bound here, and may turn
  // out to be a later parameter.
  Param ReadParam(const std::vector<Param>& earlier) {
    const std::string_view name = reader_.Expect(TokenKind::kValue, "a parameter").text;
    reader_.Expect(":");
    const Type type = reader_.ReadType(/*binds_sizes=*/true);
    Param param{reader_.Find(name)};
    const bool is_param = std::any_of(earlier.begin(), earlier.end(),
                                      [&](const Param& p) { return p.var == param.var; });
    if (!param.var || is_param || !(type == Type(DType::kI64))) {
      param.var = reader_.NewVar(name, type);
      reader_.Define(name, param.var);
    }
    if (reader_.TakeIf("c")) {
      param.layout = Layout::kC;
    } else if (reader_.TakeIf("fortran")) {
      param.layout = Layout::kFortran;
    }
    param.writable = !reader_.TakeIf("readonly");
    param.aligned = !reader_.TakeIf("unaligned");
    return param;
  }

  // `T` or `(%k: i64, [k]f64)`; the names are in scope for later results only.
  std::vector<const Var*> ReadResults() {
    std::vector<const Var*> results;
    if (!reader_.TakeIf("(")) return {reader_.NewVar("0", reader_.ReadType())};
    const size_t scope = reader_.Mark();
    while (!reader_.IsNext(")")) {
      if (!results.empty()) reader_.Expect(",");
      const bool named = reader_.IsNext(TokenKind::kValue);
      results.push_back(named ? reader_.ReadDefinition() : reader_.NewVar("0", reader_.ReadType()));
    }
    reader_.Expect(")");
    reader_.EndScope(scope);
    return results;
  }

  Program program_;
  TextReader reader_;
};

}  // namespace

Program Parse(std::string_view text) { return ProgramParser(text).Read(); }

}  // namespace parakeet::ir
