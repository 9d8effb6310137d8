#include "runtime/cpu_identity.h"

#include <cpuid.h>

#include <cstdint>

namespace parakeet::runtime {
namespace {

struct Leaf {
  unsigned number;
  unsigned part;
  // Bits of EAX, EBX, ECX and EDX that say what the processor can do. The rest says which core this
  // is, how large its caches are, or how much the system has switched on so far.
  unsigned masks[4];
};

constexpr unsigned kAll = 0xffffffff;

constexpr Leaf kLeaves[] = {
    {0x00000000, 0, {0, kAll, kAll, kAll}},     // the vendor
    {0x00000001, 0, {kAll, 0, kAll, kAll}},     // family, model, stepping; features
    {0x00000007, 0, {kAll, kAll, kAll, kAll}},  // AVX2, AVX-512 and their like
    {0x00000007, 1, {kAll, kAll, kAll, kAll}},  // AVX-VNNI, AVX-512-BF16 ...
    {0x0000000d, 1, {kAll, 0, 0, 0}},           // XSAVE's forms
    {0x00000014, 0, {0, kAll, 0, 0}},           // PTWRITE
    {0x00000019, 0, {0, kAll, 0, 0}},           // Key Locker
    {0x00000024, 0, {0, kAll, 0, 0}},           // AVX10
    {0x80000001, 0, {0, 0, kAll, kAll}},        // AMD's features
    {0x80000008, 0, {0, kAll, 0, 0}},           // more of them
};

void Append(unsigned word, std::string* bytes) {
  for (int shift = 0; shift < 32; shift += 8) bytes->push_back(char(word >> shift & 0xff));
}

// Which registers the system saves: it may leave AVX-512 off.
uint64_t EnabledRegisters() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  constexpr unsigned kOsXsave = 1u << 27;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & kOsXsave) == 0) return 0;
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

}  // namespace

std::string CpuIdentity() {
  std::string bytes;
  for (const Leaf& leaf : kLeaves) {
    unsigned words[4] = {};
    // Leaves beyond the processor's last stay zero.
    __get_cpuid_count(leaf.number, leaf.part, &words[0], &words[1], &words[2], &words[3]);
    for (int i = 0; i < 4; ++i) Append(words[i] & leaf.masks[i], &bytes);
  }
  const uint64_t enabled = EnabledRegisters();
  Append(unsigned(enabled), &bytes);
  Append(unsigned(enabled >> 32), &bytes);
  return bytes;
}

}  // namespace parakeet::runtime
