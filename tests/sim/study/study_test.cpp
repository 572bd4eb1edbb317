// The error study: counts and errors of small cases worked out by hand, and the shape of its table.

#include "sim/study/study.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "model/error.hpp"
#include "tests/catch.hpp"

namespace {

using namespace mx;
using namespace mx::sim;

const StudyCell& cell(const Study& study, std::string_view format, std::size_t column) {
  return std::ranges::find(study.rows, format, &StudyRow::format)->cells[column];
}

}  // namespace

TEST_CASE("distributions are the same bits for the same seed and lie where they say") {
  for (const Distribution& distribution : all_distributions()) {
    INFO(distribution.name);
    const std::vector<std::uint32_t> values = distribution.make(kStudyUnit, 5);
    CHECK(values == distribution.make(kStudyUnit, 5));
    CHECK(values != distribution.make(kStudyUnit, 6));
    CHECK(std::ranges::none_of(values, [](std::uint32_t code) { return (code & 0x7F80U) == 0x7F80U; }));
  }
  double sum = 0;
  double squares = 0;
  for (const std::uint32_t code : distribution_named("normal").make(kStudyUnit, 1)) {
    const double value = static_cast<double>(std::bit_cast<float>(code << 16U));
    sum += value;
    squares += value * value;
  }
  CHECK(std::abs(sum / kStudyUnit) < 0.05);
  CHECK(std::abs(squares / kStudyUnit - 1) < 0.05);
}

TEST_CASE("floor saturates what lies between 6 and 8 scales, rceil nothing, more bits lose less") {
  const Study floor = run_study({.profiles = {"torchao-floor"}, .formats = {"mxfp4"}, .distributions = {"normal"}});
  const Study rceil = run_study({.profiles = {"torchao-rceil"}, .formats = {"mxfp4", "mxfp8_e4m3"}, .distributions = {"normal"}});
  CHECK(cell(floor, "mxfp4", 0).saturated > 0);
  CHECK(cell(rceil, "mxfp4", 0).saturated == 0);
  CHECK(cell(rceil, "mxfp8_e4m3", 0).sqnr_db > cell(rceil, "mxfp4", 0).sqnr_db + 10);
  // An e2m1 number is off by at most half a step of 2 of the 6 that the largest magnitude reaches at least half of: 1 in 4.
  CHECK(cell(rceil, "mxfp4", 0).max_error <= 0.5);
}

TEST_CASE("outliers flush their neighbours in coarse formats alone") {
  const Study study = run_study({.profiles = {"torchao-rceil"}, .formats = {"mxfp4", "mxfp8_e4m3"}, .distributions = {"outliers", "normal"}});
  CHECK(cell(study, "mxfp4", 0).flushed > cell(study, "mxfp4", 1).flushed);
  CHECK(cell(study, "mxfp8_e4m3", 0).flushed < cell(study, "mxfp4", 0).flushed);
}

TEST_CASE("a scale that overflows to NaN is no perfect result") {
  // triton_kernels' direct e4m3 scales have no tensor scale: amax / 6 above 464 becomes NaN in its torch reference (spec numerics 4).
  const Study study = run_study({.profiles = {"triton-kernels-nvfp4"}, .formats = {"nvfp4"}, .distributions = {"heavy", "normal"}});
  CHECK(std::isnan(cell(study, "nvfp4", 0).sqnr_db));
  CHECK(std::isfinite(cell(study, "nvfp4", 1).sqnr_db));
}

TEST_CASE("the whole study has a row for every recipe that gives codes") {
  const Study study = run_study({});
  std::size_t recipes = 0;
  for (const Profile& profile : all_profiles()) {
    recipes += static_cast<std::size_t>(
        std::ranges::count_if(profile.recipes, [](const Recipe& recipe) { return gives_codes(recipe) && takes_source(recipe, kBf16); }));
  }
  CHECK(study.rows.size() == recipes);
  CHECK(study.rows.size() > 30);
}

TEST_CASE("a study of nothing is refused") {
  CHECK_THROWS_WITH(run_study({.profiles = {"torchao-ceill"}}), Catch::Contains("torchao-ceil"));
  CHECK_THROWS_WITH(run_study({.distributions = {"gaussian"}}), Catch::Contains("gaussian"));
  CHECK_THROWS_WITH(run_study({.values = 100}), Catch::Contains("100 values are not whole tiles of 16384"));
  CHECK_THROWS_WITH(run_study({.profiles = {"vllm-nvfp4"}, .formats = {"mxfp4"}}), Catch::Contains("no recipe"));
}
