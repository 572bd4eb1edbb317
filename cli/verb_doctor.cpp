// mxact doctor: what this machine and this build are, and whether floating point behaves as the model needs.

#include <fmt/core.h>
#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <bit>
#include <cfenv>
#include <memory>
#include <string>
#include <vector>

#include "build_info.hpp"
#include "cli/build.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "kernels/isa.hpp"
#include "model/numerics/f32.hpp"

namespace mx::cli {
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

int doctor(bool as_json) {
  const std::vector<Check> checks{contraction(), subnormals(), rounding(), exponential()};
  const double gib = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE)) / (1024.0 * 1024 * 1024);
  const std::string isa = fmt::format("{}", fmt::join(isa_words(), " "));
  bool healthy = true;
  for (const Check& check : checks) healthy = healthy && check.passed;
  if (as_json) {
    Json json = json_head("doctor");
    json["compiler"] = MXACT_COMPILER;
    json["flags"] = MXACT_FLAGS;
    json["isa"] = isa_words();
    json["kernels"] = kernels::isa_tier().name;
    json["threads"] = omp_get_max_threads();
    json["memory_gib"] = gib;
    for (const Check& check : checks) json["checks"].push_back({{"name", check.name}, {"passed", check.passed}, {"detail", check.detail}});
    json["healthy"] = healthy;
    print_json(json);
  } else {
    fmt::print("mxact     {} ({})\ncompiler  {}\nflags     {}\nisa       {}\nkernels   {}\nthreads   {}\nmemory    {:.1f} GiB\n\n", MXACT_VERSION,
               MXACT_COMMIT, MXACT_COMPILER, MXACT_FLAGS, isa, tiers_text(), omp_get_max_threads(), gib);
    for (const Check& check : checks) fmt::print("{:<8} {}: {}\n", check.passed ? "ok" : "BROKEN", check.name, check.detail);
  }
  return healthy ? 0 : 1;
}

}  // namespace

void add_doctor(Verb app, Action& action) {
  const Verb verb = app.add_verb("doctor", "this build and machine, and a self-test of floating point");
  const auto json = std::make_shared<bool>(false);
  verb.add_flag("--json", *json, "machine-readable output");
  verb.callback([&action, json] { action = [json] { return doctor(*json); }; });
}

}  // namespace mx::cli
