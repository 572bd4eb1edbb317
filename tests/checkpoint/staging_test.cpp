// Output directories that several processes write at once.

#include "checkpoint/staging.hpp"

#include <filesystem>
#include <fstream>
#include <span>

#include "model/error.hpp"
#include "tests/catch.hpp"
#include "tests/sim/verify/scratch.hpp"

namespace {

namespace fs = std::filesystem;
using mx::checkpoint::StagedDirectory;

std::string content_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write(const StagedDirectory& staged, const std::string& text) { std::ofstream(staged.path() / "weights") << text; }

}  // namespace

TEST_CASE("who comes second replaces nothing without force, whatever there was in the beginning") {
  const mx::tests::ScratchDirectory scratch;
  for (const bool is_there : {false, true}) {
    const fs::path target = scratch.path() / (is_there ? "empty" : "new");
    if (is_there) fs::create_directory(target);
    {
      StagedDirectory first(target, {}, false);
      write(first, "first");
      // Of one process: another one has its own name.
      fs::rename(first.path(), first.path().string() + ".first");
      StagedDirectory second(target, {}, false);
      write(second, "second");
      fs::rename(second.path(), second.path().string() + ".second");
      fs::rename(first.path().string() + ".first", first.path());
      first.commit();
      fs::rename(second.path().string() + ".second", second.path());
      try {
        second.commit();
        FAIL("the second replaced the first");
      } catch (const mx::Error& error) {
        CHECK(error.code() == mx::ErrorCode::usage);
        CHECK(std::string(error.what()).find("was filled by another process") != std::string::npos);
      }
    }
    CHECK(content_of(target / "weights") == "first");
    StagedDirectory forced(target, {}, true);
    write(forced, "forced");
    forced.commit();
    CHECK(content_of(target / "weights") == "forced");
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(scratch.path())) CHECK_FALSE(entry.path().filename().string().starts_with('.'));
}
