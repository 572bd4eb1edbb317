// Tuned files of vLLM's Triton kernel: the entry whose number of tokens is nearest, and errors that name the place.

#include "support/tuned_file.hpp"

#include "model/error.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"

using Catch::Matchers::Contains;
using namespace mx;
using support::tuned_tiles;

namespace {

constexpr const char* kText =
    R"({"triton_version": "3.4.0", "64": {"BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 64, "num_warps": 4},
        "1": {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 128}, "3": {"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 256}})";

}  // namespace

TEST_CASE("of a tuned file the nearest entry counts, of two as near the first in the file") {
  const families::TunedTiles tuned = tuned_tiles(kText, "configs/E=8,N=512.json");
  CHECK(tuned.file == "E=8,N=512.json");
  REQUIRE(tuned.tiles.size() == 3);
  CHECK(tuned.of(1).block_m == 16);
  CHECK(tuned.of(2).block_m == 16);  // 1 stands before 3
  CHECK(tuned.of(3) == families::TunedTile{3, 64, 64, 256});
  CHECK(tuned.of(33).block_m == 64);
  CHECK(tuned.of(34).block_m == 32);
  CHECK(tuned.of(1 << 20).block_m == 32);
}

TEST_CASE("what is no tuned file is refused at its place") {
  const auto refused = [](const char* text) {
    try {
      tuned_tiles(text, "t.json");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::input);
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(refused("[]"), Contains("is array") && Contains("t.json"));
  CHECK_THAT(refused("{}"), Contains("has no tile"));
  CHECK_THAT(refused(R"({"triton_version": "3.4.0"})"), Contains("has no tile"));
  CHECK_THAT(refused(R"({"eight": {}})"), Contains("'eight' is no number of tokens"));
  CHECK_THAT(refused(R"({"0": {}})"), Contains("is 0, must be a number from 1 to 1048576"));
  CHECK_THAT(refused(R"({"8": 3})"), Contains("is number, a tile is an object") && Contains("t.json: 8"));
  CHECK_THAT(refused(R"({"8": {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 64}})"), Contains("has no BLOCK_SIZE_K") && Contains("t.json: 8"));
  CHECK_THAT(refused(R"({"8": {"BLOCK_SIZE_M": 4, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 64}})"),
             Contains("is 4, must be a number from 8 to 1024") && Contains("t.json: 8: BLOCK_SIZE_M"));
  CHECK_THAT(refused(R"({"8": {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 64, "num_warps": "4"}})"),
             Contains("is no integer") && Contains("num_warps"));
  CHECK_THAT(refused(R"({"8": {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 64},
                         "08": {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 64}})"),
             Contains("has 08 twice"));
}

TEST_CASE("what a launch has for the second product alone holds there in either order") {
  for (const char* text : {"step_k=32,w2.step_k=64", "w2.step_k=64,step_k=32"}) {
    INFO(text);
    const families::LaunchChoice choice = support::launch_of(text);
    CHECK(choice.find(families::LaunchKey::step_k) == 32);
    CHECK(choice.find(families::LaunchKey::step_k, families::kSecondProduct) == 64);
  }
  CHECK_THROWS_WITH(support::launch_of("w2.step_k=64,w2.step_k=32"), Contains("launch: w2.step_k: is given twice"));
}

TEST_CASE("a launch takes a tuned file beside its numbers") {
  const tests::TemporaryDirectory scratch;
  const std::string path = (scratch.path() / "tuned.json").string();
  tests::write_bytes(path, kText);
  const families::LaunchChoice choice = support::launch_of("e8m0=0,tuned=" + path + ",tokens=3");
  CHECK(choice.find(families::LaunchKey::tokens) == 3);
  REQUIRE(choice.tuned.has_value());
  CHECK(choice.tuned->file == "tuned.json");
  CHECK_FALSE(choice.has_tile());
  CHECK_FALSE(support::launch_of("tokens=3").tuned.has_value());
  CHECK_THROWS_WITH(support::launch_of("tuned="), Contains("the name of a file"));
  CHECK_THROWS_WITH(support::launch_of("tuned=" + path + ",tuned=" + path), Contains("given twice"));
  CHECK_THROWS_WITH(support::launch_of("tuned=" + path + "x"), Contains("tuned.jsonx"));
  CHECK_THROWS_WITH(support::launch_of("tuned=" + path + ",block=3"), Contains("block"));
}
