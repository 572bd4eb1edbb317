#pragma once
// One recorded entry, changed in its manifest, and what running it must say.

#include <functional>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/golden/witness/scratch.hpp"

namespace mx::tests::witness {

struct Change {
  std::string name;
  std::function<void(Json&)> change;  ///< of the one entry that is kept
  int exit;
  std::string text;  ///< that the outcome must contain
};

/// Keeps one entry of a recorded set, changed, and runs it. A set without a folder before it is one of `numerics`.
inline void check(const std::string& set, const std::string& id, const std::vector<Change>& changes) {
  const Scratch scratch("changes");
  const std::filesystem::path from = recorded(set.find('/') == std::string::npos ? "numerics/" + set : set);
  std::filesystem::copy(from, scratch.path(), std::filesystem::copy_options::recursive);
  const Json manifest = read_json(from / "manifest.json");
  Json entry;
  for (const Json& one : manifest["entries"]) {
    if (one["id"] == id) entry = one;
  }
  REQUIRE(entry.is_object());
  for (const Change& row : changes) {
    INFO(id << ", " << row.name);
    Json changed = manifest;
    changed["entries"] = Json::array({entry});
    row.change(changed["entries"][0]);
    write_text(scratch.path() / "manifest.json", changed.dump());
    const Outcome outcome = run(scratch.path());
    INFO(outcome.text);
    CHECK(outcome.exit == row.exit);
    CHECK(outcome.text.find(row.text) != std::string::npos);
  }
}

}  // namespace mx::tests::witness
