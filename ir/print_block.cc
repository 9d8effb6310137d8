#include "ir/print_block.h"

#include "ir/constant_text.h"
#include "ir/text_form.h"

namespace parakeet::ir {
namespace {

std::string AttrText(int64_t value) { return std::to_string(value); }
std::string AttrText(const std::string& value) { return Quoted(value); }
std::string AttrText(const std::vector<int64_t>& values) {
  std::string text;
  for (int64_t value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
  return "[" + text + "]";
}

// `tree(block 4096 to 16384, lanes 256)` with what is known of the three, or nothing.
std::string TreeText(const Binding& binding) {
  std::string text;
  for (Attr attr : {Attr::kBlock, Attr::kLanes}) {
    if (!binding.attrs.Has(attr)) continue;
    text += (text.empty() ? "" : ", ") + std::string(Name(attr)) + " " +
            std::to_string(binding.attrs.Int(attr));
    if (attr == Attr::kBlock && binding.attrs.Has(Attr::kMostBlock))
      text += " to " + std::to_string(binding.attrs.Int(Attr::kMostBlock));
  }
  return text.empty() ? "" : " tree(" + text + ")";
}

std::string WordsText(const std::vector<OpCode>& words) {
  if (words.empty()) return "";
  if (words.size() == 1) return " " + std::string(Name(words[0]));
  std::string text;
  for (OpCode word : words) text += (text.empty() ? "" : ", ") + std::string(Name(word));
  return " (" + text + ")";
}

}  // namespace

std::string BlockPrinter::Text(const Operand& operand) {
  return operand.IsVar() ? "%" + names_.Of(operand.var()) : ir::Text(operand.constant());
}

std::string BlockPrinter::Text(const Type& type) {
  if (type.IsVector()) return std::string(Name(type.dtype())) + "x" + std::to_string(type.lanes());
  std::string text = type.IsArray() && type.rank() == 0 ? "[]" : "";
  for (const Operand& dim : type.dims()) {
    const std::string size = Text(dim);
    const bool named = dim.IsVar() && !IsDigit(size[1]);
    text += "[" + (named ? size.substr(1) : size) + "]";
  }
  return text + std::string(Name(type.dtype()));
}

std::string BlockPrinter::Text(const Var* var) {
  return Text(Operand(var)) + ": " + Text(var->type);
}

std::string BlockPrinter::Text(const Span& span) const {
  if (!files_ || !span.IsKnown()) return "";
  const int file = span.file < static_cast<int>(files_->size()) ? (*files_)[span.file] : span.file;
  const auto place = [](int line, int column) {
    return std::to_string(line) + ":" + std::to_string(column);
  };
  return " @" + std::to_string(file) + ":" + place(span.line, span.column) + "-" +
         place(span.end_line, span.end_column);
}

template <typename Item>
std::string BlockPrinter::List(const std::vector<Item>& items, size_t begin, size_t end) {
  std::string text;
  for (size_t i = begin; i < end; ++i) text += (i == begin ? "" : ", ") + Text(items[i]);
  return text;
}

void BlockPrinter::NewLine() {
  out_ += '\n';
  out_.append(2 * indent_, ' ');
}

void BlockPrinter::Print(const Block& block, std::string_view last_word) {
  out_ += " {";
  ++indent_;
  for (const Binding* binding : block.bindings) {
    NewLine();
    Print(*binding);
  }
  if (!block.results.empty() || last_word == "return") {
    NewLine();
    out_ += std::string(last_word) + (block.results.empty() ? "" : " ") + List(block.results);
  }
  --indent_;
  out_ += " }";
}

void BlockPrinter::Print(const Binding& binding) {
  if (!binding.results.empty()) out_ += List(binding.results) + " = ";
  if (FitsFormat(binding)) {
    PrintInFormat(binding);
  } else {
    PrintGeneric(binding);
  }
  out_ += Text(binding.span);
}

void BlockPrinter::PrintInFormat(const Binding& binding) {
  switch (InfoOf(binding.op).format) {
    case OpFormat::kPlain: return PrintPlain(binding);
    case OpFormat::kCheck: return PrintCheck(binding);
    case OpFormat::kSlice: return PrintSlice(binding);
    case OpFormat::kView: return PrintView(binding);
    case OpFormat::kElements: return PrintElements(binding);
    case OpFormat::kIndices: return PrintIndices(binding);
    case OpFormat::kCall: return PrintCall(binding);
    case OpFormat::kAlloc:
      out_ += "alloc (" + List(binding.operands) + ")";
      return PrintAttributes(binding);
    case OpFormat::kFree: return PrintFree(binding);
    case OpFormat::kAccess: return PrintAccess(binding);
    case OpFormat::kIf: return PrintIf(binding);
    case OpFormat::kFor: return PrintFor(binding);
    case OpFormat::kWhile: return PrintWhile(binding);
  }
}

void BlockPrinter::PrintGeneric(const Binding& binding) {
  out_ += "generic " + std::string(Name(binding.op)) + (binding.operands.empty() ? "" : " ") +
          List(binding.operands);
  PrintAttributes(binding, /*generic=*/true);
  for (const Block* block : binding.blocks) {
    out_ += " (" + List(block->params) + ")";
    Print(*block, "yield");
  }
}

void BlockPrinter::PrintPlain(const Binding& binding) {
  out_ += std::string(Name(binding.op)) + (binding.operands.empty() ? "" : " ") +
          List(binding.operands);
  PrintAttributes(binding);
}

void BlockPrinter::PrintFree(const Binding& binding) {
  out_ += "free " + Text(binding.operands[0]);
  if (binding.operands.size() > 1) out_ += " unless (" + List(binding.operands, 1) + ")";
  PrintAttributes(binding);
}

void BlockPrinter::PrintCheck(const Binding& binding) {
  const bool is_check = binding.op == OpCode::kCheck;
  const size_t fixed = is_check ? 1 : 2;
  const size_t place_end =
      is_check ? fixed + binding.attrs.Int(Attr::kAt) : binding.operands.size();
  out_ += std::string(Name(binding.op)) + " " + List(binding.operands, 0, fixed);
  if (binding.attrs.Has(Attr::kSite))
    out_ += ", site " + std::to_string(binding.attrs.Int(Attr::kSite));
  const bool shows_place = is_check ? binding.attrs.Has(Attr::kAt) : place_end > fixed;
  if (shows_place) out_ += " at (" + List(binding.operands, fixed, place_end) + ")";
  if (place_end < binding.operands.size())
    out_ += " with (" + List(binding.operands, place_end) + ")";
  PrintAttributes(binding);
}

void BlockPrinter::PrintSlice(const Binding& binding) {
  std::string entries;
  size_t next = 1;
  for (char entry : binding.attrs.Text(Attr::kAxes)) {
    if (!entries.empty()) entries += ", ";
    if (entry == 'n') {
      entries += "new";
    } else if (entry == 'i') {
      entries += Text(binding.operands[next++]);
    } else {
      entries += Text(binding.operands[next]) + ":" + Text(binding.operands[next + 1]) + ":" +
                 Text(binding.operands[next + 2]);
      next += 3;
    }
  }
  out_ += "slice " + Text(binding.operands[0]) + "[" + entries + "]";
  PrintAttributes(binding);
}

void BlockPrinter::PrintView(const Binding& binding) {
  const size_t rank = binding.result()->type.rank();
  const size_t rows = (binding.operands.size() - 1) / (1 + rank);
  std::string strides;
  for (size_t row = 0; row < rows; ++row) {
    const size_t begin = 1 + rows + row * rank;
    strides += (row == 0 ? "(" : ", (") + List(binding.operands, begin, begin + rank) + ")";
  }
  out_ += "view " + Text(binding.operands[0]) + " offset (" + List(binding.operands, 1, 1 + rows) +
          ") strides (" + strides + ")";
  PrintAttributes(binding);
}

void BlockPrinter::PrintElements(const Binding& binding) {
  const std::vector<const Var*>& params = binding.blocks[0]->params;
  std::string elements;
  for (size_t i = 0; i < params.size(); ++i) {
    elements += (i == 0 ? "" : ", ") + Text(params[i]) + " in " + Text(binding.operands[i]);
  }
  out_ += std::string(Name(binding.op)) + " (" + elements + ")";
  PrintOperator(binding, params.size());
}

void BlockPrinter::PrintIndices(const Binding& binding) {
  std::string indices;
  for (const Var* index : binding.blocks[0]->params)
    indices += (indices.empty() ? "" : ", ") + Text(Operand(index));
  out_ += std::string(Name(binding.op)) + " (" + indices + ") in ";
  const size_t extents = binding.blocks[0]->params.size();
  if (binding.op == OpCode::kLanes) {
    out_ += Text(binding.operands[0]) + " to " + Text(binding.operands[1]);
    return PrintOperator(binding, 2);
  }
  out_ += "(" + List(binding.operands, 0, extents) + ")";
  PrintOperator(binding, extents);
}

void BlockPrinter::PrintOperator(const Binding& binding, size_t first_init) {
  const std::vector<OpCode> words = CombineWords(binding);
  out_ += WordsText(words);
  const size_t inits = binding.operands.size() - first_init;
  if (inits == 1) out_ += " from " + Text(binding.operands[first_init]);
  if (inits > 1) out_ += " from (" + List(binding.operands, first_init) + ")";
  out_ += TreeText(binding);
  PrintAttributes(binding);
  Print(*binding.blocks[0], "yield");
  const auto print_block = [&](size_t at, std::string_view word) {
    if (binding.blocks.size() <= at) return;
    out_ += " " + std::string(word) + " (" + List(binding.blocks[at]->params) + ")";
    Print(*binding.blocks[at], "yield");
  };
  if (words.empty()) print_block(1, "combine");
  print_block(2, binding.op == OpCode::kLanes ? "take" : "then");
}

void BlockPrinter::PrintCall(const Binding& binding) {
  const std::string& callee = binding.attrs.Text(Attr::kCallee);
  const size_t arguments = binding.operands.size() - binding.attrs.Int(Attr::kAt);
  out_ += std::string(Name(binding.op)) + " @" + WordText(callee) + "(" +
          List(binding.operands, 0, arguments) + ")";
  if (binding.attrs.Has(Attr::kAt)) out_ += " at (" + List(binding.operands, arguments) + ")";
  PrintAttributes(binding);
}

void BlockPrinter::PrintAccess(const Binding& binding) {
  const size_t rank = binding.operands[0].var()->type.rank();
  out_ += std::string(Name(binding.op)) + " " + Text(binding.operands[0]) + "[" +
          List(binding.operands, 1, 1 + rank) + "]";
  if (binding.operands.size() > 1 + rank) out_ += ", " + List(binding.operands, 1 + rank);
  PrintAttributes(binding);
}

void BlockPrinter::PrintIf(const Binding& binding) {
  out_ += "if " + Text(binding.operands[0]);
  PrintAttributes(binding);
  Print(*binding.blocks[0], "yield");
  const Block& otherwise = *binding.blocks[1];
  if (otherwise.bindings.empty() && otherwise.results.empty()) return;
  out_ += " else";
  Print(otherwise, "yield");
}

std::string BlockPrinter::Carried(const Block& block, size_t first_param, const Binding& binding,
                                  size_t first_init) {
  std::string text;
  for (size_t i = first_param; i < block.params.size(); ++i) {
    text += (text.empty() ? "" : ", ") + Text(block.params[i]) + " = " +
            Text(binding.operands[first_init + i - first_param]);
  }
  return "(" + text + ")";
}

void BlockPrinter::PrintFor(const Binding& binding) {
  const Block& body = *binding.blocks[0];
  if (IsShownByFormat(binding, Attr::kKind)) out_ += binding.attrs.Text(Attr::kKind) + " ";
  out_ += "for " + Text(Operand(body.params[0])) + " in " + Text(binding.operands[0]) + " to " +
          Text(binding.operands[1]) + " step " + Text(binding.operands[2]);
  if (binding.attrs.Has(Attr::kCost))
    out_ += " cost " + std::to_string(binding.attrs.Int(Attr::kCost));
  if (binding.operands.size() > 3) out_ += " " + Carried(body, 1, binding, 3);
  PrintAttributes(binding);
  Print(body, "yield");
}

void BlockPrinter::PrintWhile(const Binding& binding) {
  out_ += "while";
  if (!binding.operands.empty()) out_ += " " + Carried(*binding.blocks[0], 0, binding, 0);
  PrintAttributes(binding);
  Print(*binding.blocks[0], "yield");
  out_ += " do";
  if (!binding.blocks[1]->params.empty()) out_ += " (" + List(binding.blocks[1]->params) + ")";
  Print(*binding.blocks[1], "yield");
}

void BlockPrinter::PrintAttributes(const Binding& binding, bool generic) {
  std::string text;
  for (const auto& [attr, value] : binding.attrs.entries()) {
    if (!generic && IsShownByFormat(binding, attr)) continue;
    text += (text.empty() ? "" : ", ") + std::string(Name(attr)) + " = " +
            std::visit([](const auto& v) { return AttrText(v); }, value);
  }
  if (!text.empty()) out_ += " {" + text + "}";
}

}  // namespace parakeet::ir
