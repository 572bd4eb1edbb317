#include <algorithm>
#include <array>
#include <set>

#include "kernels/relayout/cast_units.hpp"
#include "kernels/relayout/tensor.hpp"
#include "model/error.hpp"
#include "model/families/casts.hpp"
#include "model/families/convert.hpp"
#include "model/layout/grains.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/relayout_cases.hpp"
#include "tests/layout/errors.hpp"

namespace {

using mx::Error;
using mx::ErrorCode;
using mx::kernels::IsaTier;
using mx::kernels::relayout::kMoveByPlans;
using mx::kernels::relayout::TensorMove;
using mx::layout::Cast;
using mx::layout::kMoveByUnits;
using mx::layout::Layout;
using mx::tests::ValueCase;

using Bytes = std::vector<std::uint8_t>;

constexpr std::array kThreads{1, 2, 3, 8};

Bytes run(const TensorMove& move, const Bytes& source, int threads) {
  Bytes target(static_cast<std::size_t>(move.target_bytes()), 0xA5);
  move.run(source, target, threads);
  return target;
}

/// "ErrorCode: message" of what is thrown; empty when nothing is.
template <class Work>
std::string refusal(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return std::to_string(static_cast<int>(error.code())) + ": " + error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("every cast by table is the model's for every unit, both ways") {
  for (const Cast& cast : mx::families::all_casts()) {
    if (cast.keeps()) continue;
    INFO(cast.name);
    const std::int64_t count = std::int64_t{1} << cast.from_bits;
    Bytes units(static_cast<std::size_t>(count * cast.from_bits / 8));
    Bytes wanted(static_cast<std::size_t>(count * cast.to_bits / 8));
    Bytes smallest(units.size());
    const mx::layout::Uncast uncast(cast);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto unit = static_cast<std::uint64_t>(i);
      mx::layout::set_grain(units, i, cast.from_bits, unit);
      mx::layout::set_grain(wanted, i, cast.to_bits, cast.make(unit));
      mx::layout::set_grain(smallest, i, cast.from_bits, *uncast(cast.make(unit)));
    }
    for (const int threads : kThreads) {
      Bytes values(wanted.size());
      mx::kernels::relayout::make_values(cast, units, values, threads);
      CHECK(values == wanted);
      Bytes back(units.size());
      mx::kernels::relayout::take_values_back(cast, wanted, back, threads);
      CHECK(back == smallest);
    }
    // Every value that no unit becomes, as far as they can be listed; of wider ones the neighbours of those that are made.
    for (std::int64_t i = 0; i < std::min<std::int64_t>(count, 256); ++i) {
      const std::uint64_t value = cast.to_bits <= 8 ? static_cast<std::uint64_t>(i) : cast.make(static_cast<std::uint64_t>(i)) ^ 1U;
      if (uncast(value).has_value()) continue;
      Bytes values = wanted;
      mx::layout::set_grain(values, 5, cast.to_bits, value);
      Bytes back(units.size());
      CHECK(mx::tests::refuses(ErrorCode::input, "element 5 is ", [&] { mx::kernels::relayout::take_values_back(cast, values, back, 3); }));
    }
  }
}

TEST_CASE("tensors whose values change go and come back as the model's") {
  std::size_t cases = 0;
  std::set<std::string_view> casts;
  mx::tests::for_each_value_case([&](const ValueCase& c) {
    INFO(c.name);
    casts.insert(c.to.cast->name);
    const Bytes source = mx::tests::random_bytes(c.from.bytes(), static_cast<std::uint32_t>(cases));
    const Bytes packed = kMoveByUnits.place(c.from, source, c.to);
    const Bytes restored = kMoveByUnits.take(c.to, packed, c.from);
    // Tiers by turns: plans take time to make, and the moves themselves are tried on every one elsewhere.
    const IsaTier& tier = mx::kernels::isa_tiers()[cases % mx::kernels::isa_tiers().size()];
    if (runs_here(tier)) {
      INFO(tier.name);
      const int threads = kThreads[cases / 2 % kThreads.size()];
      CHECK(run(TensorMove::place(c.from, c.to, tier), source, threads) == packed);
      CHECK(run(TensorMove::take(c.to, c.from, tier), packed, threads) == restored);
    }
    ++cases;
  });
  CHECK(cases > 50U);
  for (const Cast& cast : mx::families::all_casts()) {
    INFO(cast.name);
    CHECK((cast.keeps() || casts.contains(cast.name)));
  }
}

TEST_CASE("converters give the same with plans as with the model, and refuse the same") {
  std::size_t converted = 0;
  for (const mx::families::BackendLayout& row : mx::families::all_backend_layouts()) {
    for (const mx::layout::SourceOrder order : {mx::layout::SourceOrder::gpt_oss, mx::layout::SourceOrder::standard}) {
      const mx::deployment::Engine engine =
          row.engines.has(mx::deployment::kVllm2026_05) ? mx::deployment::kVllm2026_05 : mx::deployment::kVllm2026_08;
      const mx::layout::Form form(row.format, order);
      if (!row.converts(form, engine)) continue;
      mx::layout::Sizes sizes{2, 96, 160};
      sizes.group = std::max<std::int64_t>(1, mx::layout::group_of(row.format));
      if (sizes.group > 32) sizes = {2, 128, 256, sizes.group};
      mx::families::Setting setting{.sizes = sizes, .padded = {2, 256, 256, sizes.group}, .form = form, .engine = engine};
      if (!mx::families::broken_needs(row, setting).empty()) setting.padded = sizes;
      if (!mx::families::broken_needs(row, setting).empty()) continue;
      INFO(row.backend << " " << mx::layout::name_of(row.format) << " " << mx::layout::name_of(order));
      mx::layout::CanonicalLayer layer{sizes, form, {}};
      for (mx::layout::Role role : mx::layout::kAllRoles) {
        if (!mx::layout::has_role(row.format, role)) continue;
        layer[role] = mx::tests::random_bytes(mx::layout::canonical(role, sizes, form).bytes(), static_cast<std::uint32_t>(role));
      }
      mx::families::PackedLayer fast;
      mx::families::PackedLayer model;
      const std::string trouble = refusal([&] { model = mx::families::convert(layer, row, setting); });
      CHECK(refusal([&] { fast = mx::families::convert(layer, row, setting, kMoveByPlans); }) == trouble);
      if (!trouble.empty()) continue;
      ++converted;
      REQUIRE(fast.tensors.size() == model.tensors.size());
      for (std::size_t i = 0; i < fast.tensors.size(); ++i) CHECK(fast.tensors[i].bytes == model.tensors[i].bytes);
      REQUIRE(fast.losses.size() == model.losses.size());
      for (std::size_t i = 0; i < fast.losses.size(); ++i) CHECK(fast.losses[i].units == model.losses[i].units);
      mx::layout::CanonicalLayer by_plans;
      mx::layout::CanonicalLayer by_units;
      const std::string refused = refusal([&] { by_units = mx::families::restore(model, mx::families::OnLoss::mark); });
      CHECK(refusal([&] { by_plans = mx::families::restore(fast, mx::families::OnLoss::mark, kMoveByPlans); }) == refused);
      CHECK(by_plans.tensors == by_units.tensors);
    }
  }
  CHECK(converted > 30U);
}

TEST_CASE("a tensor's move refuses what does not fit before anything is written") {
  const Layout from({{"rows", 8}, {"cols", 16}}, 8);
  Layout to({{"rows", 8}, {"cols", 16}}, 32);
  to.permute({"cols", "rows"});
  const mx::layout::TensorPlan plan{to, &mx::families::cast_named("e8m0_to_f32_shift")};
  const TensorMove place = TensorMove::place(from, plan);
  const TensorMove take = TensorMove::take(plan, from);
  alignas(8) std::array<std::uint8_t, 1024> memory{};
  memory.fill(0);
  Bytes room(600, 0xA5);
  const std::span<std::uint8_t> all(memory);
  const auto untouched = [&] { return std::ranges::all_of(room, [](std::uint8_t byte) { return byte == 0xA5; }); };
  const auto check = [&](std::string_view message, ErrorCode code, const TensorMove& move, std::span<const std::uint8_t> in,
                         std::span<std::uint8_t> out, int threads) {
    INFO(message);
    CHECK(mx::tests::refuses(code, std::string(message), [&] { move.run(in, out, threads); }));
    CHECK(untouched());
  };
  check("the source has 127 bytes where its layout has 128", ErrorCode::usage, place, all.first(127), std::span(room).first(512), 1);
  check("the target has 511 bytes where its layout has 512", ErrorCode::usage, place, all.first(128), std::span(room).first(511), 1);
  check("the source is not aligned to its units of 4 bytes", ErrorCode::usage, take, all.subspan(2, 512), std::span(room).first(128), 1);
  check("the target is not aligned to its units of 4 bytes", ErrorCode::usage, place, all.first(128), std::span(room).subspan(1, 512), 1);
  check("the source and the target overlap", ErrorCode::usage, place, all.first(128), all.subspan(64, 512), 1);
  check("0 threads, allowed are 1 to 1024", ErrorCode::usage, take, all.first(512), std::span(room).first(128), 0);
  memory[0] = 1;
  check("element 0 is 0x1, which e8m0_to_f32_shift never makes", ErrorCode::input, take, all.first(512), std::span(room).first(128), 2);
  CHECK(mx::tests::refuses(ErrorCode::usage, "speak of different tensors", [&] { TensorMove::place(Layout({{"rows", 8}}, 8), plan); }));
}
