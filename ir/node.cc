#include "ir/node.h"

#include <algorithm>

namespace parakeet::ir {

std::string_view Name(Attr attr) {
  switch (attr) {
#define PARAKEET_ATTRIBUTE(name, text, kind, doc) \
  case Attr::k##name: return text;
#include "ir/attributes.def"
  }
  return "";
}

Attributes::Attributes(std::initializer_list<std::pair<Attr, AttrValue>> entries)
    : entries_(entries) {
  std::sort(entries_.begin(), entries_.end(), [](auto& a, auto& b) { return a.first < b.first; });
}

const AttrValue* Attributes::Find(Attr attr) const {
  for (const auto& [key, value] : entries_) {
    if (key == attr) return &value;
  }
  return nullptr;
}

int64_t Attributes::Int(Attr attr, int64_t otherwise) const {
  const AttrValue* value = Find(attr);
  return value ? std::get<int64_t>(*value) : otherwise;
}

const std::string& Attributes::Text(Attr attr) const {
  static const std::string* const kNone = new std::string;
  const AttrValue* value = Find(attr);
  return value ? std::get<std::string>(*value) : *kNone;
}

const std::vector<int64_t>& Attributes::Ints(Attr attr) const {
  static const std::vector<int64_t>* const kNone = new std::vector<int64_t>;
  const AttrValue* value = Find(attr);
  return value ? std::get<std::vector<int64_t>>(*value) : *kNone;
}

Attributes Attributes::With(Attr attr, AttrValue value) const {
  Attributes copy = Without(attr);
  const auto place = std::find_if(copy.entries_.begin(), copy.entries_.end(),
                                  [&](const auto& entry) { return attr < entry.first; });
  copy.entries_.insert(place, {attr, std::move(value)});
  return copy;
}

Attributes Attributes::Without(Attr attr) const {
  Attributes copy = *this;
  std::erase_if(copy.entries_, [&](const auto& entry) { return entry.first == attr; });
  return copy;
}

std::vector<const Var*> Function::Sizes() const {
  std::vector<const Var*> sizes;
  for (const Param& param : params) {
    for (const Operand& dim : param.var->type.dims()) {
      const bool is_param = std::any_of(params.begin(), params.end(),
                                        [&](const Param& p) { return p.var == dim.var(); });
      if (dim.IsVar() && !is_param &&
          std::find(sizes.begin(), sizes.end(), dim.var()) == sizes.end()) {
        sizes.push_back(dim.var());
      }
    }
  }
  return sizes;
}

const Function* Program::Find(std::string_view name) const {
  for (const Function* function : functions) {
    if (function->name == name) return function;
  }
  return nullptr;
}

void Program::Set(const Function* function) {
  for (const Function*& old : functions) {
    if (old->name == function->name) {
      old = function;
      return;
    }
  }
  functions.push_back(function);
}

}  // namespace parakeet::ir
