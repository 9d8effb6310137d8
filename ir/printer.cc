#include "ir/printer.h"

#include <utility>
#include <vector>

#include "ir/names.h"
#include "ir/print_block.h"
#include "ir/text_form.h"

namespace parakeet::ir {
namespace {

// The number that each source file prints as: that of the first with its name and first line, since
// files alike in both cannot be told apart in text.
std::vector<int> FileNumbers(const SourceMap& sources) {
  std::vector<int> numbers;
  int next = 0;
  for (int file = 0; file < sources.size(); ++file) {
    int number = -1;
    for (int earlier = 0; earlier < file && number < 0; ++earlier) {
      const bool alike = sources.At(earlier).name == sources.At(file).name &&
                         sources.At(earlier).first_line == sources.At(file).first_line;
      if (alike) number = numbers[earlier];
    }
    numbers.push_back(number < 0 ? next++ : number);
  }
  return numbers;
}

std::string SourceText(const SourceMap& sources, const std::vector<int>& numbers) {
  std::string text;
  int next = 0;
  for (int file = 0; file < sources.size(); ++file) {
    if (numbers[file] < next) continue;
    text += "source " + std::to_string(next++) + " " + Quoted(sources.At(file).name);
    if (sources.At(file).first_line != 1)
      text += " line " + std::to_string(sources.At(file).first_line);
    text += "\n";
  }
  return text;
}

std::string ParamText(const Param& param, BlockPrinter& printer) {
  std::string text = printer.Text(param.var);
  if (param.layout == Layout::kC) text += " c";
  if (param.layout == Layout::kFortran) text += " fortran";
  if (!param.writable) text += " readonly";
  if (!param.aligned) text += " unaligned";
  return text;
}

bool IsSizeOfLater(const std::vector<const Var*>& results, size_t index) {
  for (size_t later = index + 1; later < results.size(); ++later) {
    for (const Operand& dim : results[later]->type.dims()) {
      if (dim.IsVar() && dim.var() == results[index]) return true;
    }
  }
  return false;
}

// ` -> (%k: i64, [k]f64)`. The names of results are seen by later results only, so the body may use
// them again.
std::string ResultText(const Function& function) {
  if (function.results.empty()) return "";
  Names names;
  names.DefineParams(function);
  BlockPrinter printer(std::move(names), std::nullopt);
  std::string text;
  for (size_t i = 0; i < function.results.size(); ++i) {
    const Var* result = function.results[i];
    text += i == 0 ? "" : ", ";
    text += IsSizeOfLater(function.results, i) ? printer.Text(result) : printer.Text(result->type);
  }
  const bool bare = function.results.size() == 1;
  return " -> " + (bare ? text : "(" + text + ")");
}

std::string FunctionText(const Function& function, BlockPrinter::FileNumbers files) {
  BlockPrinter printer(Names(function), std::move(files));
  std::string params;
  for (const Param& param : function.params)
    params += (params.empty() ? "" : ", ") + ParamText(param, printer);
  printer.out() = "fn @" + WordText(function.name) + "(" + params + ")" + ResultText(function);
  if (function.entry) printer.out() += " entry";
  if (function.may_overlap) printer.out() += " may_overlap";
  printer.out() += printer.Text(function.span);
  printer.Print(*function.body, "return");
  return printer.out() + "\n";
}

std::string SiteText(size_t index, const Site& site, const BlockPrinter& printer) {
  return "site " + std::to_string(index) + " " + WordText(site.exception) + " " +
         Quoted(site.message) + printer.Text(site.span) + "\n";
}

}  // namespace

std::string Print(const Program& program, PrintOptions options) {
  BlockPrinter::FileNumbers files;
  if (options.spans) files = FileNumbers(*program.sources);
  std::string text = options.spans ? SourceText(*program.sources, *files) : "";
  const BlockPrinter printer(Names(), files);
  for (size_t i = 0; i < program.sites.size(); ++i) text += SiteText(i, program.sites[i], printer);
  for (const Function* function : program.functions) {
    if (!text.empty()) text += "\n";
    text += FunctionText(*function, files);
  }
  return text;
}

std::string Print(const Function& function, PrintOptions options) {
  return FunctionText(function, options.spans ? BlockPrinter::FileNumbers({}) : std::nullopt);
}

std::string Print(const Binding& binding, const Function* within) {
  BlockPrinter printer(within ? Names(*within) : Names(), std::nullopt);
  printer.Print(binding);
  return printer.out();
}

std::string Print(const Type& type) { return BlockPrinter(Names(), std::nullopt).Text(type); }

}  // namespace parakeet::ir
