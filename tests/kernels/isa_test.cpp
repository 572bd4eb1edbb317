#include "kernels/isa.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>

#include "kernels/moe/gemm.hpp"
#include "model/error.hpp"
#include "tests/catch.hpp"

namespace {

using mx::kernels::IsaTier;
using mx::kernels::KernelRow;

/// Sets MXACT_ISA, or removes it, until the end of the scope.
class ForcedIsa {
 public:
  explicit ForcedIsa(const std::optional<std::string>& value) {
    if (const char* was = std::getenv("MXACT_ISA")) was_ = was;
    set(value);
  }
  ~ForcedIsa() { set(was_); }
  ForcedIsa(const ForcedIsa&) = delete;
  ForcedIsa& operator=(const ForcedIsa&) = delete;

 private:
  static void set(const std::optional<std::string>& value) { value ? setenv("MXACT_ISA", value->c_str(), 1) : unsetenv("MXACT_ISA"); }

  std::optional<std::string> was_;
};

mx::ErrorCode code_of(const std::string& forced) {
  const ForcedIsa isa(forced);
  try {
    mx::kernels::isa_tier();
  } catch (const mx::Error& error) {
    return error.code();
  }
  FAIL("MXACT_ISA=" << forced << " was accepted");
  return {};
}

int plain() { return 0; }
int wide() { return 1; }

}  // namespace

TEST_CASE("the portable tier needs nothing, and later tiers include what earlier ones need") {
  const auto tiers = mx::kernels::isa_tiers();
  CHECK(tiers.front().name == "portable");
  CHECK(tiers.front().needs == 0);
  for (std::size_t i = 1; i < tiers.size(); ++i) {
    CAPTURE(tiers[i].name);
    CHECK((tiers[i].needs & tiers[i - 1].needs) == tiers[i - 1].needs);
    CHECK(tiers[i].needs != tiers[i - 1].needs);
  }
}

TEST_CASE("MXACT_ISA forces a tier and fails loudly when it cannot") {
  for (const IsaTier& tier : mx::kernels::isa_tiers()) {
    CAPTURE(tier.name);
    if (mx::kernels::runs_here(tier)) {
      const ForcedIsa isa{std::string(tier.name)};
      CHECK(mx::kernels::isa_tier().name == tier.name);
    } else {
      CHECK(code_of(std::string(tier.name)) == mx::ErrorCode::unsupported);
    }
  }
  CHECK(code_of("avx1024") == mx::ErrorCode::usage);
  CHECK(code_of("") == mx::ErrorCode::usage);
  // What another architecture has, this build does not know.
  bool foreign = false;
  for (const std::string name : {"avx2", "neon"}) {
    if (std::ranges::find(mx::kernels::isa_tiers(), name, &IsaTier::name) != mx::kernels::isa_tiers().end()) continue;
    CHECK(code_of(name) == mx::ErrorCode::usage);
    foreign = true;
  }
  CHECK(foreign);
}

TEST_CASE("without MXACT_ISA the last tier that runs here is taken") {
  const ForcedIsa isa(std::nullopt);
  const IsaTier& chosen = mx::kernels::isa_tier();
  CHECK(mx::kernels::runs_here(chosen));
  bool later = false;
  for (const IsaTier& tier : mx::kernels::isa_tiers()) {
    if (later) CHECK_FALSE(mx::kernels::runs_here(tier));
    later = later || tier.name == chosen.name;
  }
  CHECK(later);
}

TEST_CASE("a kernel's row is the last one that the tier can run") {
  const std::array<KernelRow<int()>, 2> rows{{{"plain", 0, plain}, {"wide", mx::kernels::kAvx512, wide}}};
  const std::span<const KernelRow<int()>> table(rows);
  CHECK(mx::kernels::kernel_for(table, IsaTier{"none", 0}).run() == 0);
  CHECK(mx::kernels::kernel_for(table, IsaTier{"other", mx::kernels::kAvx2}).run() == 0);
  CHECK(mx::kernels::kernel_for(table, IsaTier{"both", mx::kernels::kAvx2 | mx::kernels::kAvx512}).run() == 1);
}

TEST_CASE("products run on the tier that is forced, else by one of the instructions for them, the same for all weights") {
  using namespace mx::kernels::moe;
  std::set<bool> by_multiply_adds;
  for (const PanelFormat& format : panel_formats()) {
    for (const mx::Contract contract : {mx::Contract::bf16_chain, mx::Contract::bf16_block, mx::Contract::bf16_pair, mx::Contract::int8_block}) {
      if (contract == mx::Contract::int8_block && format.code_bits != 4) continue;
      CAPTURE(name_of(contract), format.kind);
      for (const IsaTier& tier : mx::kernels::isa_tiers()) {
        if (!mx::kernels::runs_here(tier)) continue;
        const ForcedIsa isa{std::string(tier.name)};
        CHECK(gemm_kernel_in_use(contract, format).name == gemm_kernel_for(contract, format, tier).name);
      }
      const ForcedIsa free{std::nullopt};
      const IsaTier& tier = mx::kernels::isa_tier();
      const std::string_view last = gemm_kernel_for(contract, format, tier).name;
      const std::string_view other = gemm_kernel_for(contract, format, {"other", tier.needs & ~mx::kernels::kAvx512Bf16}).name;
      const std::string_view chosen = gemm_kernel_in_use(contract, format).name;
      CHECK(gemm_kernel_in_use(contract, format).name == chosen);
      CHECK((chosen == last || chosen == other));
      if (last != other) by_multiply_adds.insert(chosen == other);
    }
  }
  CHECK(by_multiply_adds.size() <= 1);
}
