#include <string>
#include <utility>

#include "frontend/ast_reader.h"
#include "frontend/python_errors.h"
#include "frontend/refused_nodes.h"

namespace parakeet::frontend {

ExprPtr AstReader::ReadConstant(const AstNode& node) {
  auto result = Make<ConstantExpr>(node);
  ReadConstantValue(node.Field("value").object(), result.get());
  return result;
}

// Fills in everything but the span, which messages use.
void AstReader::ReadConstantValue(PyObject* value, ConstantExpr* constant) const {
  if (value == Py_None) {
    constant->constant = ConstantKind::kNone;
  } else if (value == Py_Ellipsis) {
    constant->constant = ConstantKind::kEllipsis;
  } else if (PyBool_Check(value)) {
    constant->constant = ConstantKind::kBool;
    constant->integer = value == Py_True ? 1 : 0;
  } else if (PyLong_Check(value)) {
    ReadInteger(value, constant);
  } else if (PyFloat_Check(value)) {
    constant->constant = ConstantKind::kFloat;
    constant->real = PyFloat_AsDouble(value);
  } else if (PyComplex_Check(value)) {
    constant->constant = ConstantKind::kComplex;
    constant->real = PyComplex_RealAsDouble(value);
    constant->imaginary = PyComplex_ImagAsDouble(value);
  } else if (PyUnicode_Check(value)) {
    constant->constant = ConstantKind::kString;
    constant->text = TextOf(value, constant->span);
  } else if (PyBytes_Check(value)) {
    RefuseConstruct("a bytes literal", "use a string, or an array of uint8", constant->span);
  } else {
    const std::string type = AstNode(PyRef::Borrow(value)).Kind();
    RefuseConstruct("a constant of type " + type, "use a number, a string or a tuple",
                    constant->span);
  }
}

void AstReader::ReadInteger(PyObject* value, ConstantExpr* constant) const {
  int overflow = 0;
  const long long fits = PyLong_AsLongLongAndOverflow(value, &overflow);
  constant->constant = ConstantKind::kInt;
  constant->integer = fits;
  if (overflow == 0) return;
  const unsigned long long bits = overflow > 0 ? PyLong_AsUnsignedLongLong(value) : 0;
  if (overflow < 0 || PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    RefuseConstruct("an integer literal beyond 64 bits", "write it as a float", constant->span);
  }
  constant->constant = ConstantKind::kUnsigned;
  constant->integer = static_cast<int64_t>(bits);
}

// Python folds the minus sign of a literal too; so -2**63 fits, though 2**63 does not.
ExprPtr AstReader::ReadNegative(const AstNode& node) {
  const AstNode operand = node.Field("operand");
  if (operand.Kind() != "Constant") return nullptr;
  const AstNode value = operand.Field("value");
  PyObject* const number = value.object();
  const bool is_number = PyLong_Check(number) || PyFloat_Check(number) || PyComplex_Check(number);
  if (!is_number || PyBool_Check(number)) return nullptr;
  auto result = Make<ConstantExpr>(node);
  const PyRef negated = Checked(PyNumber_Negative(number), result->span);
  ReadConstantValue(negated.get(), result.get());
  return result;
}

ExprPtr AstReader::ReadFormattedString(const AstNode& node) {
  auto result = Make<FormattedStringExpr>(node);
  for (const AstNode& piece : node.List("values")) {
    result->pieces.push_back(ReadPiece(piece));
  }
  return result;
}

FormattedStringExpr::Piece AstReader::ReadPiece(const AstNode& node) {
  FormattedStringExpr::Piece piece;
  if (node.Kind() == "Constant") {
    piece.text = TextOf(node.Field("value").object(), SpanOf(node));
    return piece;
  }
  piece.value = ReadExpr(node.Field("value"));
  const int32_t conversion = node.Integer("conversion");
  if (conversion == 's' || conversion == 'r' || conversion == 'a') {
    piece.conversion = static_cast<char>(conversion);
  }
  const AstNode spec = node.Field("format_spec");
  if (!spec.IsNone()) piece.format = ReadFormatSpec(spec);
  return piece;
}

std::string AstReader::ReadFormatSpec(const AstNode& node) {
  std::string format;
  for (const AstNode& piece : node.List("values")) {
    if (piece.Kind() != "Constant") {
      RefuseConstruct("a computed format", "write the format out", SpanOf(piece));
    }
    format += TextOf(piece.Field("value").object(), SpanOf(piece));
  }
  return format;
}

}  // namespace parakeet::frontend
