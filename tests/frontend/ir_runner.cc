#include "tests/frontend/ir_runner.h"

#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "frontend/build_ir.h"
#include "frontend/promotion.h"
#include "frontend/python_errors.h"
#include "ir/diagnostics.h"
#include "ir/interpreter.h"
#include "ir/printer.h"
#include "ir/verifier.h"

namespace parakeet::frontend {
namespace {

ir::DType DTypeOfFormat(const std::string& format, int64_t bytes) {
  const char code = format.empty() ? 'B' : format.back();
  const std::string bits = std::to_string(8 * bytes);
  if (code == '?') return ir::DType::kBool;
  if (format.size() > 1 && format[format.size() - 2] == 'Z') return *ir::DTypeFromName("c" + bits);
  if (std::strchr("efd", code) != nullptr) return *ir::DTypeFromName("f" + bits);
  const bool is_signed = std::strchr("bhilqn", code) != nullptr;
  return *ir::DTypeFromName((is_signed ? "i" : "u") + bits);
}

const char* FormatOf(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::kBool: return "?";
    case ir::DType::kI8: return "b";
    case ir::DType::kU8: return "B";
    case ir::DType::kI16: return "h";
    case ir::DType::kU16: return "H";
    case ir::DType::kI32: return "i";
    case ir::DType::kU32: return "I";
    case ir::DType::kI64: return "q";
    case ir::DType::kU64: return "Q";
    case ir::DType::kF32: return "f";
    default: return "d";
  }
}

// Turns Python arguments into what the front end and the interpreter take.
class ArgumentReader {
 public:
  Argument Read(PyObject* object) {
    if (object == Py_None || PyUnicode_Check(object)) return Static(object);
    if (PyBool_Check(object)) return Scalar(ir::Constant::Bool(object == Py_True), true);
    if (PyLong_CheckExact(object)) {
      return Scalar(ir::Constant::Int(PyLong_AsLongLong(object)), true);
    }
    if (PyFloat_CheckExact(object)) {
      return Scalar(ir::Constant::Float(PyFloat_AsDouble(object)), true);
    }
    if (PyComplex_CheckExact(object)) {
      return Scalar(
          ir::Constant::Complex(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)),
          true);
    }
    if (PyTuple_Check(object)) return ReadTuple(object);
    if (PyList_Check(object)) return ReadList(object);
    if (PyObject_CheckBuffer(object)) return ReadBuffer(object);
    return Static(object);
  }

  ~ArgumentReader() {
    for (Py_buffer& buffer : buffers_) PyBuffer_Release(&buffer);
  }

  ir::Values values;

 private:
  Argument Static(PyObject* object) {
    const PyRef text = Checked(PyObject_Repr(object));
    return Argument::Static(PyRef::Borrow(object), TextOf(text.get()));
  }

  Argument Scalar(const ir::Constant& constant, bool python) {
    values.push_back(constant);
    return Argument::Scalar(constant.dtype, python);
  }

  Argument ReadTuple(PyObject* tuple) {
    std::vector<Argument> children;
    for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); ++i) {
      children.push_back(Read(PyTuple_GetItem(tuple, i)));
    }
    return Argument::Tuple(std::move(children));
  }

  Argument ReadList(PyObject* list) {
    const PyRef module = Checked(PyImport_ImportModule("array"));
    const bool is_int = PyList_Size(list) > 0 && PyLong_CheckExact(PyList_GetItem(list, 0));
    const PyRef array =
        Checked(PyObject_CallMethod(module.get(), "array", "sO", is_int ? "q" : "d", list));
    Argument argument = ReadBuffer(array.get());
    argument.is_list = true;
    argument.writable = false;
    argument.python = true;
    return argument;
  }

  Argument ReadBuffer(PyObject* object) {
    Py_buffer buffer;
    if (PyObject_GetBuffer(object, &buffer, PyBUF_FULL_RO) != 0) FailFromPython();
    buffers_.push_back(buffer);
    const ir::DType dtype = DTypeOfFormat(buffer.format, buffer.itemsize);
    if (buffer.ndim == 0 && !PyMemoryView_Check(object)) {
      return Scalar(ir::LoadElement(dtype, static_cast<std::byte*>(buffer.buf)), false);
    }
    ir::ArrayValue array;
    array.dtype = dtype;
    array.data = static_cast<std::byte*>(buffer.buf);
    std::vector<bool> units;
    for (int i = 0; i < buffer.ndim; ++i) {
      array.sizes.push_back(buffer.shape[i]);
      array.strides.push_back(buffer.strides[i]);
      units.push_back(buffer.shape[i] == 1);
    }
    values.push_back(std::move(array));
    Argument argument = Argument::Array(
        dtype, std::move(units),
        PyBuffer_IsContiguous(&buffer, 'C') ? ir::Layout::kC : ir::Layout::kStrided);
    argument.writable = buffer.readonly == 0;
    return argument;
  }

  std::vector<Py_buffer> buffers_;
};

PyRef ObjectOf(const ir::Constant& c) {
  if (ir::IsBool(c.dtype)) return PyRef::Steal(PyBool_FromLong(c.integer));
  if (ir::IsUnsigned(c.dtype)) return PyRef::Steal(PyLong_FromUnsignedLongLong(c.integer));
  if (ir::IsInteger(c.dtype)) return PyRef::Steal(PyLong_FromLongLong(c.integer));
  if (ir::IsComplex(c.dtype)) return PyRef::Steal(PyComplex_FromDoubles(c.real, c.imag));
  return PyRef::Steal(PyFloat_FromDouble(c.real));
}

PyRef ObjectOf(const ir::ArrayValue& given) {
  const ir::ArrayValue array = ir::CopyOf(given);
  const int64_t bytes = ir::CountOf(array.sizes) * ir::SizeInBytes(array.dtype);
  const PyRef memory = Checked(PyByteArray_FromStringAndSize(
      reinterpret_cast<const char*>(array.data), static_cast<Py_ssize_t>(bytes)));
  const PyRef shape = Checked(PyTuple_New(array.rank()));
  for (int i = 0; i < array.rank(); ++i) {
    PyTuple_SetItem(shape.get(), i, PyLong_FromLongLong(array.sizes[i]));
  }
  const PyRef view = Checked(PyMemoryView_FromObject(memory.get()));
  // memoryview cannot be cast to a shape without elements.
  if (bytes == 0) {
    return Checked(PyObject_CallMethod(view.get(), "cast", "s", FormatOf(array.dtype)));
  }
  return Checked(PyObject_CallMethod(view.get(), "cast", "sO", FormatOf(array.dtype), shape.get()));
}

std::string PythonName(ir::DType dtype) {
  if (ir::IsBool(dtype)) return "bool";
  if (ir::IsComplex(dtype)) return "complex";
  return ir::IsFloat(dtype) ? "float" : "int";
}

PyRef ResultOf(const ResultTree& tree, const ir::Values& values, std::string* types) {
  switch (tree.kind) {
    case ResultTree::Kind::kNone: *types += "None"; return PyRef::Borrow(Py_None);
    case ResultTree::Kind::kScalar: {
      const auto& constant = std::get<ir::Constant>(values[tree.result]);
      *types += tree.python ? PythonName(constant.dtype) : NumpyName(constant.dtype);
      return ObjectOf(constant);
    }
    case ResultTree::Kind::kArray: {
      const auto& array = std::get<ir::ArrayValue>(values[tree.result]);
      *types += std::string(NumpyName(array.dtype)) + "[" + std::to_string(array.rank()) + "]";
      return ObjectOf(array);
    }
    case ResultTree::Kind::kTuple:
    case ResultTree::Kind::kList: break;
  }
  const PyRef tuple = Checked(PyTuple_New(static_cast<Py_ssize_t>(tree.children.size())));
  *types += "(";
  for (size_t i = 0; i < tree.children.size(); ++i) {
    if (i > 0) *types += ", ";
    const PyRef child = ResultOf(tree.children[i], values, types);
    Py_INCREF(child.get());
    PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i), child.get());
  }
  *types += ")";
  return tuple;
}

std::string RaisedText(const ir::Program& program, const ir::RunError& error) {
  if (error.site < 0) return error.site == ir::kMemorySite ? "MemoryError" : "RecursionError";
  const ir::Site& site = program.sites[error.site];
  const PyRef format = Checked(PyUnicode_FromString(site.message.c_str()));
  const PyRef scalars = Checked(PyTuple_New(static_cast<Py_ssize_t>(error.scalars.size())));
  for (size_t i = 0; i < error.scalars.size(); ++i) {
    const PyRef scalar = ObjectOf(error.scalars[i]);
    Py_INCREF(scalar.get());
    PyTuple_SetItem(scalars.get(), static_cast<Py_ssize_t>(i), scalar.get());
  }
  const PyRef method = Checked(PyObject_GetAttrString(format.get(), "format"));
  const PyRef message = Checked(PyObject_CallObject(method.get(), scalars.get()));
  return site.exception + ": " + TextOf(message.get());
}

// Builds, with the parameters static that have to be. Values of static arguments are left out.
Built BuildWithStatics(PyObject* function, PyObject* arguments, ArgumentReader* reader,
                       const std::shared_ptr<ir::SourceMap>& sources) {
  std::vector<bool> is_static(static_cast<size_t>(PyTuple_Size(arguments)));
  for (;;) {
    Request request{function, {}};
    reader->values.clear();
    for (size_t i = 0; i < is_static.size(); ++i) {
      PyObject* object = PyTuple_GetItem(arguments, static_cast<Py_ssize_t>(i));
      request.arguments.push_back(is_static[i] ? Argument::Static(PyRef::Borrow(object), "static")
                                               : reader->Read(object));
    }
    try {
      return BuildIr(request, sources);
    } catch (const NeedStatic& need) {
      if (is_static.at(need.parameter)) ir::FailBug("a static parameter is asked for again");
      is_static[need.parameter] = true;
    }
  }
}

// The object that a capture names now.
PyRef Reread(const Capture& capture) {
  Resolver resolver(nullptr, nullptr);
  PyRef object = resolver.Find(capture.function.get(), capture.name).object;
  for (const int index : capture.path) {
    object = PyRef::Borrow(PyTuple_GetItem(object.get(), index));
  }
  return object;
}

}  // namespace

IrRun RunAsIr(PyObject* function, PyObject* arguments) {
  IrRun run;
  const auto sources = std::make_shared<ir::SourceMap>();
  ArgumentReader reader;
  try {
    const Built built = BuildWithStatics(function, arguments, &reader, sources);
    run.ir = ir::Print(built.program);
    ir::VerifyOrFail(built.program, ir::Stage::kParallel, "frontend");
    for (const Capture& capture : built.captures) reader.Read(Reread(capture).get());
    const ir::RunResult result =
        ir::Interpret(built.program, built.program.functions[0]->name, reader.values);
    if (result.error) {
      run.raised = RaisedText(built.program, *result.error);
    } else {
      run.result = ResultOf(built.results, result.values, &run.types);
    }
  } catch (const ir::Failure& failure) {
    run.refused = failure.exception() + ": " + ir::Render(failure, *sources);
  }
  return run;
}

}  // namespace parakeet::frontend
