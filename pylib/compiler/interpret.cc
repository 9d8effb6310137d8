#include "pylib/compiler/interpret.h"

#include <bit>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/diagnostics.h"
#include "ir/interpreter.h"

namespace parakeet::pylib {
namespace {

using ir::ArrayValue;
using ir::Constant;
using ir::DType;

// Slots hold a scalar's bytes, integers widened to 64 bits (runtime/abi.h); ir::LoadElement and
// StoreElement have the narrow bytes.
Constant FromSlots(DType dtype, const uint64_t* slots) {
  std::byte bytes[16] = {};
  if (dtype == DType::kC64) {
    std::memcpy(bytes, &slots[0], 4);
    std::memcpy(bytes + 4, &slots[1], 4);
  } else {
    std::memcpy(bytes, slots, size_t(ir::SizeInBytes(dtype)));
  }
  return ir::LoadElement(dtype, bytes);
}

int ToSlots(const Constant& value, uint64_t* slots) {
  if (!ir::IsFloat(value.dtype) && !ir::IsComplex(value.dtype)) {
    slots[0] = uint64_t(value.integer);
    return 1;
  }
  std::byte bytes[16] = {};
  ir::StoreElement(value, bytes);
  const bool is_complex = ir::IsComplex(value.dtype);
  const size_t part = size_t(ir::SizeInBytes(value.dtype)) / (is_complex ? 2 : 1);
  slots[0] = 0;
  std::memcpy(&slots[0], bytes, part);
  if (!is_complex) return 1;
  slots[1] = 0;
  std::memcpy(&slots[1], bytes + part, part);
  return 2;
}

class Interpretation {
 public:
  Interpretation(const ir::Program& program, const PkRuntime& runtime, PkCall* call)
      : program_(program), entry_(*program.functions.front()), runtime_(runtime), call_(call) {
    allocate_ = reinterpret_cast<decltype(allocate_)>(runtime.symbol("pk_alloc"));
    fail_ = reinterpret_cast<decltype(fail_)>(runtime.symbol("pk_fail"));
    call_library_ = reinterpret_cast<decltype(call_library_)>(runtime.symbol("pk_library_call"));
  }

  int32_t Run(const uint64_t* args, uint64_t* results) {
    ir::Values arguments;
    for (const ir::Param& param : entry_.params) arguments.push_back(Take(param.var->type, &args));
    const ir::CallLibrary library = [this](const std::string& symbol, const std::string& signature,
                                           const std::vector<uint64_t>& operands) {
      const void* routine = runtime_.symbol(symbol.c_str());
      if (routine == nullptr) ir::FailLimitation(runtime_.why_missing(symbol.c_str()), {});
      return call_library_(call_, routine, signature.c_str(), operands.data());
    };
    ir::RunResult result = ir::Interpret(program_, entry_.name, std::move(arguments), library);
    if (result.error) return Fail(*result.error);
    for (const ir::RuntimeValue& value : result.values) {
      if (const Constant* scalar = std::get_if<Constant>(&value)) {
        results += ToSlots(*scalar, results);
      } else if (!Give(std::get<ArrayValue>(value), &results)) {
        return 1;
      }
    }
    return 0;
  }

 private:
  // The argument at `*args`. Each array has a storage of its own, empty: a sign by which a view of
  // it is known again.
  ir::RuntimeValue Take(const ir::Type& type, const uint64_t** args) {
    const uint64_t* slots = *args;
    if (!type.IsArray()) {
      *args += ir::IsComplex(type.dtype()) ? 2 : 1;
      return FromSlots(type.dtype(), slots);
    }
    const int rank = type.rank();
    *args += PkArraySlots(rank);
    ArrayValue array;
    array.dtype = type.dtype();
    array.data = reinterpret_cast<std::byte*>(slots[0]);
    array.sizes.assign(slots + 1, slots + 1 + rank);
    array.strides.assign(slots + 1 + rank, slots + 1 + 2 * rank);
    array.storage = std::make_shared<std::vector<std::byte>>();
    const int64_t number = int64_t(roots_.size());
    roots_[array.storage.get()] = {number, nullptr};
    return array;
  }

  // Writes an array result; false with the error slot set when there is no memory.
  bool Give(const ArrayValue& array, uint64_t** results) {
    const auto [known, is_new] =
        roots_.try_emplace(array.storage.get(), Root{-1 - fresh_, nullptr});
    Root& root = known->second;
    if (is_new) {
      ++fresh_;
      root.base = allocate_(call_, int64_t(array.storage->size()));
      if (root.base == nullptr) return false;
      std::memcpy(root.base, array.storage->data(), array.storage->size());
    }
    std::byte* data = array.data;
    if (root.base != nullptr) data = root.base + (array.data - array.storage->data());
    uint64_t* slots = *results;
    slots[0] = uint64_t(root.number);
    slots[1] = reinterpret_cast<uint64_t>(root.base);
    slots[2] = reinterpret_cast<uint64_t>(data);
    std::copy(array.sizes.begin(), array.sizes.end(), slots + 3);
    std::copy(array.strides.begin(), array.strides.end(), slots + 3 + array.rank());
    *results += PkArrayResultSlots(array.rank());
    return true;
  }

  int32_t Fail(const ir::RunError& error) {
    std::vector<int64_t> scalars;
    for (const Constant& scalar : error.scalars) {
      uint64_t slots[2];
      const int count = ToSlots(scalar, slots);
      for (int i = 0; i < count; ++i) scalars.push_back(int64_t(slots[i]));
    }
    fail_(call_, int32_t(error.site), int32_t(error.place.size()), error.place.data(),
          int32_t(scalars.size()), scalars.data());
    return 1;
  }

  // As runtime/abi.h numbers them; the base of a fresh one is its copy in a buffer of the call.
  struct Root {
    int64_t number;
    std::byte* base;
  };

  const ir::Program& program_;
  const ir::Function& entry_;
  const PkRuntime& runtime_;
  PkCall* call_;
  std::byte* (*allocate_)(PkCall*, int64_t);
  decltype(&pk_fail) fail_;
  decltype(&pk_library_call) call_library_;
  std::map<const void*, Root> roots_;
  int64_t fresh_ = 0;
};

}  // namespace

int32_t InterpretCall(const ir::Program& program, const PkRuntime& runtime, PkCall* call,
                      const uint64_t* args, uint64_t* results) {
  return Interpretation(program, runtime, call).Run(args, results);
}

}  // namespace parakeet::pylib
