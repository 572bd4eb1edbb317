// Every call that changes files fails once, or is the last of its process: whoever looks afterwards sees old files or new ones, whole.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"
#include "tests/cli/run.hpp"

namespace mx::tests {
namespace {

namespace fs = std::filesystem;
using Contents = std::map<std::string, std::string>;  // of files below a folder; a directory's ends with '/'

Contents contents_of(const fs::path& folder) {
  Contents contents;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = fs::relative(entry.path(), folder).string();
    if (entry.is_directory())
      contents[name + '/'] = {};
    else
      contents[name] = read_bytes(entry.path());
  }
  return contents;
}

void put_back(const Contents& contents, const fs::path& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const auto& [name, bytes] : contents) {
    if (name.ends_with('/'))
      fs::create_directories(folder / name);
    else
      write_bytes(folder / name, bytes);
  }
}

/// A command of the program that writes, and what is there before it.
struct Work {
  std::string name;
  std::string arguments;  ///< in the folder
  Contents before;
  Contents after;  ///< what it makes of it when nothing fails
};

bool is_temporary(const std::string& name) {
  const fs::path path(name);
  for (const fs::path& part : path) {
    if (part.string().starts_with('.') && part.string().ends_with(".tmp")) return true;
  }
  return false;
}

/// A temporary directory with a checkpoint, another one, and the program at work in it.
class Bench {
 public:
  Bench() {
    checkpoint::write_synthetic_checkpoint(folder() / "source", {.layers = 1, .experts = 2, .hidden = 64, .intermediate = 64, .top_k = 2});
    checkpoint::write_synthetic_checkpoint(folder() / "other", {.layers = 2, .experts = 2, .hidden = 64, .intermediate = 64, .top_k = 2});
  }

  fs::path folder() const { return directory_.path() / "work"; }
  fs::path log() const { return directory_.path() / "call"; }

  tests::Run run(const std::string& arguments, const std::string& environment = "") const {
    return tests::run_program("cd '" + folder().string() + "' && " + environment + " " MXACT_PROGRAM, arguments);
  }
  tests::Run run_failing(const Work& work, const std::string& as, std::size_t at) const {
    fs::remove(log());
    return run(work.arguments, "LD_PRELOAD='" MXACT_FAILING "' MXACT_FAIL_AT=" + std::to_string(at) + " MXACT_FAIL_AS=" + as + " MXACT_FAIL_LOG='" +
                                   log().string() + "'");
  }
  void must(const std::string& arguments) const {
    const tests::Run done = run(arguments);
    INFO(arguments << "\n" << done.err);
    REQUIRE(done.status == 0);
  }
  /// The work, done once as it should be; the folder is as before again.
  Work tried(const std::string& name, const std::string& arguments) const {
    Work work{name, arguments, contents_of(folder()), {}};
    must(arguments);
    work.after = contents_of(folder());
    REQUIRE((work.after != work.before));
    put_back(work.before, folder());
    return work;
  }

 private:
  TemporaryDirectory directory_;
};

/// Of two checkpoints, every verb that writes.
std::vector<Work> works(const Bench& bench) {
  std::vector<Work> works;
  const std::string convert = " --backend TRITON --platform SM90 -o packed";
  works.push_back(bench.tried("convert", "convert source" + convert));
  bench.must("convert source" + convert);
  works.push_back(bench.tried("convert over an older one", "convert other" + convert + " --force"));
  works.push_back(bench.tried("restore", "restore packed -o restored"));
  bench.must("restore packed -o restored");
  bench.must("convert other" + convert + " --force");
  works.push_back(bench.tried("restore over an older one", "restore packed -o restored --force"));
  works.push_back(bench.tried("plan", "plan source --backend TRITON --platform SM90 --converted merged -o plan.json"));
  bench.must("plan other --backend TRITON --platform SM90 --converted merged -o plan.json");
  works.push_back(bench.tried("plan over an older one", "plan source --backend TRITON --platform SM90 --converted merged -o plan.json --force"));
  works.push_back(bench.tried("run", "run plan.json --job 0,1,2"));
  bench.must("run plan.json --job 0,1,2,3");
  works.push_back(bench.tried("merge", "merge plan.json"));
  bench.must("layout draw sf_128x4 --shape 128x4 -o drawn.svg");
  works.push_back(bench.tried("draw over an older one", "layout draw sf_128x4 --shape 256x8 -o drawn.svg --force"));
  return works;
}

/// What is neither old nor new, empty when nothing is. `leftovers`: temporary files may be there.
std::string torn(const Work& work, const Contents& found, bool leftovers) {
  for (const auto& [name, bytes] : found) {
    if (is_temporary(name)) {
      if (!leftovers) return name + " is left";
      continue;
    }
    const auto before = work.before.find(name), after = work.after.find(name);
    const bool is_old = before != work.before.end() && before->second == bytes;
    const bool is_new = after != work.after.end() && after->second == bytes;
    if (!is_old && !is_new) return name + " is neither the old nor the new one";
  }
  for (const auto& [name, bytes] : work.before) {
    if (work.after.contains(name) && !found.contains(name)) return name + " is gone";
  }
  return "";
}

}  // namespace

namespace {

struct Count {
  std::size_t failures = 0;
  std::size_t kills = 0;
};

/// The call number `at` goes wrong. False when the work makes fewer calls; then it has ended well.
bool go_wrong(const Bench& bench, const Work& work, const std::string& as, std::size_t at, Count& count) {
  put_back(work.before, bench.folder());
  const tests::Run run = bench.run_failing(work, as, at);
  if (!fs::exists(bench.log())) return false;
  INFO(work.name << ", " << as << " at call " << at << ", " << read_bytes(bench.log()) << "\n" << run.err);
  const bool killed = as == "KILL";
  if (!killed && read_bytes(bench.log()) == "link" && run.status == 0) {
    // Where files have no second names they are copied.
    CHECK((contents_of(bench.folder()) == work.after));
    ++count.failures;
    return true;
  }
  CHECK(run.status == (killed ? 137 : 6));
  if (!killed) {
    CHECK(run.err.starts_with("mxact: error: "));
    CHECK(std::ranges::count(run.err, '\n') == 1);
  }
  CHECK(torn(work, contents_of(bench.folder()), killed) == "");
  ++(killed ? count.kills : count.failures);
  return true;
}

}  // namespace

TEST_CASE("a call that fails ends the work with status 6, and every file is the old or the new one") {
  // Each way by turns, at every fifth call of each work, from another one on in each.
  const std::vector<std::string> ways{"ENOSPC", "KILL", "EIO"};
  const Bench bench;
  Count count;
  std::size_t turn = 0;
  for (const Work& work : works(bench)) {
    for (std::size_t at = 1 + turn % 5; go_wrong(bench, work, ways[turn % ways.size()], at, count); at += 5) ++turn;
  }
  std::printf("%zu failing calls, %zu kills at a call\n", count.failures, count.kills);
  CHECK(count.failures > 20);
  CHECK(count.kills > 10);
}

TEST_CASE("every call that fails, in every way", "[.crash]") {
  const Bench bench;
  Count count;
  for (const Work& work : works(bench)) {
    for (const std::string as : {"ENOSPC", "EIO", "KILL"}) {
      for (std::size_t at = 1; go_wrong(bench, work, as, at, count);) ++at;
    }
  }
  std::printf("%zu failing calls, %zu kills at a call\n", count.failures, count.kills);
  CHECK(count.failures > 500);
}

TEST_CASE("writes that are interrupted or stop short are taken up again") {
  const Bench bench;
  const Work work = bench.tried("convert", "convert source --backend TRITON --platform SM90 -o packed");
  std::size_t tries = 0;
  for (const std::string as : {"EINTR", "SHORT"}) {
    for (std::size_t at = 1;; at += 3) {
      put_back(work.before, bench.folder());
      const tests::Run run = bench.run_failing(work, as, at);
      if (!fs::exists(bench.log())) break;
      INFO(as << " at call " << at << ", " << read_bytes(bench.log()) << "\n" << run.err);
      CHECK(run.status == 0);
      CHECK((contents_of(bench.folder()) == work.after));
      ++tries;
    }
  }
  std::printf("%zu calls\n", tries);
  CHECK(tries > 6);
}

}  // namespace mx::tests
