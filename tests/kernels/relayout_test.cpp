#include "kernels/relayout/plan.hpp"
#include "model/layout/grains.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/relayout_cases.hpp"

namespace {

using mx::kernels::IsaTier;
using mx::kernels::relayout::Plan;
using mx::test::RelayoutCase;

using Bytes = std::vector<std::uint8_t>;

/// Tiers that differ here.
std::vector<const IsaTier*> tiers() {
  std::vector<const IsaTier*> out;
  for (const IsaTier& tier : mx::kernels::isa_tiers()) {
    if (mx::kernels::runs_here(tier)) out.push_back(&tier);
  }
  return out;
}

struct Count {
  int cases = 0;
  int direct = 0;
};

void check(const RelayoutCase& c, Count& count) {
  INFO(c.name);
  const Bytes source = mx::test::random_bytes(c.from.bytes(), static_cast<std::uint32_t>(count.cases));
  const Bytes wanted = mx::test::by_model(c.from, source, c.to);
  ++count.cases;
  for (const IsaTier* tier : tiers()) {
    INFO(tier->name);
    const Plan plan(c.from, c.to, *tier);
    if (tier == tiers().front()) {
      const bool direct = plan.stages().size() == 1 && plan.stages().front().kind != "address map";
      count.direct += direct ? 1 : 0;
      if (!direct) UNSCOPED_INFO("not direct");
      if (!direct && std::getenv("SHOW")) std::puts(c.name.c_str());
    }
    // One thread always, more by turns.
    constexpr std::array kThreads{2, 3, 8};
    for (int threads : {1, kThreads[static_cast<std::size_t>(count.cases) % kThreads.size()]}) {
      Bytes target(wanted.size(), 0xA5);
      apply(plan, source, target, threads);
      REQUIRE(target == wanted);
    }
  }
}

}  // namespace

TEST_CASE("plans give the model's bytes for every backend") {
  Count count;
  mx::test::for_each_backend_case([&](const RelayoutCase& c) { check(c, count); });
  std::printf("backends: %d cases, %d direct\n", count.cases, count.direct);
}

TEST_CASE("plans give the model's bytes for every building block") {
  Count count;
  mx::test::for_each_stage_case([&](const RelayoutCase& c) { check(c, count); });
  std::printf("stages: %d cases, %d direct\n", count.cases, count.direct);
}
