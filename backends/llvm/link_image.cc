#include "backends/llvm/link_image.h"

#include <cstring>
#include <deque>
#include <map>
#include <vector>

#include "ir/diagnostics.h"
#include "llvm/ADT/StringExtras.h"
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

// One object, read.
class Object {
 public:
  explicit Object(StringRef bytes) : file_(Require(ElfFile::create(bytes))) {
    sections_ = Require(file_.sections());
    const Section* table = nullptr;
    for (const Section& section : sections_) {
      if (section.sh_type == llvm::ELF::SHT_SYMTAB) table = &section;
    }
    if (table == nullptr) ir::FailBug("cannot link an object without symbols");
    symbols_ = Require(file_.symbols(table));
    names_ = Require(file_.getStringTableForSymtab(*table));
  }

  llvm::ArrayRef<Section> sections() const { return sections_; }
  llvm::ArrayRef<Symbol> symbols() const { return symbols_; }
  const Symbol& SymbolOf(const Relocation& relocation) const {
    return symbols_[relocation.getSymbol(false)];
  }
  std::string NameOf(const Symbol& symbol) const { return Require(symbol.getName(names_)).str(); }
  std::string NameOf(const Section& section) const {
    return Require(file_.getSectionName(section)).str();
  }
  StringRef Contents(const Section& section) const {
    return llvm::toStringRef(Require(file_.getSectionContents(section)));
  }
  auto Relocations(const Section& section) const { return Require(file_.relas(section)); }
  std::string TypeOf(const Relocation& relocation) const {
    return file_.getRelocationTypeName(relocation.getType(false)).str();
  }

 private:
  ElfFile file_;
  llvm::ArrayRef<Section> sections_;
  llvm::ArrayRef<Symbol> symbols_;
  StringRef names_;
};

// A symbol where it is defined, or, of an import, where it is asked for.
struct Definition {
  const Object* object;
  const Symbol* symbol;

  bool IsImport() const { return symbol->st_shndx == llvm::ELF::SHN_UNDEF; }
  std::string Name() const { return object->NameOf(*symbol); }
};

class Linker {
 public:
  explicit Linker(llvm::ArrayRef<StringRef> objects) {
    for (StringRef bytes : objects) objects_.emplace_back(bytes);
    for (const Object& object : objects_) NoteDefinitions(object);
  }

  std::string Link(StringRef entry) {
    for (const Object& object : objects_) {
      for (const Section& section : object.sections()) Place(object, section);
    }
    ForEachRelocation([this](const Object& object, const Home&, const Relocation& relocation) {
      Prepare(object, relocation);
    });
    PlaceStubs();
    ForEachRelocation([this](const Object& object, const Home& home, const Relocation& relocation) {
      Apply(object, home, relocation);
    });
    return Write(OffsetOf(entry));
  }

 private:
  // Where a section went: into text at an offset, or into the table from a slot on.
  struct Home {
    bool in_table = false;
    uint64_t start = 0;
  };

  // What other objects may ask for.
  void NoteDefinitions(const Object& object) {
    for (const Symbol& symbol : object.symbols()) {
      const Definition definition = {&object, &symbol};
      if (symbol.getBinding() == llvm::ELF::STB_LOCAL || definition.IsImport()) continue;
      if (!definitions_.emplace(definition.Name(), definition).second) {
        ir::FailBug("cannot link two definitions of " + definition.Name());
      }
    }
  }

  void Place(const Object& object, const Section& section) {
    if (!(section.sh_flags & llvm::ELF::SHF_ALLOC) || section.sh_size == 0) return;
    const std::string name = object.NameOf(section);
    if (StringRef(name).starts_with(".eh_frame")) return;
    const bool is_relro = StringRef(name).starts_with(".data.rel.ro");
    const bool is_writable = (section.sh_flags & llvm::ELF::SHF_WRITE) && !is_relro;
    if (is_writable || section.sh_type == llvm::ELF::SHT_NOBITS) {
      ir::FailBug("cannot link writable data in section " + name);
    }
    const StringRef bytes = object.Contents(section);
    if (!is_relro) {
      text_.resize(AlignUp(text_.size(), section.sh_addralign));
      homes_[&section] = {false, text_.size()};
      text_.append(bytes.data(), bytes.size());
      return;
    }
    // The table begins on a page.
    slots_.resize(AlignUp(slots_.size(), section.sh_addralign / 8), PkImageSlot());
    homes_[&section] = {true, slots_.size()};
    for (size_t at = 0; at < bytes.size(); at += 8) {
      PkImageSlot slot = {kPkSlotLiteral, 0, 0};
      std::memcpy(&slot.value, bytes.data() + at, std::min<size_t>(8, bytes.size() - at));
      slots_.push_back(slot);
    }
  }

  template <typename Visit>
  void ForEachRelocation(Visit visit) {
    for (const Object& object : objects_) {
      for (const Section& section : object.sections()) {
        if (section.sh_type == llvm::ELF::SHT_REL) ir::FailBug("cannot link SHT_REL relocations");
        if (section.sh_type != llvm::ELF::SHT_RELA) continue;
        const auto home = homes_.find(&object.sections()[section.sh_info]);
        if (home == homes_.end()) continue;
        for (const Relocation& relocation : object.Relocations(section)) {
          visit(object, home->second, relocation);
        }
      }
    }
  }

  Definition Resolve(const Object& object, const Relocation& relocation) const {
    const Definition asked = {&object, &object.SymbolOf(relocation)};
    if (!asked.IsImport()) return asked;
    const auto found = definitions_.find(asked.Name());
    return found == definitions_.end() ? asked : found->second;
  }

  static bool IsTableReference(uint32_t type) {
    return type == llvm::ELF::R_X86_64_GOTPCREL || type == llvm::ELF::R_X86_64_GOTPCRELX ||
           type == llvm::ELF::R_X86_64_REX_GOTPCRELX;
  }

  // Gives slots and stubs to what needs them, before text has its final size.
  void Prepare(const Object& object, const Relocation& relocation) {
    const Definition definition = Resolve(object, relocation);
    if (!definition.IsImport()) return;
    SlotOfImport(definition);
    if (relocation.getType(false) == llvm::ELF::R_X86_64_PLT32) {
      stubs_.emplace(definition.Name(), 0);
    }
  }

  uint64_t SlotOfImport(const Definition& import) {
    const std::string name = import.Name();
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
  uint64_t AddressOf(const Definition& definition) const {
    const auto sections = definition.object->sections();
    const size_t index = definition.symbol->st_shndx;
    const auto home = index < sections.size() ? homes_.find(&sections[index]) : homes_.end();
    if (home == homes_.end()) ir::FailBug("cannot link the symbol " + definition.Name());
    const uint64_t start =
        home->second.in_table ? TableAddress(home->second.start) : home->second.start;
    return start + definition.symbol->st_value;
  }

  [[noreturn]] static void Refuse(const Object& object, const Relocation& relocation) {
    ir::FailBug("cannot link " + object.TypeOf(relocation) + " of " +
                object.NameOf(object.SymbolOf(relocation)));
  }

  void Apply(const Object& object, const Home& home, const Relocation& relocation) {
    if (home.in_table) return FillSlot(object, home.start, relocation);
    const Definition definition = Resolve(object, relocation);
    const bool is_import = definition.IsImport();
    const uint32_t type = relocation.getType(false);
    const uint64_t place = home.start + relocation.r_offset;
    uint64_t target;
    if (IsTableReference(type)) {
      target = TableAddress(is_import ? SlotOfImport(definition) : SlotOfInternal(definition));
    } else if (type == llvm::ELF::R_X86_64_PLT32 && is_import) {
      target = stubs_.at(definition.Name());
    } else if ((type == llvm::ELF::R_X86_64_PC32 || type == llvm::ELF::R_X86_64_PLT32) &&
               !is_import) {
      target = AddressOf(definition);
    } else {
      Refuse(object, relocation);
    }
    Patch32(place, target + relocation.r_addend - place, "a reference");
  }

  void FillSlot(const Object& object, uint64_t first, const Relocation& relocation) {
    const Definition definition = Resolve(object, relocation);
    const bool is_import = definition.IsImport();
    const bool is_word =
        relocation.getType(false) == llvm::ELF::R_X86_64_64 && relocation.r_offset % 8 == 0;
    if (!is_word || (is_import && relocation.r_addend != 0)) Refuse(object, relocation);
    PkImageSlot& slot = slots_[first + relocation.r_offset / 8];
    if (is_import) {
      slot = slots_[SlotOfImport(definition)];
    } else {
      slot = {kPkSlotInternal, 0, AddressOf(definition) + relocation.r_addend};
    }
  }

  uint64_t SlotOfInternal(const Definition& definition) {
    const uint64_t address = AddressOf(definition);
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

  uint64_t OffsetOf(StringRef entry) const {
    const auto found = definitions_.find(entry.str());
    if (found == definitions_.end()) ir::FailBug("cannot link: no function " + entry.str());
    return AddressOf(found->second);
  }

  std::string Write(uint64_t entry) const {
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

  std::deque<Object> objects_;  // stay where they are
  std::map<std::string, Definition> definitions_;
  std::string text_;
  std::vector<PkImageSlot> slots_;
  std::string image_names_;
  std::map<const Section*, Home> homes_;
  std::map<std::string, uint64_t> imports_;  // slots, by name
  std::map<std::string, uint64_t> stubs_;    // offsets in text, by name
  std::map<uint64_t, uint64_t> internals_;   // slots, by address
};

}  // namespace

std::string LinkImage(llvm::ArrayRef<StringRef> objects, StringRef entry) {
  return Linker(objects).Link(entry);
}

}  // namespace parakeet::backends
