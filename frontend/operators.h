#ifndef PARAKEET_FRONTEND_OPERATORS_H_
#define PARAKEET_FRONTEND_OPERATORS_H_

#include <string>

namespace parakeet::frontend {

// The operators of the language: X(name of Python's `ast` class, spelling). The enums, the reader,
// the printer and every message are made from these rows; there is no second list.
#define PARAKEET_BINARY_OPERATORS(X) \
  X(Add, "+")                        \
  X(Sub, "-")                        \
  X(Mult, "*")                       \
  X(MatMult, "@")                    \
  X(Div, "/")                        \
  X(FloorDiv, "//")                  \
  X(Mod, "%")                        \
  X(Pow, "**")                       \
  X(LShift, "<<")                    \
  X(RShift, ">>")                    \
  X(BitOr, "|")                      \
  X(BitXor, "^")                     \
  X(BitAnd, "&")

#define PARAKEET_UNARY_OPERATORS(X) \
  X(UAdd, "+")                      \
  X(USub, "-")                      \
  X(Invert, "~")                    \
  X(Not, "not")

#define PARAKEET_COMPARE_OPERATORS(X) \
  X(Eq, "==")                         \
  X(NotEq, "!=")                      \
  X(Lt, "<")                          \
  X(LtE, "<=")                        \
  X(Gt, ">")                          \
  X(GtE, ">=")                        \
  X(Is, "is")                         \
  X(IsNot, "is not")                  \
  X(In, "in")                         \
  X(NotIn, "not in")

#define PARAKEET_BOOL_OPERATORS(X) \
  X(And, "and")                    \
  X(Or, "or")

#define PARAKEET_ENUMERATOR(name, spelling) k##name,
enum class BinaryOperator { PARAKEET_BINARY_OPERATORS(PARAKEET_ENUMERATOR) };
enum class UnaryOperator { PARAKEET_UNARY_OPERATORS(PARAKEET_ENUMERATOR) };
enum class CompareOperator { PARAKEET_COMPARE_OPERATORS(PARAKEET_ENUMERATOR) };
enum class BoolOperator { PARAKEET_BOOL_OPERATORS(PARAKEET_ENUMERATOR) };
#undef PARAKEET_ENUMERATOR

// The operator as Python writes it: "+", "not in".
#define PARAKEET_SPELLING(name, spelling) spelling,
inline std::string Spelling(BinaryOperator op) {
  constexpr const char* kSpellings[] = {PARAKEET_BINARY_OPERATORS(PARAKEET_SPELLING)};
  return kSpellings[static_cast<int>(op)];
}

inline std::string Spelling(UnaryOperator op) {
  constexpr const char* kSpellings[] = {PARAKEET_UNARY_OPERATORS(PARAKEET_SPELLING)};
  return kSpellings[static_cast<int>(op)];
}

inline std::string Spelling(CompareOperator op) {
  constexpr const char* kSpellings[] = {PARAKEET_COMPARE_OPERATORS(PARAKEET_SPELLING)};
  return kSpellings[static_cast<int>(op)];
}

inline std::string Spelling(BoolOperator op) {
  constexpr const char* kSpellings[] = {PARAKEET_BOOL_OPERATORS(PARAKEET_SPELLING)};
  return kSpellings[static_cast<int>(op)];
}
#undef PARAKEET_SPELLING

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_OPERATORS_H_
