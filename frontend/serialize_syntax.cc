#include "frontend/serialize_syntax.h"

#include <bit>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "frontend/syntax_fields.h"
#include "ir/diagnostics.h"

namespace parakeet::frontend {
namespace {

template <typename T>
concept Number = std::is_integral_v<T> || std::is_enum_v<T>;

// Negative numbers near 0 take few bytes too: 0, -1, 1, -2 ... are 0, 1, 2, 3 ...
uint64_t Folded(int64_t number) {
  return (static_cast<uint64_t>(number) << 1) ^ static_cast<uint64_t>(number >> 63);
}

int64_t Unfolded(uint64_t number) {
  return static_cast<int64_t>(number >> 1) ^ -static_cast<int64_t>(number & 1);
}

class Writer {
 public:
  static constexpr bool kReads = false;

  template <typename... T>
  void operator()(const T&... fields) {
    (Put(fields), ...);
  }
  std::string Take() { return std::move(bytes_); }

  void Put(const FunctionSyntax& function) {
    functions_.push_back(&function);
    Fields(*this, function);
    functions_.pop_back();
  }

 private:
  template <Number T>
  void Put(const T& number) {
    AppendNumber(Folded(static_cast<int64_t>(number)), &bytes_);
  }

  void Put(const double& number) {
    const auto bits = std::bit_cast<uint64_t>(number);
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(bits >> shift);
  }

  void Put(const std::string& text) {
    AppendNumber(text.size(), &bytes_);
    bytes_ += text;
  }

  // Nodes lie close to the one before.
  void Put(const ir::Span& span) {
    Put(span.IsKnown());
    if (!span.IsKnown()) return;
    Put(span.line - line_);
    Put(span.column);
    Put(span.end_line - span.line);
    Put(span.end_column);
    line_ = span.line;
  }

  // How many functions further out, plus one, and the number there; 0 for none.
  void Put(const Variable* const& variable) {
    size_t level = 0;
    while (variable != nullptr && functions_[functions_.size() - ++level] != variable->function) {
    }
    AppendNumber(level, &bytes_);
    if (variable != nullptr) Put(variable->index);
  }

  void Put(const ExprPtr& expr) {
    Put(expr != nullptr);
    if (expr == nullptr) return;
    Put(expr->kind);
    Put(expr->span);
    switch (expr->kind) {
#define PARAKEET_CASE(name) \
  case ExprKind::k##name: return Fields(*this, static_cast<const name##Expr&>(*expr));
      PARAKEET_EXPR_KINDS(PARAKEET_CASE)
#undef PARAKEET_CASE
    }
  }

  void Put(const StmtPtr& stmt) {
    Put(stmt->kind);
    Put(stmt->span);
    switch (stmt->kind) {
#define PARAKEET_CASE(name) \
  case StmtKind::k##name: return Fields(*this, static_cast<const name##Stmt&>(*stmt));
      PARAKEET_STMT_KINDS(PARAKEET_CASE)
#undef PARAKEET_CASE
    }
  }

  void Put(const std::unique_ptr<const NameExpr>& name) {
    Put(name->span);
    Fields(*this, *name);
  }
  void Put(const std::unique_ptr<const Variable>& variable) { Fields(*this, *variable); }
  void Put(const FunctionSyntaxPtr& function) { Put(*function); }

  template <typename T>
  void Put(const std::vector<T>& list) {
    AppendNumber(list.size(), &bytes_);
    for (const T& item : list) Put(item);
  }

  // The parts of nodes that are no nodes themselves.
  template <typename T>
    requires std::is_class_v<T>
  void Put(const T& part) {
    Fields(*this, part);
  }

  std::string bytes_;
  int32_t line_ = 0;
  std::vector<const FunctionSyntax*> functions_;  // outermost first
};

class Reader {
 public:
  static constexpr bool kReads = true;

  Reader(std::string_view bytes, int32_t file) : bytes_(bytes), file_(file) {}

  template <typename... T>
  void operator()(T&... fields) {
    (Get(fields), ...);
  }

  void Get(FunctionSyntaxPtr& read) {
    auto function = std::make_shared<FunctionSyntax>();
    functions_.push_back(function.get());
    Fields(*this, *function);
    functions_.pop_back();
    read = std::move(function);
  }

 private:
  template <Number T>
  void Get(T& number) {
    number = static_cast<T>(Unfolded(TakeNumber(&bytes_)));
  }

  void Get(double& number) {
    const std::string_view taken = Take(8);
    uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) {
      bits |= static_cast<uint64_t>(static_cast<unsigned char>(taken[i])) << (8 * i);
    }
    number = std::bit_cast<double>(bits);
  }

  void Get(std::string& text) { text = Take(TakeNumber(&bytes_)); }

  void Get(ir::Span& span) {
    bool is_known;
    Get(is_known);
    if (!is_known) return;
    span.file = file_;
    (*this)(span.line, span.column, span.end_line, span.end_column);
    line_ = span.line += line_;
    span.end_line += span.line;
  }

  void Get(const Variable*& variable) {
    const size_t level = TakeNumber(&bytes_);
    if (level == 0) return;
    int32_t index;
    Get(index);
    if (level > functions_.size()) FailNoTree();
    variable = functions_[functions_.size() - level]->variables.at(index).get();
  }

  void Get(ExprPtr& expr) {
    bool is_there;
    Get(is_there);
    if (!is_there) return;
    ExprKind kind;
    Get(kind);
    switch (kind) {
#define PARAKEET_CASE(name) \
  case ExprKind::k##name: return GetNode<name##Expr>(expr);
      PARAKEET_EXPR_KINDS(PARAKEET_CASE)
#undef PARAKEET_CASE
    }
    FailNoTree();
  }

  void Get(StmtPtr& stmt) {
    StmtKind kind;
    Get(kind);
    switch (kind) {
#define PARAKEET_CASE(name) \
  case StmtKind::k##name: return GetNode<name##Stmt>(stmt);
      PARAKEET_STMT_KINDS(PARAKEET_CASE)
#undef PARAKEET_CASE
    }
    FailNoTree();
  }

  void Get(std::unique_ptr<const NameExpr>& name) { GetNode<NameExpr>(name); }

  template <typename Node, typename Pointer>
  void GetNode(Pointer& pointer) {
    auto node = std::make_unique<Node>();
    Get(node->span);
    Fields(*this, *node);
    pointer = std::move(node);
  }

  void Get(std::unique_ptr<const Variable>& read) {
    auto variable = std::make_unique<Variable>();
    Fields(*this, *variable);
    variable->function = functions_.back();
    variable->index = next_variable_++;
    read = std::move(variable);
  }

  // An item takes a byte at least, so a damaged count cannot ask for more memory than the bytes do.
  template <typename T>
  void Get(std::vector<T>& list) {
    const uint64_t count = TakeNumber(&bytes_);
    if (count > bytes_.size()) FailNoTree();
    if constexpr (std::is_same_v<T, std::unique_ptr<const Variable>>) next_variable_ = 0;
    list.resize(count);
    for (T& item : list) Get(item);
  }

  template <typename T>
    requires std::is_class_v<T>
  void Get(T& part) {
    Fields(*this, part);
  }

  std::string_view Take(uint64_t size) {
    if (size > bytes_.size()) FailNoTree();
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  [[noreturn]] static void FailNoTree() { ir::FailBug("a stored syntax tree is damaged"); }

  std::string_view bytes_;
  int32_t file_;
  int32_t line_ = 0;
  int32_t next_variable_ = 0;
  std::vector<FunctionSyntax*> functions_;  // outermost first
};

}  // namespace

void AppendNumber(uint64_t number, std::string* bytes) {
  for (; number >= 0x80; number >>= 7) *bytes += static_cast<char>(number | 0x80);
  *bytes += static_cast<char>(number);
}

uint64_t TakeNumber(std::string_view* bytes) {
  uint64_t number = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes->front());
    bytes->remove_prefix(1);
    number |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return number;
  }
  ir::FailBug("a stored number is damaged");
}

std::string SerializeSyntax(const FunctionSyntax& function) {
  Writer writer;
  writer.Put(function);
  return writer.Take();
}

FunctionSyntaxPtr DeserializeSyntax(std::string_view bytes, int32_t file) {
  FunctionSyntaxPtr function;
  Reader(bytes, file).Get(function);
  return function;
}

}  // namespace parakeet::frontend
