#include "pylib/core/question.h"

#include "pylib/build_id.h"
#include "pylib/core/fingerprint.h"
#include "pylib/key.h"
#include "runtime/abi.h"
#include "runtime/cpu_identity.h"

namespace parakeet::pylib {
namespace {

std::string NumpyVersion() {
  const Ref numpy = Ref::Steal(PyImport_ImportModule("numpy"));
  const Ref version =
      Ref::Steal(numpy ? PyObject_GetAttrString(numpy.get(), "__version__") : nullptr);
  const char* text = version ? PyUnicode_AsUTF8AndSize(version.get(), nullptr) : nullptr;
  PyErr_Clear();
  return text == nullptr ? "" : text;
}

// The same for every function of the process.
const std::string& Surroundings() {
  static const std::string* const kText = [] {
    Fingerprint text;
    text.AddText(BuildId());
    text.AddText(runtime::CpuIdentity());
    text.AddText(NumpyVersion());
    text.AddWord(Py_Version);
    return new std::string(text.Take());
  }();
  return *kText;
}

// Which libNVVM there is, by parakeet.libnvvm.
std::string LibNvvmIdentity() {
  const Ref module = Ref::Steal(PyImport_ImportModule("parakeet.libnvvm"));
  const Ref identity =
      Ref::Steal(module ? PyObject_CallMethod(module.get(), "identity", nullptr) : nullptr);
  const char* text = identity ? PyUnicode_AsUTF8AndSize(identity.get(), nullptr) : nullptr;
  PyErr_Clear();
  return text == nullptr ? "" : text;
}

void AddStatic(PyObject* object, bool with_value, Fingerprint* text) {
  Arguments scratch;
  const Encoded result = EncodeArgument(object, 0, &scratch);
  if (result != Encoded::kYes) PyErr_Clear();
  if (!with_value && result == Encoded::kYes && scratch.statics.size() == 0) {
    for (uint64_t word : scratch.key) text->AddWord(word);
    return;
  }
  // The hash that follows this word in a key is the process's own.
  text->AddWord(ArgumentWord::Static().bits());
  text->AddDeep(object);
}

std::string Ask(const FunctionState& function, const Arguments& call, bool with_values,
                uint64_t header) {
  Fingerprint text;
  text.AddText(Surroundings());
  text.AddWord(function.boundscheck);
  text.AddDeep(function.fastmath.get());
  text.AddDeep(function.function.get());
  if (UsesLibNvvm(call.key[0])) text.AddText(LibNvvmIdentity());
  size_t next_static = 0;
  text.AddWord(header);
  for (size_t at = 1; at < call.key.size(); ++at) {
    const uint64_t word = call.key[at];
    if (ArgumentWord(word).kind() != ArgumentKind::kStatic) {
      const bool is_bare = ArgumentWord(word).IsArray() && !with_values;
      text.AddWord(is_bare ? ArgumentWord(word).WithoutSaidLengths().bits() : word);
      continue;
    }
    ++at;  // the hash
    AddStatic(call.statics[next_static++], with_values, &text);
  }
  return text.is_certain() ? text.Take() : "";
}

void AppendHexadecimal(uint64_t word, std::string* text) {
  for (int shift = 60; shift >= 0; shift -= 4)
    text->push_back("0123456789abcdef"[word >> shift & 15]);
}

}  // namespace

std::string QuestionOf(const FunctionState& function, const Arguments& call) {
  return Ask(function, call, true, call.key[0]);
}

std::string QuestionOf(const FunctionState& function, const Arguments& call, uint64_t header) {
  return Ask(function, call, true, header);
}

std::string QuestionOfTypes(const FunctionState& function, const Arguments& call) {
  return Ask(function, call, false, call.key[0]);
}

std::string NameOfQuestion(const std::string& question) {
  const uint64_t first = PkImageChecksum(question.data(), question.size());
  const std::string again = question + std::string(reinterpret_cast<const char*>(&first), 8);
  std::string name;
  AppendHexadecimal(first, &name);
  AppendHexadecimal(PkImageChecksum(again.data(), again.size()), &name);
  return name;
}

}  // namespace parakeet::pylib
