#include "frontend/source_lines.h"

#include <algorithm>

#include "frontend/python_errors.h"

namespace parakeet::frontend {
namespace {

// linecache may be patched by a notebook or doctest, and a loader may raise anything: an Exception
// means no lines.
PyRef OrEmpty(PyObject* list) {
  if (list == nullptr && PyErr_ExceptionMatches(PyExc_Exception) == 0) FailFromPython();
  PyErr_Clear();
  const PyRef result = PyRef::Steal(list);
  return result && PyList_Check(result.get()) ? result : Checked(PyList_New(0));
}

}  // namespace

SourceLines SourceLines::Cached(const CodeObject& code, PyObject* globals) {
  const PyRef linecache = Checked(PyImport_ImportModule("linecache"));
  const PyRef file = Checked(PyObject_GetAttrString(code.object(), "co_filename"));
  PyRef lines =
      OrEmpty(PyObject_CallMethod(linecache.get(), "getlines", "OO", file.get(), globals));
  if (PyList_Size(lines.get()) > 0) return SourceLines(std::move(lines));
  // Python 3.13 keeps what was typed at its plain prompt, by code object.
  return SourceLines(
      OrEmpty(PyObject_CallMethod(linecache.get(), "_getlines_from_code", "O", code.object())));
}

SourceLines SourceLines::Refreshed(const CodeObject& code, PyObject* globals) {
  const PyRef linecache = Checked(PyImport_ImportModule("linecache"));
  const PyRef file = Checked(PyObject_GetAttrString(code.object(), "co_filename"));
  OrEmpty(PyObject_CallMethod(linecache.get(), "checkcache", "O", file.get()));
  return Cached(code, globals);
}

SourceLines SourceLines::SplitAtNewlines() const {
  const std::string text = Join(1, count());
  PyRef list = Checked(PyList_New(0));
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size() - 1) + 1;
    const PyRef line = Checked(
        PyUnicode_FromStringAndSize(text.data() + start, static_cast<Py_ssize_t>(end - start)));
    if (PyList_Append(list.get(), line.get()) != 0) FailFromPython();
    start = end;
  }
  return SourceLines(std::move(list));
}

int32_t SourceLines::count() const {
  constexpr Py_ssize_t kMost = 100'000'000;
  return static_cast<int32_t>(std::min(kMost, PyList_Size(list_.get())));
}

std::string SourceLines::At(int32_t line) const {
  std::string text;
  if (line >= 1 && line <= count()) TryTextOf(PyList_GetItem(list_.get(), line - 1), &text);
  return text;
}

std::string SourceLines::Join(int32_t first, int32_t last) const {
  std::string result;
  for (int32_t line = std::max(1, first); line <= std::min(last, count()); ++line) {
    result += At(line);
  }
  return result;
}

std::vector<std::string> SourceLines::Slice(int32_t first, int32_t last) const {
  std::vector<std::string> result;
  for (int32_t line = first; line <= std::min(last, count()); ++line) {
    std::string text = At(line);
    text.erase(
        std::find_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }),
        text.end());
    result.push_back(std::move(text));
  }
  return result;
}

}  // namespace parakeet::frontend
