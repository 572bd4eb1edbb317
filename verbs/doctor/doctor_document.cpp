#include "verbs/doctor/doctor_document.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <vector>

#include "kernels/isa.hpp"
#include "model/numerics/f32.hpp"

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

Check subnormals() {
  const float result = opaque(0x1p-126F) * opaque(0.5F);
  return {"subnormals are kept (no FTZ/DAZ)", std::bit_cast<std::uint32_t>(result) == 0x00400000U,
          fmt::format("2^-126 * 0.5 = {:#010x}", std::bit_cast<std::uint32_t>(result))};
}

Check rounding() {
  const bool nearest = std::fegetround() == FE_TONEAREST;
  return {"rounding to nearest even", nearest && opaque(1.0F) + opaque(0x1p-24F) == 1.0F, nearest ? "FE_TONEAREST" : "another mode is set"};
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
  const double gib = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE)) / (1024.0 * 1024 * 1024);
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
