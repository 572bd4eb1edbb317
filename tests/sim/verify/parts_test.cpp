// A run in shares, put together: what one process would have said, and nothing when the shares do not belong together.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <tuple>

#include "model/error.hpp"
#include "sim/verify/verify_parts.hpp"
#include "tests/catch.hpp"
#include "tests/sim/verify/scratch.hpp"

namespace {

using mx::checkpoint::Checkpoint;
using mx::sim::ConversionResult;
using mx::sim::ReadVerifyPart;
using mx::sim::Verdict;
using mx::sim::VerifyOptions;
using mx::sim::VerifyReport;
using mx::sim::VerifyRequest;
using mx::sim::VerifyShare;

constexpr const char* kProgram = "test 1";

VerifyRequest request() {
  VerifyRequest asked;
  asked.checkpoint = MXACT_TINY_GPT_OSS;
  asked.platforms = {"SM90"};
  asked.engine = "vllm@2026-05";
  asked.contracts = {"f32-sequential"};
  asked.tokens = 1;
  return asked;
}

/// A converter that is wrong from the second layer on, and worse in what it makes of it there.
struct Wrong {
  int calls = 0;
  VerifyOptions of(const VerifyRequest& asked) {
    VerifyOptions options = mx::sim::options_of(asked);
    options.tamper = [this](mx::families::PackedLayer& layer) {
#pragma omp atomic
      ++calls;
      if (layer.backend == "MARLIN") layer.tensors.front().bytes[7] ^= 1;
    };
    return options;
  }
};

ReadVerifyPart written(const std::filesystem::path& folder, const VerifyRequest& asked, VerifyShare share, Wrong& wrong,
                       const char* program = kProgram) {
  const Checkpoint checkpoint(*asked.checkpoint);
  VerifyOptions options = wrong.of(asked);
  options.share = share;
  const mx::sim::VerifyPart part = mx::sim::part_of(checkpoint, asked, share, program, mx::sim::verify(checkpoint, options));
  const std::filesystem::path path = folder / (std::to_string(share.index) + ".json");
  std::ofstream(path) << mx::sim::text_of(part);
  return {path, mx::sim::read_verify_part(path)};
}

auto facts(const ConversionResult& result) {
  return std::tuple(result.backend, result.tp, result.verdict, result.detail, result.not_asked, result.execution, result.grounds,
                    result.known_to_differ, result.units, result.units_compared, result.compared_every, result.units_differing,
                    result.outputs_compared, result.outputs_differing);
}
auto facts(const mx::sim::ExpectedResult& result) {
  return std::tuple(result.layer, result.values, result.worst_ulp, result.token, result.column, result.verdict);
}

template <class Work>
std::string refusal(Work work) {
  try {
    work();
  } catch (const mx::Error& error) {
    return std::to_string(static_cast<int>(error.code())) + " " + error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("however a run is cut, its parts together are the whole one") {
  const mx::tests::ScratchDirectory scratch;
  const VerifyRequest asked = request();
  const Checkpoint checkpoint(*asked.checkpoint);
  Wrong once;
  const VerifyReport whole = mx::sim::verify(checkpoint, once.of(asked));
  REQUIRE(whole.count(Verdict::failed) > 0);
  REQUIRE(whole.held() > 0);
  REQUIRE(whole.expected.size() == 2);
  for (const int count : {2, 3, 40}) {
    INFO(count << " shares");
    Wrong again;
    std::vector<ReadVerifyPart> parts;
    for (int index = count; index >= 1; --index) parts.push_back(written(scratch.path(), asked, {index, count}, again));
    CHECK(again.calls == once.calls);
    const VerifyReport merged = mx::sim::merged_report(checkpoint, parts, kProgram);
    REQUIRE(merged.conversions.size() == whole.conversions.size());
    for (std::size_t i = 0; i < whole.conversions.size(); ++i) CHECK(facts(merged.conversions[i]) == facts(whole.conversions[i]));
    CHECK(std::ranges::equal(
        merged.expected, whole.expected, {}, [](const auto& one) { return facts(one); }, [](const auto& one) { return facts(one); }));
    CHECK(merged.cells.size() == whole.cells.size());
    CHECK(merged.values.size() == whole.values.size());
    CHECK(merged.compared_every == whole.compared_every);
    CHECK(merged.tokens == whole.tokens);
    CHECK(merged.token_source == whole.token_source);
    CHECK(merged.router_source == whole.router_source);
    CHECK(merged.exit_code() == 1);
  }
}

TEST_CASE("a part keeps apart what is lost and what only cannot be restored") {
  const mx::tests::ScratchDirectory scratch;
  const VerifyRequest asked = request();
  const Checkpoint checkpoint(*asked.checkpoint);
  VerifyReport report = mx::sim::planned_report(checkpoint, mx::sim::options_of(asked));
  REQUIRE_FALSE(report.conversions.empty());
  report.conversions.front().losses = {{mx::layout::Role::w13_weight_scale, "a factor is not kept", 12, 12},
                                       {mx::layout::Role::w2_weight_scale, "small ones become 0", 5, 2}};
  const std::filesystem::path path = scratch.path() / "1.json";
  std::ofstream(path) << mx::sim::text_of(mx::sim::part_of(checkpoint, asked, {1, 1}, kProgram, report));
  const auto merged = mx::sim::merged_report(checkpoint, {{path, mx::sim::read_verify_part(path)}}, kProgram);
  const auto& losses = merged.conversions.front().losses;
  REQUIRE(losses.size() == 2);
  CHECK(losses[0].units == 12);
  CHECK(losses[0].destroyed() == 0);
  CHECK(losses[1].destroyed() == 3);
}

TEST_CASE("parts that do not belong together are refused with the file that does not") {
  const mx::tests::ScratchDirectory scratch;
  const std::filesystem::path other = scratch.path() / "other";
  std::filesystem::create_directory(other);
  VerifyRequest asked = request();
  asked.no_execute = true;
  asked.contracts.clear();
  asked.platforms = {"SM90"};
  const Checkpoint checkpoint(*asked.checkpoint);
  Wrong wrong;
  const ReadVerifyPart first = written(scratch.path(), asked, {1, 2}, wrong), second = written(scratch.path(), asked, {2, 2}, wrong);
  const auto merged = [&](const std::vector<ReadVerifyPart>& parts, const char* program = kProgram) {
    return refusal([&] { static_cast<void>(mx::sim::merged_report(checkpoint, parts, program)); });
  };
  CHECK(merged({second, first}) == "none");
  CHECK(merged({first}).find("1.json: is one of 2 shares, and share 2 is missing") != std::string::npos);
  CHECK(merged({second}).find("2.json: is one of 2 shares, and share 1 is missing") != std::string::npos);
  CHECK(merged({first, second, first}).find("1.json: is share 1 of 2, and so is") != std::string::npos);
  CHECK(merged({first, written(other, asked, {2, 3}, wrong)}).find("2.json: is one of 3 shares, but") != std::string::npos);
  asked.seed = 2;
  CHECK(merged({first, written(other, asked, {2, 2}, wrong)}).find("3 " + (other / "2.json").string() + ": is of another run than") == 0);
  CHECK(merged({first, second}, "test 2").find("2 " + first.path.string() + ": was made by test 1, this is test 2") == 0);

  std::ifstream stream(second.path);
  std::string text((std::istreambuf_iterator<char>(stream)), {});
  const std::size_t at = text.find("\"units_compared\": ") + 18;
  text[at] = text[at] == '1' ? '2' : '1';
  std::ofstream(other / "changed.json") << text;
  CHECK(refusal([&] { mx::sim::read_verify_part(other / "changed.json"); }).find("it was changed") != std::string::npos);
}
