#include "verbs/doctor/doctor_document.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/isa.hpp"
#include "model/numerics/f32.hpp"
#include "model/ordinary_mode.hpp"
#include "support/memory.hpp"

namespace mx::verbs {
namespace {

struct Check {
  std::string name;
  bool passed;
  std::string detail;
};

/// Products that the compiler may not fold: read through volatile.
float opaque(float value) {
  volatile float held = value;
  return held;
}

/// (1+2^-12)^2 - (1+2^-11) is 0 when the product is rounded first, 2^-24 when an fma contracts it.
Check contraction() {
  const float a = opaque(1.0F + 0x1p-12F);
  const float c = opaque(-(1.0F + 0x1p-11F));
  const float result = a * a + c;
  return {"no contraction of a*b+c", result == 0.0F, fmt::format("(1+2^-12)^2 - (1+2^-11) = {}", result)};
}

/// The mode that the process was started in: the program sets its own, what a host's other threads compute in does not change by that.
FloatMode host_mode = kOrdinaryMode;

/// In the host's mode, by arithmetic: words that name a mode may disagree with each other.
template <class Arithmetic>
float in_host_mode(const Arithmetic& arithmetic) {
  const FloatMode own = float_mode();
  set_float_mode(host_mode);
  const float result = arithmetic();
  set_float_mode(own);
  return result;
}

Check subnormals() {
  // A result below the smallest normal shows FTZ, an operand there shows DAZ.
  const float flushed = in_host_mode([] { return opaque(0x1p-126F) * opaque(0.5F); });
  const float read = in_host_mode([] { return opaque(0x1p-127F) * opaque(0x1p100F); });
  return {
      "subnormals are kept (no FTZ/DAZ)", std::bit_cast<std::uint32_t>(flushed) == 0x00400000U && read == 0x1p-27F,
      fmt::format("2^-126 * 0.5 = {:#010x}, 2^-127 * 2^100 = {:#010x}", std::bit_cast<std::uint32_t>(flushed), std::bit_cast<std::uint32_t>(read))};
}

/// 1 + 1.5 * 2^-24 is 1 + 2^-23 to nearest and up, 1 toward zero and down; its negative tells up from down. The x87 word has a mode of its own.
Check rounding() {
  const float above = in_host_mode([] { return opaque(1.0F) + opaque(0x1.8p-24F); });
  const float below = in_host_mode([] { return opaque(-1.0F) - opaque(0x1.8p-24F); });
  const float tie = in_host_mode([] { return opaque(1.0F) + opaque(0x1p-24F); });
  const bool sse = above == 1.0F + 0x1p-23F && below == -above && tie == 1.0F;
  const bool x87 = host_mode.x87 == kOrdinaryMode.x87;
  return {"rounding to nearest even", sse && x87,
          fmt::format("1 + 1.5 * 2^-24 = {}, -1 - 1.5 * 2^-24 = {}, 1 + 2^-24 = {}{}", above, below, tie,
                      x87 ? "" : fmt::format("; the x87 word is {:#06x}", host_mode.x87))};
}

Check exponential() {
  const std::uint32_t e = f32::exp(f32::kOne);
  return {"exp(1) is correctly rounded", e == 0x402DF854U, fmt::format("{:#010x}", e)};
}

std::vector<std::string> isa_words() {
  std::vector<std::string> words;
#if defined(__x86_64__)
  words.emplace_back("x86-64");
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) words.emplace_back("avx2");
  if (__builtin_cpu_supports("fma")) words.emplace_back("fma");
  if (__builtin_cpu_supports("avx512f")) words.emplace_back("avx512f");
  if (__builtin_cpu_supports("avx512bw")) words.emplace_back("avx512bw");
  if (__builtin_cpu_supports("avx512vbmi")) words.emplace_back("avx512vbmi");
  if (__builtin_cpu_supports("avx512vbmi2")) words.emplace_back("avx512vbmi2");
  if (__builtin_cpu_supports("avx512vnni")) words.emplace_back("avx512vnni");
  if (__builtin_cpu_supports("avx512bf16")) words.emplace_back("avx512bf16");
#elif defined(__aarch64__)
  words.emplace_back("aarch64");
#endif
  return words;
}

}  // namespace

void remember_host_mode(const FloatMode& mode) { host_mode = mode; }

std::string tiers_text() {
  std::string text;
  for (const kernels::IsaTier& tier : kernels::isa_tiers()) {
    if (kernels::runs_here(tier)) text += std::string(tier.name) + " ";
  }
  text.back() = ',';
  return text + " in use: " + std::string(kernels::isa_tier().name);
}

Document doctor_document(const Build& build) {
  const std::vector<Check> checks{contraction(), subnormals(), rounding(), exponential()};
  const double gib = static_cast<double>(support::physical_memory()) / (1024.0 * 1024 * 1024);
  const bool healthy = std::ranges::all_of(checks, &Check::passed);
  Document document{"doctor"};
  document.field("mxact", {}, {}, fmt::format("{} ({})", build.version, build.commit));
  document.field("compiler", "compiler", build.compiler);
  document.field("flags", "flags", build.flags);
  document.field("isa", "isa", isa_words(), fmt::format("{}", fmt::join(isa_words(), " ")));
  document.field("kernels", "kernels", kernels::isa_tier().name, tiers_text());
  document.field("threads", "threads", omp_get_max_threads());
  document.field("memory", "memory_gib", gib, fmt::format("{:.1f} GiB", gib));
  document.line();
  Table table{"checks", {in_json("name"), in_json("passed"), in_json("detail")}};
  for (const Check& check : checks) {
    table.add({check.name, check.passed, check.detail});
    document.line(fmt::format("{:<8} {}: {}", check.passed ? "ok" : "BROKEN", check.name, check.detail));
  }
  document.value(table.key, table.json());
  document.value("healthy", healthy);
  document.ended(healthy ? 0 : 1);
  return document;
}

}  // namespace mx::verbs
