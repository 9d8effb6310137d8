#include "pylib/core/device_results.h"

#include <algorithm>
#include <cstring>

#include "pylib/core/device_array.h"
#include "pylib/core/device_dispatch.h"
#include "pylib/core/numpy_access.h"
#include "pylib/core/raise.h"
#include "pylib/core/results.h"

namespace parakeet::pylib {
namespace {

class DeviceResultBuilder {
 public:
  DeviceResultBuilder(const Manifest& manifest, const ArrayArgument* arguments,
                      const uint64_t* slots, runtime::Device* device, int number,
                      const std::vector<KeptBuffer>& kept, const std::vector<Ref>& owners)
      : nodes_(manifest.results),
        arguments_(arguments),
        slots_(slots),
        device_(device),
        number_(number),
        kept_(kept),
        owners_(owners) {}

  // The node at `next_` and all below it.
  Ref Build() {
    const ResultNode& node = nodes_[next_++];
    switch (node.kind) {
      case ResultKind::kNone: return Ref::Borrow(Py_None);
      case ResultKind::kScalar: return Number(node);
      case ResultKind::kArray: return Array(node);
      case ResultKind::kTuple: return Parts(PyTuple_New(node.length), node.length, PyTuple_SetItem);
      case ResultKind::kList: return Parts(PyList_New(node.length), node.length, PyList_SetItem);
    }
    return Ref();
  }

 private:
  Ref Parts(PyObject* made, uint32_t length, int (*set)(PyObject*, Py_ssize_t, PyObject*)) {
    Ref parts = Ref::Steal(made);
    for (uint32_t i = 0; parts && i < length; ++i) {
      Ref item = Build();
      if (!item) return item;
      set(parts.get(), i, item.release());
    }
    return parts;
  }

  // The same array returned twice is one object.
  Ref Array(const ResultNode& node) {
    for (const Built& built : built_) {
      if (HasSameSlots(node, *built.node)) return built.array;
    }
    Ref array = int64_t(slots_[node.slot]) >= 0 ? OfArgument(node) : Fresh(node);
    built_.push_back({&node, array});
    return array;
  }

  bool HasSameSlots(const ResultNode& a, const ResultNode& b) const {
    return a.type == b.type && a.rank == b.rank && a.is_view == b.is_view &&
           std::memcmp(slots_ + a.slot, slots_ + b.slot, (3 + 2 * a.rank) * sizeof(uint64_t)) == 0;
  }

  Ref OfArgument(const ResultNode& node) const {
    const ArrayArgument& argument = arguments_[slots_[node.slot]];
    if (!IsDeviceArray(argument.original)) {
      return Ref::Steal(BuildArgumentView(node, argument, slots_));
    }
    if (!node.is_view && IsWholeArgument(node, argument, slots_)) {
      PyObject* lender = LenderOf(argument.original);
      return Ref::Borrow(lender != nullptr ? lender : argument.original);
    }
    return OnDevice(Ref::Steal(BuildViewOf(node, slots_, argument.array)),
                    StreamOf(argument.original));
  }

  Ref Fresh(const ResultNode& node) const {
    return OnDevice(Ref::Steal(BuildViewOf(node, slots_, OwnerOf(node).get())));
  }

  Ref OwnerOf(const ResultNode& node) const {
    const auto base = reinterpret_cast<void*>(slots_[node.slot + 1]);
    const auto found = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const KeptBuffer& each) { return each.address == base; });
    return owners_[size_t(found - kept_.begin())];
  }

  // Python's numbers are here; NumPy's are numbers on the device.
  Ref Number(const ResultNode& node) const {
    if (!node.is_kept) {
      Ref item = Ref::Steal(BuildScalar(node.type, node.python, slots_ + node.slot));
      return item && !node.python ? MoveUp(node, item) : item;
    }
    return NumberAt(reinterpret_cast<void*>(slots_[node.slot + 2]), node.type, OwnerOf(node));
  }

  // What the host knows already.
  Ref MoveUp(const ResultNode& node, const Ref& item) const {
    alignas(16) char value[16];
    const int64_t bytes = SizeOfType(node.type);
    SlotsToScalar(node.type, slots_ + node.slot, value);
    void* buffer = device_->Allocate(bytes);
    if (buffer == nullptr) {
      RaiseDeviceMemory(device_, bytes, device_->Counters().live_bytes);
      return Ref();
    }
    const Ref owner = Ref::Steal(OwnOnDevice(device_, buffer, bytes));
    if (!owner) return owner;
    int32_t code = device_->CopyUp(buffer, value, bytes);
    if (code == 0) code = device_->Share();
    if (code != 0) {
      RaiseDeviceError(runtime::DeviceErrorText(code));
      return Ref();
    }
    Ref number = NumberAt(buffer, node.type, owner);
    if (number) KeepItem(number.get(), item.get());
    return number;
  }

  Ref NumberAt(void* address, int type, const Ref& owner) const {
    Ref addresses = Ref::Steal(BuildNumberAt(address, type, owner.get()));
    return addresses ? Ref::Steal(MakeDeviceNumber(addresses.get(), number_)) : Ref();
  }

  Ref OnDevice(const Ref& addresses, int64_t stream = kOurStreams) const {
    return addresses ? Ref::Steal(MakeDeviceArray(addresses.get(), number_, stream)) : Ref();
  }

  struct Built {
    const ResultNode* node;
    Ref array;
  };

  const std::vector<ResultNode>& nodes_;
  const ArrayArgument* arguments_;
  const uint64_t* slots_;
  runtime::Device* const device_;
  const int number_;
  const std::vector<KeptBuffer>& kept_;
  const std::vector<Ref>& owners_;
  size_t next_ = 0;
  std::vector<Built> built_;
};

}  // namespace

PyObject* BuildDeviceResult(const Manifest& manifest, const ArrayArgument* arguments,
                            const uint64_t* slots, runtime::Device* device, int number,
                            const std::vector<KeptBuffer>& kept) {
  std::vector<Ref> owners;
  bool are_owned = true;
  for (const KeptBuffer& buffer : kept) {
    owners.push_back(Ref::Steal(OwnOnDevice(device, buffer.address, buffer.bytes)));
    are_owned &= bool(owners.back());
  }
  if (!are_owned) return nullptr;
  return DeviceResultBuilder(manifest, arguments, slots, device, number, kept, owners)
      .Build()
      .release();
}

}  // namespace parakeet::pylib
