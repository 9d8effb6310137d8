#include "pylib/core/device_lines.h"

#include <cstring>
#include <map>
#include <string>
#include <tuple>

#include "pylib/core/compiler_library.h"
#include "pylib/core/device_dispatch.h"

namespace parakeet::pylib {

// Which instruction of which code; its line is looked up when somebody asks.
using Place = std::tuple<const runtime::Device*, PyObject*, long>;

struct DeviceLine {
  Place place;
  Ref code;
  int64_t bytes = 0;
  int64_t buffers = 0;
};

namespace {

bool is_counting = false;

// Used with the GIL held. What holds nothing is not there.
std::map<Place, DeviceLine>& Lines() {
  static auto* const lines = new std::map<Place, DeviceLine>;
  return *lines;
}

bool IsOurs(PyObject* code) {
  static const std::string folder = PackageFolder() + "/";
  Ref file = Ref::Steal(PyObject_GetAttrString(code, "co_filename"));
  const char* text = file ? PyUnicode_AsUTF8AndSize(file.get(), nullptr) : nullptr;
  return text != nullptr && std::strncmp(text, folder.c_str(), folder.size()) == 0;
}

// The innermost frame of others, and its code.
Ref FindFrame(Ref* code) {
  Ref frame = Ref::Borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame && frame.get() != Py_None) {
    *code = Ref::Steal(reinterpret_cast<PyObject*>(
        PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(frame.get()))));
    if (!IsOurs(code->get())) return frame;
    frame = Ref::Steal(PyObject_GetAttrString(frame.get(), "f_back"));
  }
  return Ref();
}

}  // namespace

DeviceLine* CountBuffer(const runtime::Device* device, int64_t bytes) {
  if (!is_counting) return nullptr;
  Ref code;
  const Ref frame = FindFrame(&code);
  const Ref offset = frame ? Ref::Steal(PyObject_GetAttrString(frame.get(), "f_lasti")) : Ref();
  if (!offset) {
    PyErr_Clear();
    return nullptr;
  }
  const Place place = {device, code.get(), PyLong_AsLong(offset.get())};
  DeviceLine& line = Lines()[place];
  if (!line.code) line.place = place, line.code = code;
  line.bytes += bytes;
  line.buffers += 1;
  return &line;
}

void UncountBuffer(DeviceLine* line, int64_t bytes) {
  if (line == nullptr) return;
  line->bytes -= bytes;
  line->buffers -= 1;
  if (line->buffers > 0) return;
  const Ref code = line->code;  // What its end runs may come here again.
  Lines().erase(Place(line->place));
}

PyObject* CountDeviceLines(PyObject*, PyObject* is_on) {
  const int value = PyObject_IsTrue(is_on);
  if (value < 0) return nullptr;
  is_counting = value != 0;
  return Ref::Borrow(Py_None).release();
}

PyObject* DeviceLines(PyObject*, PyObject* number) {
  const long target = PyLong_AsLong(number);
  if (target == -1 && PyErr_Occurred()) return nullptr;
  const runtime::Device* device = OpenDeviceOf(int(target));
  Ref list = device != nullptr ? Ref::Steal(PyList_New(0)) : Ref();
  if (!list) return nullptr;
  for (const auto& [place, line] : Lines()) {
    if (std::get<0>(place) != device) continue;
    Ref row = Ref::Steal(Py_BuildValue("(OlLL)", line.code.get(), std::get<2>(place),
                                       (long long)line.bytes, (long long)line.buffers));
    if (!row || PyList_Append(list.get(), row.get()) != 0) return nullptr;
  }
  return list.release();
}

}  // namespace parakeet::pylib
