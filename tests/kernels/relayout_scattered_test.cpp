// Rows that are no whole lines of memory, on their way out of layouts that scatter them: scales of gpt-oss have 90 bytes.

#include <algorithm>
#include <array>

#include "checkpoint/rounding.hpp"
#include "kernels/relayout/plan.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/relayout_cases.hpp"

namespace {

using mx::families::Arch;
using mx::kernels::IsaTier;
using mx::kernels::relayout::Plan;
using mx::layout::Layout;
using mx::layout::Role;
using mx::layout::Sizes;

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kLine = 64;
constexpr std::uint8_t kUntouched = 0xA5;

struct Row {
  std::string_view backend;
  Arch arch;
  Role role;
};
constexpr std::array kRows{Row{"FLASHINFER_TRTLLM_MXFP4_BF16", Arch::sm100, Role::w13_weight_scale},
                           Row{"TRITON", Arch::sm90, Role::w13_weight_scale},
                           Row{"TRITON_UNFUSED", Arch::gfx950, Role::w2_weight_scale},
                           Row{"MARLIN", Arch::sm90, Role::w13_weight_scale},
                           Row{"AITER_MXFP4_MXFP4", Arch::gfx950, Role::w13_weight},
                           Row{"AITER_MXFP4_BF16", Arch::gfx950, Role::w13_weight},
                           Row{"MARLIN", Arch::sm90, Role::w13_weight},
                           Row{"HUMMING", Arch::sm90, Role::w2_weight},
                           Row{"CPU", Arch::cpu, Role::w13_weight}};

/// Experts, intermediate and hidden size: many stages and few, rows that do not fill the last stage, short rows.
constexpr std::array kSizes{Sizes{1, 288, 2880}, Sizes{2, 160, 2880}, Sizes{3, 320, 704},
                            Sizes{2, 2880, 288}, Sizes{1, 96, 1472},  Sizes{5, 224, 1056}};

/// A way back into memory that begins so many bytes behind a line's begin, with a line before and one behind that must stay as they are.
void check_at(const Plan& plan, const Bytes& source, const Bytes& wanted, std::size_t offset, int threads) {
  INFO(threads << " threads, " << offset << " bytes behind the begin of a line");
  Bytes memory(wanted.size() + 4 * kLine, kUntouched);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::size_t begin = (kLine - address % kLine) % kLine + kLine + offset;
  mx::kernels::relayout::undo(plan, source, std::span(memory).subspan(begin, wanted.size()), threads);
  const auto first = memory.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = first + static_cast<std::ptrdiff_t>(wanted.size());
  const auto is_untouched = [](std::uint8_t byte) { return byte == kUntouched; };
  REQUIRE(std::equal(first, last, wanted.begin()));
  REQUIRE(std::all_of(memory.begin(), first, is_untouched));
  REQUIRE(std::all_of(last, memory.end(), is_untouched));
}

}  // namespace

TEST_CASE("rows of any length come back from scattered layouts, wherever in a line of memory they begin") {
  std::size_t cases = 0;
  for (const Row& row : kRows) {
    for (const Sizes& sizes : kSizes) {
      mx::families::Setting setting{.sizes = sizes, .padded = sizes, .form = mx::layout::SourceOrder::gpt_oss, .arch = row.arch};
      setting.padded = mx::checkpoint::rounded_up(row.backend, setting);
      const Layout from = mx::layout::canonical(row.role, sizes, setting.form);
      const Layout to = mx::families::find_backend_layout(row.backend)->build(row.role, setting).layout;
      INFO(row.backend << " " << sizes.experts << " " << sizes.intermediate << " " << sizes.hidden);
      const Bytes wanted = mx::tests::random_bytes(from.bytes(), static_cast<std::uint32_t>(cases));
      const Bytes source = mx::tests::by_model(from, wanted, to);
      for (const IsaTier& tier : mx::kernels::isa_tiers()) {
        if (!mx::kernels::runs_here(tier)) continue;
        INFO(tier.name);
        const Plan plan(from, to, tier);
        for (const std::size_t offset : {std::size_t{0}, std::size_t{16}, std::size_t{33}}) check_at(plan, source, wanted, offset, 1);
        for (const int threads : {2, 3, 8}) check_at(plan, source, wanted, 0, threads);
      }
      ++cases;
    }
  }
  CHECK(cases == kRows.size() * kSizes.size());
}
