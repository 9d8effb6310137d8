#include "backends/llvm/link_image.h"

#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "ir/diagnostics.h"
#include "llvm/Object/ELF.h"
#include "llvm/Object/ELFTypes.h"
#include "runtime/abi.h"

namespace parakeet::backends {
namespace {

using llvm::StringRef;
using Elf = llvm::object::ELF64LE;
using ElfFile = llvm::object::ELFFile<Elf>;
using Section = Elf::Shdr;
using Symbol = Elf::Sym;
using Relocation = Elf::Rela;

template <typename T>
T Require(llvm::Expected<T> value) {
  if (!value) ir::FailBug("cannot link: " + llvm::toString(value.takeError()));
  return std::move(*value);
}

uint64_t AlignUp(uint64_t offset, uint64_t alignment) {
  return alignment <= 1 ? offset : (offset + alignment - 1) / alignment * alignment;
}

constexpr uint64_t kStubBytes = 8;

class Linker {
 public:
  explicit Linker(StringRef object) : file_(Require(ElfFile::create(object))) {
    sections_ = Require(file_.sections());
    for (const Section& section : sections_) {
      if (section.sh_type == llvm::ELF::SHT_SYMTAB) symbols_section_ = &section;
    }
    if (symbols_section_ == nullptr) ir::FailBug("cannot link an object without symbols");
    symbols_ = Require(file_.symbols(symbols_section_));
    names_ = Require(file_.getStringTableForSymtab(*symbols_section_));
  }

  std::string Link(StringRef entry) {
    for (size_t i = 0; i < sections_.size(); ++i) Place(i);
    ForEachRelocation([this](size_t, const Relocation& relocation) { Prepare(relocation); });
    PlaceStubs();
    ForEachRelocation(
        [this](size_t section, const Relocation& relocation) { Apply(section, relocation); });
    return Write(OffsetOf(entry));
  }

 private:
  // Where a section went: into text at an offset, or into the table from a slot on.
  struct Home {
    bool in_table = false;
    uint64_t start = 0;
  };

  void Place(size_t index) {
    const Section& section = sections_[index];
    if (!(section.sh_flags & llvm::ELF::SHF_ALLOC) || section.sh_size == 0) return;
    const StringRef name = Require(file_.getSectionName(section));
    if (name.starts_with(".eh_frame")) return;
    const bool is_relro = name.starts_with(".data.rel.ro");
    const bool is_writable = (section.sh_flags & llvm::ELF::SHF_WRITE) && !is_relro;
    if (is_writable || section.sh_type == llvm::ELF::SHT_NOBITS) {
      ir::FailBug("cannot link writable data in section " + name.str());
    }
    const auto bytes = Require(file_.getSectionContents(section));
    if (!is_relro) {
      text_.resize(AlignUp(text_.size(), section.sh_addralign));
      homes_[index] = {false, text_.size()};
      text_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return;
    }
    // The table begins on a page.
    slots_.resize(AlignUp(slots_.size(), section.sh_addralign / 8), PkImageSlot());
    homes_[index] = {true, slots_.size()};
    for (size_t at = 0; at < bytes.size(); at += 8) {
      PkImageSlot slot = {kPkSlotLiteral, 0, 0};
      std::memcpy(&slot.value, bytes.data() + at, std::min<size_t>(8, bytes.size() - at));
      slots_.push_back(slot);
    }
  }

  template <typename Visit>
  void ForEachRelocation(Visit visit) {
    for (const Section& section : sections_) {
      if (section.sh_type == llvm::ELF::SHT_REL) ir::FailBug("cannot link SHT_REL relocations");
      if (section.sh_type != llvm::ELF::SHT_RELA || homes_.count(section.sh_info) == 0) continue;
      for (const Relocation& relocation : Require(file_.relas(section))) {
        visit(section.sh_info, relocation);
      }
    }
  }

  const Symbol& SymbolOf(const Relocation& relocation) {
    return symbols_[relocation.getSymbol(false)];
  }
  std::string NameOf(const Symbol& symbol) { return Require(symbol.getName(names_)).str(); }
  static bool IsImport(const Symbol& symbol) { return symbol.st_shndx == llvm::ELF::SHN_UNDEF; }

  static bool IsTableReference(uint32_t type) {
    return type == llvm::ELF::R_X86_64_GOTPCREL || type == llvm::ELF::R_X86_64_GOTPCRELX ||
           type == llvm::ELF::R_X86_64_REX_GOTPCRELX;
  }

  // Gives slots and stubs to what needs them, before text has its final size.
  void Prepare(const Relocation& relocation) {
    const Symbol& symbol = SymbolOf(relocation);
    const uint32_t type = relocation.getType(false);
    if (!IsImport(symbol)) return;
    SlotOfImport(symbol);
    if (type == llvm::ELF::R_X86_64_PLT32) stubs_.emplace(NameOf(symbol), 0);
  }

  uint64_t SlotOfImport(const Symbol& symbol) {
    const std::string name = NameOf(symbol);
    const auto [place, is_new] = imports_.emplace(name, slots_.size());
    if (is_new) {
      slots_.push_back({kPkSlotImport, uint32_t(image_names_.size()), 0});
      image_names_.append(name.c_str(), name.size() + 1);
    }
    return place->second;
  }

  // jmp *[rip + slot], padded with int3.
  void PlaceStubs() {
    text_.resize(AlignUp(text_.size(), kStubBytes));
    for (auto& [name, offset] : stubs_) {
      offset = text_.size();
      text_.append("\xff\x25\0\0\0\0\xcc\xcc", kStubBytes);
    }
    for (const auto& [name, offset] : stubs_) {
      Patch32(offset + 2, TableAddress(imports_.at(name)) - (offset + 6), "a stub");
    }
  }

  uint64_t TableAddress(uint64_t slot) const { return PkImageTableOffset(text_.size()) + 8 * slot; }

  // The place of a defined symbol, from the start of text.
  uint64_t AddressOf(const Symbol& symbol) {
    const auto home = homes_.find(symbol.st_shndx);
    if (home == homes_.end()) ir::FailBug("cannot link the symbol " + NameOf(symbol));
    const uint64_t start =
        home->second.in_table ? TableAddress(home->second.start) : home->second.start;
    return start + symbol.st_value;
  }

  [[noreturn]] void Refuse(const Relocation& relocation) {
    const uint32_t type = relocation.getType(false);
    ir::FailBug("cannot link " + file_.getRelocationTypeName(type).str() + " of " +
                NameOf(SymbolOf(relocation)));
  }

  void Apply(size_t section, const Relocation& relocation) {
    const Home& home = homes_.at(section);
    if (home.in_table) return FillSlot(home.start, relocation);
    const Symbol& symbol = SymbolOf(relocation);
    const uint32_t type = relocation.getType(false);
    const uint64_t place = home.start + relocation.r_offset;
    uint64_t target;
    if (IsTableReference(type)) {
      target = TableAddress(IsImport(symbol) ? SlotOfImport(symbol) : SlotOfInternal(symbol));
    } else if (type == llvm::ELF::R_X86_64_PLT32 && IsImport(symbol)) {
      target = stubs_.at(NameOf(symbol));
    } else if ((type == llvm::ELF::R_X86_64_PC32 || type == llvm::ELF::R_X86_64_PLT32) &&
               !IsImport(symbol)) {
      target = AddressOf(symbol);
    } else {
      Refuse(relocation);
    }
    Patch32(place, target + relocation.r_addend - place, "a reference");
  }

  void FillSlot(uint64_t first, const Relocation& relocation) {
    const Symbol& symbol = SymbolOf(relocation);
    const bool is_word =
        relocation.getType(false) == llvm::ELF::R_X86_64_64 && relocation.r_offset % 8 == 0;
    if (!is_word || (IsImport(symbol) && relocation.r_addend != 0)) Refuse(relocation);
    PkImageSlot& slot = slots_[first + relocation.r_offset / 8];
    if (IsImport(symbol)) {
      slot = slots_[SlotOfImport(symbol)];
    } else {
      slot = {kPkSlotInternal, 0, AddressOf(symbol) + relocation.r_addend};
    }
  }

  uint64_t SlotOfInternal(const Symbol& symbol) {
    const uint64_t address = AddressOf(symbol);
    const auto [place, is_new] = internals_.emplace(address, slots_.size());
    if (is_new) slots_.push_back({kPkSlotInternal, 0, address});
    return place->second;
  }

  void Patch32(uint64_t place, uint64_t distance, const char* what) {
    const int64_t wide = static_cast<int64_t>(distance);
    const int32_t narrow = static_cast<int32_t>(wide);
    if (narrow != wide) ir::FailBug(std::string("cannot link: out of reach of ") + what);
    std::memcpy(text_.data() + place, &narrow, sizeof narrow);
  }

  uint64_t OffsetOf(StringRef entry) {
    for (const Symbol& symbol : symbols_) {
      if (!IsImport(symbol) && NameOf(symbol) == entry) return AddressOf(symbol);
    }
    ir::FailBug("cannot link: no function " + entry.str());
  }

  std::string Write(uint64_t entry) {
    PkImageHeader header = {};
    std::memcpy(header.magic, kPkImageMagic, sizeof header.magic);
    header.abi_id = kPkAbiId;
    header.machine = kPkImageMachine;
    header.slot_count = slots_.size();
    header.text_size = text_.size();
    header.entry = entry;
    header.names_size = image_names_.size();
    const size_t slot_bytes = slots_.size() * sizeof(PkImageSlot);
    header.image_size = sizeof header + text_.size() + slot_bytes + image_names_.size();
    std::string image(reinterpret_cast<const char*>(&header), sizeof header);
    image += text_;
    image.append(reinterpret_cast<const char*>(slots_.data()), slot_bytes);
    image += image_names_;
    const size_t covered = offsetof(PkImageHeader, abi_id);
    header.checksum = PkImageChecksum(image.data() + covered, image.size() - covered);
    std::memcpy(image.data(), &header, sizeof header);
    return image;
  }

  ElfFile file_;
  llvm::ArrayRef<Section> sections_;
  const Section* symbols_section_ = nullptr;
  llvm::ArrayRef<Symbol> symbols_;
  StringRef names_;
  std::string text_;
  std::vector<PkImageSlot> slots_;
  std::string image_names_;
  std::map<size_t, Home> homes_;             // by section
  std::map<std::string, uint64_t> imports_;  // slots, by name
  std::map<std::string, uint64_t> stubs_;    // offsets in text, by name
  std::map<uint64_t, uint64_t> internals_;   // slots, by address
};

}  // namespace

std::string LinkImage(StringRef object, StringRef entry) { return Linker(object).Link(entry); }

}  // namespace parakeet::backends
