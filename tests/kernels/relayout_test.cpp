#include <algorithm>
#include <array>

#include "kernels/relayout/plan.hpp"
#include "model/families/casts.hpp"
#include "tests/catch.hpp"
#include "tests/counts.hpp"
#include "tests/kernels/relayout_cases.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::ErrorCode;
using mx::kernels::IsaTier;
using mx::kernels::relayout::Plan;
using mx::kernels::relayout::PlanStage;
using mx::layout::Layout;
using mx::tests::RelayoutCase;

using Bytes = std::vector<std::uint8_t>;
using Way = void(const Plan&, std::span<const std::uint8_t>, std::span<std::uint8_t>, int);

std::vector<const IsaTier*> tiers() {
  std::vector<const IsaTier*> out;
  for (const IsaTier& tier : mx::kernels::isa_tiers()) {
    if (mx::kernels::runs_here(tier)) out.push_back(&tier);
  }
  return out;
}

bool is_direct(const std::vector<PlanStage>& stages) { return stages.size() == 1 && stages.front().kind != "address map"; }

struct Count {
  std::size_t cases = 0;
  std::size_t fastest = 0;  ///< on the fastest tier
  std::size_t direct = 0;   ///< of these, in one pass of tiles
};

/// One direction of a plan gives the wanted bytes whatever was there before: with one thread, and with more by turns.
void check_way(Way& way, const Plan& plan, const Bytes& source, const Bytes& wanted, std::size_t turn) {
  constexpr std::array kThreads{2, 3, 8};
  for (const int threads : {1, kThreads[turn % kThreads.size()]}) {
    INFO(threads << " threads");
    Bytes target(wanted.size(), 0xA5);
    way(plan, source, target, threads);
    REQUIRE(target == wanted);
  }
}

bool slices(const Layout& layout) {
  return std::ranges::any_of(layout.steps(), [](const mx::layout::Step& step) { return std::holds_alternative<mx::layout::Slice>(step); });
}

void check(const RelayoutCase& c, Count& count, mx::tests::EveryNth& picked) {
  if (!picked()) return;
  INFO(c.name);
  const Bytes source = mx::tests::random_bytes(c.from.bytes(), static_cast<std::uint32_t>(count.cases));
  const Bytes wanted = mx::tests::by_model(c.from, source, c.to);
  const std::vector<const IsaTier*> all = tiers();
  // Plans take time to make: an ordinary run makes one of a case, by turns on each tier; a full one the plainest and the fastest always, one of the
  // others by turns.
  const IsaTier* const turn = all[count.cases % all.size()];
  for (const IsaTier* tier : mx::tests::full_counts() ? std::vector{all.front(), turn, all.back()} : std::vector{turn}) {
    INFO(tier->name);
    const Plan plan(c.from, c.to, *tier);
    check_way(mx::kernels::relayout::apply, plan, source, wanted, count.cases);
    if (!slices(c.to)) check_way(mx::kernels::relayout::undo, plan, wanted, source, count.cases + 1);
    if (tier != all.back()) continue;
    // Bytes of two tensors in one block, and bits of several codes in one byte, go by an address map.
    if (c.name.starts_with("ggml.") || c.name.starts_with("packing.")) {
      CHECK_FALSE(is_direct(plan.stages()));
      continue;
    }
    ++count.fastest;
    if (is_direct(plan.stages())) ++count.direct;
  }
  ++count.cases;
}

Layout rows_of(std::int64_t rows, std::int64_t cols, int bits) { return Layout({{"batch", 1}, {"rows", rows}, {"cols", cols}}, bits); }

/// 32 columns side by side, gate and up together, a dword of eight codes each, even codes in its low half: what the GEMM engines read.
Layout panels_of(const std::vector<mx::layout::Axis>& axes) {
  const bool halves = axes.size() == 4;
  const std::int64_t lanes = halves ? 16 : 32;
  const std::string& rows = axes[axes.size() - 2].name;
  Layout panels(axes, 4);
  panels.pad(rows, (axes[axes.size() - 2].extent + lanes - 1) / lanes * lanes, mx::layout::PadContent::zero);
  panels.split(rows, lanes, "panel", "lane").split("K", 8, "octet", "place").split("place", 2, "pair", "parity");
  return halves ? panels.permute({"E", "panel", "octet", "half", "lane", "parity", "pair"})
                : panels.permute({"E", "panel", "octet", "lane", "parity", "pair"});
}

}  // namespace

TEST_CASE("plans give the model's bytes for every backend, both ways") {
  Count count;
  mx::tests::EveryNth picked(2);
  mx::tests::for_each_backend_case([&](const RelayoutCase& c) { check(c, count, picked); });
  // What is left carries: padding across tiles, halves that are cut in the middle, copies of scales.
  CHECK(count.cases > (mx::tests::full_counts() ? 1000U : 500U));
  CHECK(count.direct * 10 > count.fastest * 9);
}

TEST_CASE("plans give the model's bytes for every building block, both ways") {
  Count count;
  mx::tests::EveryNth picked(2);
  mx::tests::for_each_block_case([&](const RelayoutCase& c) { check(c, count, picked); });
  CHECK(count.cases > (mx::tests::full_counts() ? 300U : 150U));
  CHECK(count.direct * 10 > count.fastest * 9);
}

TEST_CASE("a plan says how it moves") {
  struct Row {
    std::string_view block;
    int bits;
    std::string_view kind;
  };
  for (const Row& row : {Row{"trtllm_gen.shuffle_rows.128", 4, "runs"}, Row{"sf_128x4", 8, "bytes"}, Row{"marlin.repack.w4a16", 4, "bits"}}) {
    const auto known = std::ranges::find(mx::families::all_building_blocks(), row.block, &mx::families::BuildingBlock::name);
    if (known == mx::families::all_building_blocks().end()) continue;
    const Plan plan = mx::kernels::relayout::plan(mx::families::block_layout(row.block, 1, 128, 256, row.bits));
    INFO(row.block);
    REQUIRE(is_direct(plan.stages()));
    CHECK(plan.stages().front().kind == row.kind);
    CHECK(is_direct(plan.undo_stages()));
  }
}

TEST_CASE("a plan of digits is as large for a large tensor as for a small one") {
  const auto memory = [](std::int64_t batch) {
    return mx::kernels::relayout::plan(mx::families::block_layout("sf_128x4", batch, 5760, 128, 8)).stages().front().memory;
  };
  CHECK(memory(1000) <= memory(1) + 256);
  CHECK(memory(1000) < 200000U);
}

TEST_CASE("the MXFP4 weights of every backend go into the panels of the CPU in one pass") {
  const mx::layout::Sizes sizes{2, 96, 160};
  const mx::layout::Form form = mx::layout::SourceOrder::gpt_oss;
  std::size_t rows = 0;
  for (const mx::families::BackendLayout& row : mx::families::all_backend_layouts()) {
    for (const mx::deployment::Engine engine : mx::families::kConversionEngines) {
      if (row.format != mx::layout::WeightFormat::mxfp4 || !row.engines.has(engine)) continue;
      for (const mx::families::Arch arch : {mx::families::Arch::sm90, mx::families::Arch::sm100, mx::families::Arch::gfx950}) {
        const mx::families::Setting setting{.sizes = sizes, .padded = {2, 256, 256}, .form = form, .engine = engine, .arch = arch};
        if (!mx::families::broken_needs(row, setting).empty()) continue;
        for (const mx::layout::Role role : {mx::layout::Role::w13_weight, mx::layout::Role::w2_weight}) {
          INFO(row.backend << " " << mx::layout::name_of(role) << " " << mx::families::name_of(arch));
          const mx::layout::TensorPlan tensor = row.build(role, setting);
          const Layout canonical = mx::layout::canonical(role, sizes, form);
          const Layout panels = panels_of(canonical.axes_before(0));
          const Bytes source = mx::tests::random_bytes(canonical.bytes(), static_cast<std::uint32_t>(role));
          // Panels of the checkpoint's own sizes: what the backend padded does not come along.
          const Plan plan = mx::kernels::relayout::plan(tensor.layout, panels);
          CHECK(is_direct(plan.stages()));
          check_way(mx::kernels::relayout::apply, plan, mx::tests::by_model(canonical, source, tensor.layout),
                    mx::tests::by_model(canonical, source, panels), rows++);
        }
      }
    }
  }
  CHECK(rows > 40U);
}

TEST_CASE("what does not fit is refused before anything is written") {
  const Layout from = rows_of(128, 64, 16);
  Layout to = from;
  to.permute({"batch", "cols", "rows"});
  const Plan plan = mx::kernels::relayout::plan(from, to);
  const Bytes source = mx::tests::random_bytes(from.bytes() + 8, 1);
  Bytes target(source.size(), 0xA5);
  const auto bytes = static_cast<std::size_t>(from.bytes());
  const std::span<const std::uint8_t> whole = std::span(source).first(bytes);
  const std::span<std::uint8_t> room = std::span(target).first(bytes);
  const auto check = [&](std::string_view message, std::span<const std::uint8_t> in, std::span<std::uint8_t> out, int threads) {
    INFO(message);
    CHECK(mx::tests::refuses(ErrorCode::usage, std::string(message), [&] { apply(plan, in, out, threads); }));
    CHECK(mx::tests::refuses(ErrorCode::usage, std::string(message), [&] { undo(plan, in, out, threads); }));
    CHECK(std::ranges::all_of(target, [](std::uint8_t byte) { return byte == 0xA5; }));
  };
  check("the source has " + std::to_string(bytes - 1) + " bytes", whole.first(bytes - 1), room, 1);
  check("the target has " + std::to_string(bytes + 1) + " bytes", whole, std::span(target).first(bytes + 1), 1);
  check("the source is not aligned to its units of 2 bytes", std::span(source).subspan(1, bytes), room, 1);
  check("the target is not aligned to its units of 2 bytes", whole, std::span(target).subspan(1, bytes), 1);
  check("the source and the target overlap", std::span(target).subspan(8, bytes), room, 1);
  check("0 threads, allowed are 1 to 1024", whole, room, 0);
  check("1025 threads, allowed are 1 to 1024", whole, room, 1025);

  CHECK(mx::tests::refuses(ErrorCode::usage, "speak of different tensors", [&] { mx::kernels::relayout::plan(rows_of(64, 128, 16), to); }));
  const IsaTier future{"avx1024", 1U << 31};
  CHECK(mx::tests::refuses(ErrorCode::unsupported, "avx1024", [&] { Plan(from, to, future); }));
  const mx::layout::TensorPlan cast{to, &mx::families::cast_named("bf16_to_f32")};
  CHECK(mx::tests::refuses(ErrorCode::unsupported, "bf16_to_f32", [&] { mx::kernels::relayout::plan(from, cast); }));
}

TEST_CASE("what a layout dropped or contradicts cannot be read back") {
  Layout cut = rows_of(4, 32, 8);
  cut.slice("cols", 0, 31);
  const Plan dropped = mx::kernels::relayout::plan(cut);
  Bytes small(static_cast<std::size_t>(cut.bytes()), 0);
  Bytes all(128, 0xA5);
  CHECK(mx::tests::refuses(ErrorCode::usage, "holds 124 of 128 elements", [&] { undo(dropped, small, all, 1); }));

  Layout twice = rows_of(2, 4, 8);
  twice.repeat("rows", 2);
  const Plan copies = mx::kernels::relayout::plan(twice);
  Bytes packed(16, 7);
  packed[5] = 8;
  Bytes tensor(8, 0xA5);
  CHECK(mx::tests::refuses(ErrorCode::input, "the copies of element 1 differ: see address 5", [&] { undo(copies, packed, tensor, 1); }));
  CHECK(tensor == Bytes(8, 0xA5));
}
