// Which rank has which experts.

#include "model/engine/vllm/setup/expert_map.hpp"

#include "tests/catch.hpp"
#include "tests/engine/vllm/expect_error.hpp"

using namespace mx::deployment;
using namespace mx::engine;
using mx::tests::message_of;
using mx::tests::says;

namespace {

using Ints = std::vector<std::int32_t>;
constexpr auto kLinear = ExpertPlacement::linear;
constexpr auto kRoundRobin = ExpertPlacement::round_robin;

ExpertPlacement granted(const ParallelRequest& parallel, std::optional<std::int64_t> groups = 4, std::int64_t redundant = 0) {
  return granted_placement({kRoundRobin, groups, redundant}, derive(parallel, mx::deployment::kVllm2026_05));
}

}  // namespace

TEST_CASE("linear: consecutive experts, the first ranks take the remainder") {
  // 8 experts on 3 ranks: 3, 3, 2.
  CHECK(determine_expert_map(3, 0, 8, kLinear).map == Ints{0, 1, 2, -1, -1, -1, -1, -1});
  CHECK(determine_expert_map(3, 1, 8, kLinear).map == Ints{-1, -1, -1, 0, 1, 2, -1, -1});
  CHECK(determine_expert_map(3, 2, 8, kLinear).map == Ints{-1, -1, -1, -1, -1, -1, 0, 1});
  CHECK(determine_expert_map(3, 0, 8, kLinear).local_experts == 3);
  CHECK(determine_expert_map(3, 2, 8, kLinear).local_experts == 2);
}

TEST_CASE("round robin: every third expert") {
  CHECK(determine_expert_map(3, 0, 8, kRoundRobin).map == Ints{0, -1, -1, 1, -1, -1, 2, -1});
  CHECK(determine_expert_map(3, 2, 8, kRoundRobin).map == Ints{-1, -1, 0, -1, -1, 1, -1, -1});
  CHECK(determine_expert_map(3, 1, 8, kRoundRobin).local_experts == 3);
}

TEST_CASE("one rank needs no map") {
  const ExpertMap map = determine_expert_map(1, 0, 8, kRoundRobin, AiterExpertMask{2});
  CHECK(map.local_experts == 8);
  CHECK(map.map.empty());
  CHECK(map.mask.empty());
}

TEST_CASE("more ranks than experts leave some without any") {
  CHECK(determine_expert_map(3, 1, 2, kLinear).map == Ints{-1, 0});
  CHECK(determine_expert_map(3, 2, 2, kLinear).local_experts == 0);
  CHECK(determine_expert_map(3, 2, 2, kRoundRobin).map == Ints{-1, -1});
}

TEST_CASE("AITER: shared experts follow the local ones, and the mask ends with a zero") {
  const ExpertMap map = determine_expert_map(2, 1, 4, kLinear, AiterExpertMask{2});
  CHECK(map.local_experts == 2);
  CHECK(map.map == Ints{-1, -1, 0, 1, 2, 3});
  CHECK(map.mask == Ints{0, 0, 1, 1, 1, 1, 0});
  CHECK(determine_expert_map(2, 0, 4, kLinear, AiterExpertMask{0}).mask == Ints{1, 1, 0, 0, 0});
  CHECK(determine_expert_map(2, 0, 4, kLinear).mask.empty());
}

TEST_CASE("every expert has one home") {
  for (ExpertPlacement placement : {kLinear, kRoundRobin}) {
    for (std::int64_t experts = 1; experts <= 20; ++experts) {
      for (int ep = 2; ep <= 7; ++ep) {
        std::vector<int> homes(static_cast<std::size_t>(experts), 0);
        for (int rank = 0; rank < ep; ++rank) {
          const ExpertMap map = determine_expert_map(ep, rank, experts, placement);
          std::int32_t next = 0;
          for (std::size_t expert = 0; expert < homes.size(); ++expert) {
            if (map.map[expert] < 0) continue;
            CHECK(map.map[expert] == next);
            ++next;
            ++homes[expert];
          }
          CHECK(next == map.local_experts);
          CHECK(map.local_experts == experts / ep + (rank < experts % ep ? 1 : 0));
        }
        CHECK(homes == std::vector<int>(homes.size(), 1));
      }
    }
  }
}

TEST_CASE("round robin is granted only where the engine can place it") {
  const ParallelRequest tensor{.tp = 4, .enable_expert_parallel = true};
  CHECK(granted(tensor) == kRoundRobin);
  CHECK(granted(tensor, 1) == kLinear);
  CHECK(granted(tensor, std::nullopt) == kLinear);
  CHECK(granted(tensor, 4, 1) == kLinear);
  CHECK(granted({.tp = 4}) == kLinear);
  CHECK(granted({.tp = 4, .enable_expert_parallel = true, .enable_eplb = true}) == kLinear);
  const auto exchanged = [](const char* backend) { return granted({.dp = 4, .enable_expert_parallel = true, .all2all_backend = backend}); };
  CHECK(exchanged("deepep_low_latency") == kRoundRobin);
  CHECK(exchanged("nixl_ep") == kRoundRobin);
  CHECK(exchanged("deepep_high_throughput") == kLinear);
  CHECK(exchanged("allgather_reducescatter") == kLinear);
  CHECK(exchanged("pplx") == kLinear);
  CHECK(granted_placement({kLinear, 4, 0}, derive(tensor, mx::deployment::kVllm2026_05)) == kLinear);
}

TEST_CASE("maps that cannot exist are refused") {
  const auto message = [](int size, int rank, std::int64_t experts) {
    return message_of(mx::ErrorCode::usage, [&] { determine_expert_map(size, rank, experts, kLinear); });
  };
  CHECK(says(message(0, 0, 8), "ep size is 0"));
  CHECK(says(message(2, 2, 8), "ep rank is 2"));
  CHECK(says(message(2, -1, 8), "ep rank is -1"));
  CHECK(says(message(2, 0, 0), "number of experts is 0"));
  CHECK(says(message_of(mx::ErrorCode::usage, [] { placement_named("roundrobbin"); }), "did you mean round_robin"));
  CHECK(placement_named("round_robin") == kRoundRobin);
  CHECK(name_of(kLinear) == "linear");
}
