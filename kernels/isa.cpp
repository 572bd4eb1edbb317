#include "kernels/isa.hpp"

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "model/error.hpp"
#include "model/names.hpp"
#if defined(__AARCH64EL__)
#include <sys/auxv.h>
#endif
#if defined(__x86_64__) && !defined(MXACT_PORTABLE)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernels/moe/tile.hpp"
#endif

namespace mx::kernels {
namespace {

#if defined(__x86_64__) && !defined(MXACT_PORTABLE)
constexpr std::uint32_t kAvx2Tier = kAvx2 | kF16c;
constexpr std::uint32_t kAvx512Tier = kAvx2Tier | kAvx512;
constexpr std::uint32_t kAvx512Bf16Tier = kAvx512Tier | kAvx512Vnni | kAvx512Vbmi | kAvx512Vbmi2 | kAvx512Bf16 | kGfni;
constexpr std::array kTiers{
    IsaTier{"portable", 0},
    IsaTier{"avx2", kAvx2Tier},
    IsaTier{"avx512", kAvx512Tier},
    IsaTier{"avx512-vnni", kAvx512Tier | kAvx512Vnni | kAvx512Vbmi},
    IsaTier{"avx512-bf16", kAvx512Bf16Tier},
    IsaTier{"amx", kAvx512Bf16Tier | kAmx},
};

/// Why there are no tiles; empty where there are.
std::string_view why_no_tiles() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  constexpr unsigned kTiles = (1U << 22) | (1U << 24) | (1U << 25);  // of bf16, of anything, of bytes
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 || (edx & kTiles) != kTiles) return "the processor has no AMX";
  // Linux, Documentation/arch/x86/xstate.rst: memory for tiles comes to those that ask, once for the process.
  constexpr long kAskForComponent = 0x1023, kTileData = 18;
  if (syscall(SYS_arch_prctl, kAskForComponent, kTileData) != 0) return "the kernel grants no tile data";
  if (!moe::tiles_sum_pairs()) return "its TDPBF16PS computes other sums than bf16-pair";
  return moe::tiles_sum_quads() ? "" : "its TDPBSSD computes other sums than integers have";
}

std::uint32_t detect() {
  __builtin_cpu_init();
  std::uint32_t bits = 0;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) bits |= kAvx2;
  // Every processor with AVX2 has F16C; __builtin_cpu_supports learned its name only in later compilers.
  if ((bits & kAvx2) != 0) bits |= kF16c;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    bits |= kAvx512;
  }
  if (__builtin_cpu_supports("avx512vbmi")) bits |= kAvx512Vbmi;
  if (__builtin_cpu_supports("avx512vbmi2")) bits |= kAvx512Vbmi2;
  if (__builtin_cpu_supports("avx512vnni")) bits |= kAvx512Vnni;
  if (__builtin_cpu_supports("avx512bf16")) bits |= kAvx512Bf16;
  if (__builtin_cpu_supports("gfni")) bits |= kGfni;
  if ((bits & kAvx512Bf16Tier) == kAvx512Bf16Tier && why_no_tiles().empty()) bits |= kAmx;
  return bits;
}
#elif defined(__AARCH64EL__) && !defined(MXACT_PORTABLE)
constexpr std::array kTiers{IsaTier{"portable", 0}, IsaTier{"neon", kNeon}, IsaTier{"neon-dotprod", kNeon | kNeonDotprod}};

std::string_view why_no_tiles() { return {}; }

std::uint32_t detect() {
  const unsigned long known = getauxval(AT_HWCAP);
  return ((known & HWCAP_ASIMD) != 0 ? kNeon : 0U) | ((known & HWCAP_ASIMDDP) != 0 ? kNeonDotprod : 0U);
}
#else
constexpr std::array kTiers{IsaTier{"portable", 0}};

std::string_view why_no_tiles() { return {}; }

std::uint32_t detect() { return 0; }
#endif

}  // namespace

std::span<const IsaTier> isa_tiers() { return kTiers; }

std::uint32_t isa_of_processor() {
  static const std::uint32_t bits = detect();
  return bits;
}

bool runs_here(const IsaTier& tier) { return (tier.needs & ~isa_of_processor()) == 0; }

void require_runs_here(const IsaTier& tier, std::string_view where) {
  if (runs_here(tier)) return;
  const bool but_for_tiles = (tier.needs & ~isa_of_processor()) == kAmx;
  throw Error(
      ErrorCode::unsupported,
      "this processor cannot run the instruction sets '" + std::string(tier.name) + "'" + (but_for_tiles ? ": " + std::string(why_no_tiles()) : ""),
      std::string(where));
}

const IsaTier& isa_tier_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const IsaTier& tier : kTiers) {
    if (tier.name != name) {
      names.push_back(tier.name);
      continue;
    }
    require_runs_here(tier, "MXACT_ISA");
    return tier;
  }
  throw Error(ErrorCode::usage, unknown_name("tier of instruction sets", name, names), "MXACT_ISA");
}

bool isa_tier_is_forced() { return std::getenv("MXACT_ISA") != nullptr; }

const IsaTier& isa_tier() {
  if (const char* name = std::getenv("MXACT_ISA")) return isa_tier_named(name);
  const IsaTier* best = &kTiers.front();
  for (const IsaTier& tier : kTiers) {
    if (runs_here(tier)) best = &tier;
  }
  return *best;
}

}  // namespace mx::kernels
