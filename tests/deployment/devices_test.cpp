// Cards by name: those of golden/words/devices.tsv, and what is said of a word that is none.

#include "model/deployment/devices.hpp"

#include <fstream>
#include <set>
#include <string>

#include "model/deployment/deployment.hpp"
#include "model/error.hpp"
#include "tests/catch.hpp"
#include "tests/engine/vllm/expect_error.hpp"

using namespace mx::deployment;

using mx::tests::message_of;
using mx::tests::says;

namespace {

/// The platform of a word; empty where it is refused.
std::string platform_of(const std::string& word) {
  try {
    return std::string(platform_named(word).name);
  } catch (const mx::Error&) {
    return {};
  }
}

}  // namespace

TEST_CASE("cards are found by the names of shops, of torch and of the engine") {
  std::ifstream table(MXACT_SOURCE_DIR "/golden/words/devices.tsv");
  std::string line;
  REQUIRE(std::getline(table, line));
  int rows = 0;
  while (std::getline(table, line)) {
    const std::string word = line.substr(0, line.find('\t')), platform = line.substr(line.find('\t') + 1);
    INFO(word);
    CHECK(platform_of(word) == (platform == "refused" ? "" : platform));
    ++rows;
  }
  CHECK(rows == 76);
}

TEST_CASE("a card is a row: its names are its own, its platform is a preset or it says why not, its numbers have a source") {
  std::set<std::string_view> names;
  for (const Device& device : all_devices()) {
    INFO(device.name);
    CHECK(names.insert(device.name).second);
    CHECK(find_device(device.name) == &device);
    for (const std::string_view other : device.others) CHECK(find_device(other) == &device);
    CHECK_FALSE(device.source.empty());
    CHECK(device.platform.empty() != device.why.empty());
    if (!device.platform.empty()) CHECK(platform_named(device.name).name == device.platform);
  }
}

TEST_CASE("a word that is no card gets the nearest and then all of them and one that several cards share names these") {
  const auto message = [](const char* word) { return message_of(mx::ErrorCode::usage, [&] { platform_named(word); }); };
  CHECK(says(message("B2000"), "unknown platform 'B2000' (did you mean B200?"));
  CHECK(says(message("H1000"), "did you mean H100?"));
  CHECK(says(message("H1OO"), "did you mean H100?"));
  CHECK(says(message("M1300X"), "did you mean MI300X?"));
  CHECK(says(message("MI35X"), "MI350X or MI355X"));
  CHECK(says(message("RTX 6000"), "RTX 6000 Ada or RTX PRO 6000"));
  CHECK(says(message("SM101"), "SM100"));
  CHECK(says(message(""), "known: SM75"));
  CHECK(says(message("nothing like a card"), "cards: T4, "));
  CHECK(says(message_of(mx::ErrorCode::unsupported, [] { platform_named("Gaudi 3"); }), "neither cuda, rocm, xpu nor cpu"));
  CHECK(says(message_of(mx::ErrorCode::unsupported, [] { platform_named("V100"); }), "capability 75"));
  CHECK(says(message_of(mx::ErrorCode::unsupported, [] { platform_named("Jetson Orin"); }), "hardware { platform cuda"));
}
