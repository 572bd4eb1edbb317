// Versions of engines: their order, what a row says of them, and the names that users have for them.

#include "model/deployment/version.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/error.hpp"
#include "tests/catch.hpp"

namespace {

using mx::Error;
using mx::ErrorCode;
using mx::deployment::Engine;
using mx::deployment::engine_named;
using mx::deployment::kVllm2026_05;
using mx::deployment::kVllm2026_08;
using mx::deployment::kVllm2026_11;

const std::string kKnown = "vllm@2026-05, vllm@2026-08, vllm@2026-11";

std::string refusal(ErrorCode code, const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code() == code ? error.what() : "another code: " + std::string(error.what());
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("versions are ordered by time and named by month") {
  const auto known = mx::deployment::known_engines();
  CHECK(std::ranges::is_sorted(known));
  CHECK(std::ranges::adjacent_find(known) == known.end());
  CHECK(kVllm2026_05 < kVllm2026_08);
  CHECK(kVllm2026_08 < kVllm2026_11);
  CHECK(mx::deployment::name_of(kVllm2026_05) == "vllm@2026-05");
  for (Engine engine : known) CHECK(engine_named(mx::deployment::name_of(engine)) == engine);
  CHECK(std::ranges::find(known, mx::deployment::kDefaultEngine) != known.end());
}

TEST_CASE("a row holds from its first version on, up to its last and not with it") {
  const mx::deployment::Versions older = mx::deployment::before(kVllm2026_08);
  const mx::deployment::Versions newer = mx::deployment::since(kVllm2026_08);
  for (Engine engine : mx::deployment::known_engines()) {
    CHECK(mx::deployment::since(kVllm2026_05).has(engine));
    CHECK(older.has(engine) != newer.has(engine));
    CHECK_FALSE(mx::deployment::kNever.has(engine));
  }
  CHECK(older.has(kVllm2026_05));
  CHECK(newer.has(kVllm2026_08));
  CHECK(newer.has(kVllm2026_11));
}

// Source: the published wheels of the releases and the commits that the recordings were made from.
TEST_CASE("months, releases and commits name a version") {
  const std::vector<std::pair<std::string, Engine>> names{{"2026-05", kVllm2026_05},
                                                          {"vllm@2026-08", kVllm2026_08},
                                                          {"vllm==0.22.0", kVllm2026_05},
                                                          {"vllm==0.22.1", kVllm2026_05},
                                                          {"vllm==0.29.0", kVllm2026_08},
                                                          {"vllm==0.33.0", kVllm2026_11},
                                                          // PEP 440: zeros at the end, a v in front, and a build's own label say nothing.
                                                          {"vllm==0.29", kVllm2026_08},
                                                          {"0.29", kVllm2026_08},
                                                          {"v0.29.0", kVllm2026_08},
                                                          {"V0.33", kVllm2026_11},
                                                          {"vllm==0.29.0.0", kVllm2026_08},
                                                          {"vllm==0.29.0+cu130", kVllm2026_08},
                                                          {"vllm==00.29", kVllm2026_08},
                                                          {"7e1b45a", kVllm2026_05},
                                                          {"vllm@7e1b45a09252a5b513cd83116aa7a2f310220c34", kVllm2026_05},
                                                          {"0decac0d9", kVllm2026_05},
                                                          {"vllm@017e9f444", kVllm2026_08},
                                                          {"7ca49fbe4", kVllm2026_08},
                                                          {"4ba787ec9", kVllm2026_11}};
  for (const auto& [name, engine] : names) {
    INFO(name);
    CHECK(engine_named(name) == engine);
  }
}

TEST_CASE("what is not mapped is refused by name, with what is") {
  const auto unknown = [](const std::string& name) { return refusal(ErrorCode::unsupported, [&] { engine_named(name); }); };
  CHECK(unknown("2026-06") == "engine vllm@2026-06 is not known: " + kKnown + " are");
  CHECK(unknown("vllm@2026-06") == unknown("2026-06"));
  CHECK(unknown("vllm==0.25.0") == "release vllm==0.25.0 is not known: of the nearest 0.22.1 is vllm@2026-05, 0.29.0 is vllm@2026-08");
  // Another release, though its numbers are known.
  for (const std::string release : {"0.29.0rc1", "0.29.0.post1", "0.29.0.dev3", "v0.29.0-RC.1"})
    CHECK(unknown("vllm==" + release) == "release vllm==" + release + " is not known: of the nearest 0.29.0 is vllm@2026-08, 0.33.0 is vllm@2026-11");
  CHECK(unknown("vllm==0.9.2") == "release vllm==0.9.2 is not known: of the nearest 0.22.0 is vllm@2026-05");
  CHECK(unknown("vllm==1.0.0") == "release vllm==1.0.0 is not known: of the nearest 0.33.0 is vllm@2026-11");
  CHECK(unknown("vllm@deadbee").find("commit deadbee of vllm is not known: 7e1b45a09, ") == 0);
  const auto misspelt = [](const std::string& name) { return refusal(ErrorCode::usage, [&] { engine_named(name); }); };
  CHECK(misspelt("vlm@2026-05") == "vlm@2026-05: unknown engine 'vlm' (did you mean vllm?)");
  for (const std::string name : {"", "newest", "vllm@", "vllm", "vllm==", "2026-5", "7e1b45", "0.", ".1", "0..1", "vllm==0.22.1 ", "vllm=0.22.1"}) {
    INFO(name);
    CHECK(misspelt(name) == "'" + name + "' is no version of an engine: " + kKnown + ", a release as vllm==0.22.1, or a commit of at least 7 digits");
  }
}

TEST_CASE("a version without tables names those that have them") {
  const std::vector<Engine> with{kVllm2026_05, kVllm2026_08};
  mx::deployment::require_tables(kVllm2026_08, with, "conversions");
  CHECK(refusal(ErrorCode::unsupported, [&] { mx::deployment::require_tables(kVllm2026_11, with, "conversions"); }) ==
        "vllm@2026-11 has no tables of conversions; vllm@2026-05, vllm@2026-08 have");
}
