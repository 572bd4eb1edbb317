// Releases as ordered values, and profiles by name and version.

#include "model/numerics/releases.hpp"

#include "model/error.hpp"
#include "model/numerics/profile.hpp"
#include "tests/catch.hpp"

namespace mx::tests {
namespace {

std::string refusal(std::string_view name) {
  try {
    profile_named(name);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::usage);
    return error.what();
  }
  return "nothing was thrown";
}

TEST_CASE("releases order by their numbers, not by their digits") {
  CHECK((compare_releases("2.9", "2.11") < 0));
  CHECK((compare_releases("2.13", "2.13.0") == 0));
  CHECK((compare_releases("2.13.1", "2.13") > 0));
  CHECK((compare_releases("0.18", "1") < 0));
  CHECK((compare_releases("10", "9.99") > 0));
  for (const std::string_view text : {"2", "2.13", "0.7.2"}) CHECK(is_release(text));
  for (const std::string_view text : {"", ".", "2.", ".2", "2..1", "main", "36027d8", "2.13a", "1234567890"}) CHECK_FALSE(is_release(text));
}

TEST_CASE("rows hold from the first release that was run to the last, and for their commit") {
  const Releases two{"2.11", "2.13", {}};
  for (const std::string_view version : {"2.11", "2.12", "2.13", "2.13.0", "2.12.7"}) CHECK(holds_for(two, version));
  for (const std::string_view version : {"2.10", "2.13.1", "2.14", "main", ""}) CHECK_FALSE(holds_for(two, version));
  const Releases commit{{}, {}, "36027d8", "0.18"};
  CHECK(holds_for(commit, "36027d8"));
  CHECK(holds_for(commit, "36027d8ad09d"));
  for (const std::string_view version : {"36027d", "36027d9", "0.18"}) CHECK_FALSE(holds_for(commit, version));
  CHECK(text_of(two) == "2.11 to 2.13");
  CHECK(text_of(commit) == "commit 36027d8 after 0.18");
  CHECK(text_of(Releases{"0.6", "0.6", {}}) == "0.6");
  CHECK(text_of(Releases{}) == "not recorded");
}

TEST_CASE("a name alone is the newest release and never a commit: a version is that one or none") {
  CHECK(profile_named("torch-cpu").name == "torch-cpu@2.13");
  CHECK(profile_named("Torch_CPU@2.11.0").name == "torch-cpu@2.11");
  CHECK(profile_named("torchao-rceil").name == "torchao-rceil@0.18");
  CHECK(profile_named("torchao-rceil@36027d8").name == "torchao-rceil@36027d8");
  CHECK(profile_named("ml_dtypes@0.6.0").name == "ml_dtypes");
  CHECK(refusal("torch-cpu@2.12") == "profile 'torch-cpu' has no version '2.12'; known: 2.11; 2.13");
  CHECK(refusal("torch-cpu@") == "profile 'torch-cpu' has no version ''; known: 2.11; 2.13");
  CHECK(refusal("ocp@1.0") == "profile 'ocp' has no version '1.0'; known: not recorded");
  CHECK(refusal("torch-cpx").find("did you mean torch-cpu?") != std::string::npos);
}

TEST_CASE("versions of a profile do not overlap, and every name that has several says which") {
  for (const Profile& a : all_profiles()) {
    INFO(a.name);
    if (a.releases.of_release()) CHECK((compare_releases(a.releases.since, a.releases.until) <= 0));
    CHECK(&profile_named(a.name) == &a);
    for (const Profile& b : all_profiles()) {
      if (&a == &b || base_name(a.name) != base_name(b.name)) continue;
      CHECK_FALSE(version_in(a.name).empty());
      CHECK(holds_for(a.releases, version_in(a.name)));
      CHECK_FALSE(holds_for(a.releases, version_in(b.name)));
      CHECK_FALSE((a.releases.change.empty() && b.releases.change.empty()));
    }
  }
}

}  // namespace
}  // namespace mx::tests
