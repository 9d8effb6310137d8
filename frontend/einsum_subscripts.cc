#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frontend/intrinsics.h"
#include "frontend/static_values.h"

// What the subscripts of np.einsum say: for each operand and for the result a number for each axis.
// Letters have their own numbers; the axes of an ellipsis count from the last one, so that they
// broadcast from the right.
namespace parakeet::frontend {
namespace {

constexpr int kFirstOfEllipsis = 256;  // Behind every letter.
constexpr char kEllipsis[] = "...";

class Subscripts {
 public:
  Subscripts(const Context& context, const std::string& text) : context_(context) {
    const std::string packed = WithoutSpaces(text);
    const size_t arrow = packed.find("->");
    Split(packed.substr(0, arrow));
    if (arrow != std::string::npos) output_ = packed.substr(arrow + 2);
    for (const std::string& term : terms_) Require(term);
    if (output_) Require(*output_);
  }

  Value Labels(const std::vector<int>& ranks) {
    if (ranks.size() != terms_.size()) Fail(CountMessage(ranks.size() > terms_.size()));
    Values made;
    for (size_t i = 0; i < ranks.size(); ++i) made.push_back(OperandLabels(terms_[i], ranks[i]));
    made.push_back(output_ ? OutputLabels() : ImplicitLabels());
    return Value::Tuple(std::move(made));
  }

 private:
  [[noreturn]] void Fail(const std::string& message) const {
    context_.FailUser("ValueError", message);
  }

  static std::string WithoutSpaces(std::string text) {
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    return text;
  }

  static std::string CountMessage(bool more) {
    return std::string(more ? "more" : "fewer") +
           " operands provided to einstein sum function than specified in the subscripts string";
  }

  void Split(const std::string& inputs) {
    size_t start = 0;
    for (size_t comma = 0; comma != std::string::npos; start = comma + 1) {
      comma = inputs.find(',', start);
      terms_.push_back(inputs.substr(start, comma - start));
    }
  }

  // Letters, and at most one ellipsis.
  void Require(std::string term) const {
    const size_t dots = term.find(kEllipsis);
    if (dots != std::string::npos) term.erase(dots, 3);
    for (const char c : term) {
      if (c == '.') {
        Fail(
            "einstein sum subscripts string contains a '.' that is not part of an ellipsis "
            "('...')");
      }
      if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z')) {
        Fail("invalid subscript '" + std::string(1, c) +
             "' in einstein sum subscripts string, subscripts must be letters");
      }
    }
  }

  Value OperandLabels(const std::string& term, int rank) {
    const size_t dots = term.find(kEllipsis);
    const int letters = static_cast<int>(term.size()) - (dots == std::string::npos ? 0 : 3);
    if (letters > rank) {
      Fail("einstein sum subscripts string contains too many subscripts for an operand");
    }
    if (dots == std::string::npos && letters < rank) Fail(TooFew("operand"));
    Values labels;
    for (size_t i = 0; i < term.size(); ++i) {
      if (i == dots) {
        AppendEllipsis(rank - letters, &labels);
        broadcast_ = std::max(broadcast_, rank - letters);
        i += 2;
        continue;
      }
      ++uses_[term[i]];
      labels.push_back(Value::Int(term[i]));
    }
    return Value::Tuple(std::move(labels));
  }

  static std::string TooFew(const std::string& what) {
    return what +
           " has more dimensions than subscripts given in einstein sum, but no '...' ellipsis "
           "provided to broadcast the extra dimensions.";
  }

  static void AppendEllipsis(int count, Values* labels) {
    for (int k = count; k-- > 0;) labels->push_back(Value::Int(kFirstOfEllipsis + k));
  }

  Value OutputLabels() const {
    std::set<char> seen;
    Values labels;
    const size_t dots = output_->find(kEllipsis);
    if (dots == std::string::npos && broadcast_ > 0) Fail(TooFew("output"));
    for (size_t i = 0; i < output_->size(); ++i) {
      const char c = (*output_)[i];
      if (i == dots) {
        AppendEllipsis(broadcast_, &labels);
        i += 2;
        continue;
      }
      const std::string quoted = "'" + std::string(1, c) + "'";
      if (!seen.insert(c).second) {
        Fail("einstein sum subscripts string includes output subscript " + quoted +
             " multiple times");
      }
      if (uses_.count(c) == 0) {
        Fail("einstein sum subscripts string included output subscript " + quoted +
             " which never appeared in an input");
      }
      labels.push_back(Value::Int(c));
    }
    return Value::Tuple(std::move(labels));
  }

  // Without an arrow: the ellipsis, then the letters that stand once, by the alphabet.
  Value ImplicitLabels() const {
    Values labels;
    AppendEllipsis(broadcast_, &labels);
    for (const auto& [letter, count] : uses_) {
      if (count == 1) labels.push_back(Value::Int(letter));
    }
    return Value::Tuple(std::move(labels));
  }

  const Context& context_;
  std::vector<std::string> terms_;
  std::optional<std::string> output_;
  std::map<char, int> uses_;
  int broadcast_ = 0;  // The most axes that an ellipsis stands for.
};

}  // namespace

Value EinsumLabels(Evaluator* evaluator, const Values& arguments) {
  Context& context = evaluator->context();
  if (!arguments[0].Is<StringValue>()) {
    context.FailLimitation("np.einsum takes its subscripts as a string here");
  }
  std::vector<int> ranks;
  for (const Value& rank : *arguments[1].Elements()) {
    ranks.push_back(static_cast<int>(context.StaticInt(rank, "the rank")));
  }
  Subscripts subscripts(context, StaticString(evaluator, arguments[0], "the subscripts"));
  return subscripts.Labels(ranks);
}

}  // namespace parakeet::frontend
