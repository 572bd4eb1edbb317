// The commands that the README, HACKING.md and docs/ show beside their examples: each is run as it stands in the text, or, where it takes long, in a
// small form that is named here. A command of a page that neither happens to is an error.

#include "tests/cli/pages.hpp"

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <set>
#include <string>

#include "support/json.hpp"
#include "tests/cli/run_program.hpp"

namespace {

using mx::support::Json;
using mx::tests::Page;
using mx::tests::Run;
using mx::tests::run_program;
using mx::tests::ShownCommand;

const std::filesystem::path kRoot = MXACT_SOURCE_DIR;

/// What is run instead of a line that takes long, or needs what a test has not: a command, or the script of the tests that runs the line's `text`.
struct Small {
  std::string page;
  std::string line;     ///< begins so
  std::string command;  ///< run in the directory of the test
  std::string script{};
  std::string text{};
};

const std::vector<Small>& small_forms() {
  static const std::vector<Small> kSmall{
      {"README.md", "./harness run ", "cd toy && ./harness run"},
      {"README.md", "./harness test ", "cd toy && ./harness test"},
      {"README.md", "export PATH=", "export PATH=$PWD/build/release/cli:$PATH && mxact --version"},
      {"HACKING.md", "./harness test ", "cd toy && ./harness test"},
      {"HACKING.md", "./harness test --preset asan-ubsan", "cd toy && ./harness test --preset asan-ubsan"},
      {"HACKING.md", "./harness run CHECKPOINT", "cd toy && ./harness run CHECKPOINT"},
      {"HACKING.md", "./harness laws my_laws.cpp",
       "cd toy && printf '#!/bin/sh\\n' > my_laws.cpp && chmod +x my_laws.cpp && ./harness laws my_laws.cpp"},
      {"HACKING.md", "./harness docs ",
       "cd toy && mkdir -p docs/site && printf '#!/bin/sh\\n' > docs/site/build.sh && chmod +x docs/site/build.sh && ./harness docs"},
      {"docs/embed.md", "cmake --preset release", "cd source && cmake --list-presets=configure | grep -F '\"release\"'"},
      {"docs/embed.md", "cmake --install build/release --prefix /opt/mxact  ", "cmake --install build/release --prefix $PWD/opt --component vectors"},
      {"docs/embed.md", "cmake --install build/release --prefix /opt/mxact --component tools",
       "cmake --install build/release --prefix $PWD/opt --component tools"},
      {"docs/embed.md", "(cd build/release && cpack -G DEB)",
       "cpack -G DEB --config build/release/CPackConfig.cmake -B $PWD/deb -D CPACK_COMPONENTS_ALL=vectors"},
      {"docs/embed.md", "cc -std=c99 encode.c", "", "tests/install/install_test.sh", "$(pkg-config --cflags --libs mxact)"},
      {"docs/embed.md", "mxact manual | man -l -", "mxact manual | head -1"},
      {"docs/embed.md", "docs/examples/ci.sh held", "docs/examples/ci.sh held recorded/ -- 'build/release/tests/props/mxact_laws_example right N1'"},
      {"docs/laws.md", "ninja -C build/release mxact_laws", "ninja -C build/release -n mxact_laws"},
      {"docs/laws.md", "RC_PARAMS=\"max_success=100000\"", "RC_PARAMS=\"max_success=10\" build/release/tests/props/mxact_laws O2"},
      {"docs/numerics.md", "mxact sweep e5m2 --profile cuda-nosat --shard 1/2", "mxact sweep e5m2 --profile cuda-nosat --shard 1/256 --state first"},
      {"docs/numerics.md", "mxact sweep e5m2 --profile cuda-nosat --shard 2/2", "mxact sweep e5m2 --profile cuda-nosat --shard 2/256 --state second"},
      {"docs/numerics.md", "mxact sweep merge first second", "mxact sweep merge first second --out part.bin  # exit status 3"},
      {"docs/performance.md", "ninja -C build/release mxact_bench", "ninja -C build/release -n mxact_bench"},
      {"docs/performance.md", "build/release/bench/mxact_bench --benchmark_repetitions=7",
       "build/release/bench/mxact_bench --benchmark_repetitions=1 --benchmark_enable_random_interleaving --benchmark_min_time=0.001 "
       "--benchmark_filter='^relayout/bytes/128x4 scales/apply/threads:[12]/' --benchmark_out=results.json"},
      {"docs/performance.md", "bench/report.py", "cp docs/measured/performance.json figures.json && bench/report.py results.json figures.json"},
      {"docs/portability.md", "tests/digest/matrix.sh ", "tests/digest/matrix.sh --help"},
      {"docs/portability.md", "tests/digest/matrix.sh gcc-O2 aarch64-O0", "tests/digest/matrix.sh --help | grep 'gcc, clang, aarch64 and s390x'"},
      {"docs/portability.md", "cmake --preset aarch64", "cd source && cmake --list-presets=configure | grep -F '\"aarch64\"'"},
      {"docs/portability.md", "cmake --build build/aarch64", "ninja -C build/release -n test_kernels mxact_digest"},
      {"docs/portability.md", "qemu-aarch64 -L", "", "tests/digest/matrix.sh", "qemu-aarch64 -L /usr/aarch64-linux-gnu"},
      {"docs/proofs.md", "ninja -C build/release mxact_kernels_proof", "ninja -C build/release -n mxact_kernels_proof"},
      {"docs/proofs.md", "build/release/tests/kernels/mxact_kernels_proof quantizers",
       "build/release/tests/kernels/mxact_kernels_proof quantizers --blocks 1 --only ocp --tier portable --shard 1/64 --state kernels.state"},
      {"docs/proofs.md", "build/release/tests/kernels/mxact_kernels_proof dequantizers",
       "build/release/tests/kernels/mxact_kernels_proof dequantizers --only mxfp4 --tier portable"},
      {"docs/proofs.md", "build/release/tests/kernels/mxact_kernels_proof thresholds",
       "build/release/tests/kernels/mxact_kernels_proof thresholds --only gguf-mxfp4 --tier portable --shard 1/256 --state thresholds.state"},
      {"docs/proofs.md", "build/release/tests/kernels/mxact_kernels_proof functions",
       "build/release/tests/kernels/mxact_kernels_proof functions --only exp2 --tier portable --shard 1/256 --state functions.state"},
      {"docs/proofs.md", "ninja -C build/release mxact_proof", "ninja -C build/release -n mxact_proof"},
      {"docs/proofs.md", "build/release/tests/proof/mxact_proof conversions",
       "build/release/tests/proof/mxact_proof conversions --row e2m1/nearest_even/saturate --shard 1/256 --state proof.state"},
      {"docs/proofs.md", "build/release/tests/proof/mxact_proof all",
       "build/release/tests/proof/mxact_proof all --row e2m1/nearest_even/saturate --shard 2/256 --state proof.state"},
      {"docs/proofs.md", "build/release/tests/proof/mxact_proof table",
       "cp docs/measured/proofs.json proofs.json && build/release/tests/proof/mxact_proof table --state proof.state --kind conversions "
       "--kind further --into proofs.json  # exit status 5"},
      {"docs/python.md", "sudo apt-get install g++", "apt-get install --help"},
      {"docs/python.md", "python3 -m venv ", "python3 -m venv --help && grep -F scikit_build_core.build source/pyproject.toml"},
      {"docs/python.md", "~/mxact/bin/pip wheel ", "", "python/tests/wheel.sh", "--no-deps"},
      {"docs/python.md", "cc -O2 docs/examples/pipe_quantizer.c", "cc -O2 docs/examples/pipe_quantizer.c -o pipe_quantizer -lm"},
      {"docs/python.md", "python -c \"import mxact, numpy", "", "python/tests/test_record.py", "mxact.record("},
      {"docs/python.md", "mxact witness recorded", "mxact witness --ledger"},
      {"docs/python.md", "mxact laws quantizer", "", "python/tests/test_pipes.py", "--profile ocp"},
      {"docs/python.md", "mxact laws converter", "", "python/tests/test_pipes.py", "MARLIN"},
      {"docs/python.md", "mxact laws oracle", "", "python/tests/test_pipes.py", "oracle"},
      {"docs/python.md", "mxact laws kernel", "", "python/tests/test_pipes.py", "--order-proof"},
      {"docs/checks.md", "mxact laws power --format mxfp4 --activation SILU --never-passes", "", "python/tests/test_pipes.py", "--never-passes"},
      {"docs/checks.md", "mxact laws power --format mxfp4 --activation SILU --json", "", "python/tests/test_pipes.py", "power"},
      {"docs/checks.md", "mxact report power.json", "mxact doctor --json > power.json && mxact report power.json -o power.html"},
      {"docs/checks.md", "mxact laws batch", "", "python/tests/test_pipes.py", "batch"},
      {"docs/hardware.md", "python -m mxact.hwcheck ", "", "python/tests/test_hwcheck.py", "mxact.hwcheck"},
      {"docs/hardware.md", "python -m mxact.hwcheck torch triton", "", "python/tests/test_hwcheck.py", "torch"},
      {"docs/hardware.md", "python -m mxact.hwcheck --only", "", "python/tests/test_hwcheck.py", "--only"},
      {"docs/hardware.md", "python -m mxact.hwcheck --record", "", "python/tests/test_hwcheck.py", "--record"},
      {"docs/hardware.md", "python -m mxact.hwcheck --from", "", "python/tests/test_hwcheck.py", "--from"},
      {"docs/hardware.md", "python -m mxact.hwcheck --report", "", "python/tests/test_hwcheck.py", "--report"},
      {"docs/hardware.md", "python -m mxact.hwcheck instructions", "", "python/tests/test_hwcheck.py", "instructions"},
      {"docs/hardware.md", "mxact witness card", "mxact witness --ledger"},
      {"docs/peers.md", "./harness peers ", "", ".ci/run", "./harness peers"},
      {"docs/peers.md", "python -m mxact.peers  ", "", "python/tests/peers_test.sh", "-m mxact.peers"},
      {"docs/peers.md", "python -m mxact.peers torch torchao", "", "python/tests/test_peers.py", "--json="},
      {"docs/peers.md", "python -m mxact.peers torch --exhaustive", "", "python/tests/test_peers.py", "--exhaustive"},
      {"docs/peers.md", "python -m mxact.peers torchao --report", "", "python/tests/test_peers.py", "--report"},
      {"docs/peers.md", "python -m mxact.peers --speed", "", "python/tests/test_peers.py", "--speed"},
      {"docs/report.md", "mxact verify CHECKPOINT",
       "mxact verify golden/witness/checkpoints/tiny-gpt-oss --platform CPU --tp 1 --json > verify.json"},
      {"docs/scale.md", "mxact plan CHECKPOINT",
       "mxact plan golden/witness/checkpoints/tiny-gpt-oss --backend MARLIN --platform SM90 --converted packed -o plan.json"},
      {"docs/scale.md", "docs/examples/convert-slurm.sh plan.json", "rm -r packed && docs/examples/convert-slurm.sh plan.json"},
      {"docs/fuzzing.md", "tests/fuzz/fuzz.sh ", "tests/fuzz/fuzz.sh nothing  # exit status 2"},
      {"docs/sanitizers.md", "tests/analysis/analyse.sh ", "tests/analysis/analyse.sh --help"},
      {"docs/trust.md", "cmake --preset release", "cd source && cmake --list-presets=configure | grep -F '\"release\"'"},
      {"docs/trust.md", "tests/trust/measure.py ", "tests/trust/measure.py --help"},
      {"docs/trust.md", "tests/trust/measure.py --thorough", "tests/trust/measure.py --thorough R6 R99  # exit status 2"},
      {"docs/layer.md", "~/mxact/bin/python docs/examples/layer_kernel.py", "", "python/tests/test_pages.py", "docs/examples/layer_kernel.py"},
      {"docs/walk.md", "~/mxact/bin/python docs/examples/walk.py", "", "python/tests/test_pages.py", "docs/examples/walk.py"},
      {"docs/vectors.md", "./harness run ", "cd toy && ./harness run"},
      {"docs/vectors.md", "ninja -C build/release mxact_c_shared", "ninja -C build/release -n mxact_c_shared mxact_c_static"},
      {"docs/vectors.md", "sudo apt-get install iverilog", "apt-get install --help"},
      {"docs/vectors.md", "export PATH=", "export PATH=$PWD/build/release/cli:$PATH && mxact --version"},
  };
  return kSmall;
}

/// How many commands of each page are run as they stand, and how many in a small form. A line that the tests no longer see would be a promise that
/// nobody keeps.
const std::map<std::string, std::pair<int, int>> kCommands{
    {"README.md", {6, 3}},        {"HACKING.md", {0, 5}},          {"docs/embed.md", {5, 7}},       {"docs/laws.md", {0, 2}},
    {"docs/numerics.md", {0, 3}}, {"docs/performance.md", {0, 3}}, {"docs/portability.md", {0, 5}}, {"docs/proofs.md", {0, 9}},
    {"docs/python.md", {0, 10}},  {"docs/report.md", {4, 1}},      {"docs/scale.md", {1, 2}},       {"docs/vectors.md", {0, 4}},
    {"docs/walk.md", {0, 1}},     {"docs/fuzzing.md", {0, 2}},     {"docs/sanitizers.md", {0, 7}},  {"docs/trust.md", {1, 3}},
    {"docs/peers.md", {0, 6}},    {"docs/checks.md", {0, 4}},      {"docs/hardware.md", {0, 8}},    {"docs/layer.md", {0, 1}},
    {"docs/for-rtl.md", {1, 0}},
};

void write(const std::filesystem::path& path, const std::string& text) { std::ofstream(path) << text; }

void write_program(const std::filesystem::path& path, const std::string& text) {
  write(path, "#!/usr/bin/env bash\n" + text);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

/// ./harness over a project of a few lines, whose program says what it was called with.
void make_toy(const std::filesystem::path& toy) {
  std::filesystem::create_directory(toy);
  std::filesystem::copy(kRoot / "harness", toy / "harness");
  write(toy / "packages.txt", "# none\n");
  write(toy / "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.25)\nproject(toy LANGUAGES NONE)\nenable_testing()\nadd_test(NAME nothing COMMAND true)\n"
        "file(WRITE ${CMAKE_BINARY_DIR}/cli/mxact \"#!/bin/sh\\necho mxact $@\\n\")\n"
        "file(CHMOD ${CMAKE_BINARY_DIR}/cli/mxact PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)\n"
        "add_custom_target(mxact)\nadd_custom_target(my_laws COMMAND cp ${MXACT_LAWS_OF} ${CMAKE_BINARY_DIR}/my_laws)\n");
  std::string presets;
  for (const std::string name : {"release", "asan-ubsan"}) {
    presets += std::string(presets.empty() ? "" : ",") + "{\"name\":\"" + name +
               "\",\"generator\":\"Ninja\",\"binaryDir\":\"${sourceDir}/build/${presetName}\"}";
  }
  write(toy / "CMakePresets.json", "{\"version\":6,\"configurePresets\":[" + presets + "]}");
}

/// A directory in which the commands of the pages find what they name: the repository's folders, the build as build/release, mxact and the tests'
/// Python on the path, and stand-ins for the schedulers of clusters where there is none.
class Place {
 public:
  Place() {
    const std::filesystem::path root = scratch_.path();
    for (const char* name : {"README.md", "docs", "golden", "tests", "bench"}) std::filesystem::create_symlink(kRoot / name, root / name);
    std::filesystem::create_symlink(kRoot, root / "source");
    std::filesystem::create_symlink(kRoot / "golden/witness/numerics/decode", root / "recorded");
    std::filesystem::create_directory(root / "build");
    std::filesystem::create_symlink(MXACT_BINARY_DIR, root / "build/release");
    std::filesystem::create_directory(root / "bin");
    std::filesystem::create_symlink(MXACT_PROGRAM, root / "bin/mxact");
    write_program(root / "bin/python3", "exec '" MXACT_PYTHON "' \"$@\"\n");
    write_program(root / "bin/sbatch",
                  "array=0-0\nwhile [[ $# -gt 0 ]]; do case $1 in --array=*) array=${1#*=} ;; --wrap) wrap=$2; shift ;; esac; shift; done\n"
                  "for ((i = ${array%-*}; i <= ${array#*-}; ++i)); do SLURM_ARRAY_TASK_ID=$i SLURM_CPUS_PER_TASK=1 bash -c \"$wrap\" >&2 || exit; "
                  "done\necho 7\n");
    if (run_program("command", "-v parallel").status != 0) {
      write_program(root / "bin/parallel", "command=${@: -1}\nwhile read -r unit; do bash -c \"${command//'{}'/$unit}\" < /dev/null || exit; done\n");
    }
    make_toy(root / "toy");
  }

  Run run(const std::string& line) const {
    const std::filesystem::path file = scratch_.path() / "line.sh";
    write(file, "cd '" + scratch_.path().string() + "' && export PATH=$PWD/bin:$PATH && { " + line + "\n}\n");
    return run_program("env -u CI bash", "'" + file.string() + "'");
  }

 private:
  mx::tests::ScratchDirectory scratch_;
};

const Small* small_form(const std::string& page, const std::string& line) {
  const Small* best = nullptr;
  for (const Small& small : small_forms()) {
    if (small.page == page && (line + " ").starts_with(small.line) && (best == nullptr || small.line.size() > best->line.size())) best = &small;
  }
  return best;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Every verb's path with the names of its options.
void collect(const Json& verb, std::map<std::string, std::set<std::string>>& verbs) {
  std::set<std::string>& options = verbs[verb["verb"].text()];
  for (const Json& option : verb["options"]) {
    for (const Json& name : option["names"]) options.insert(name.text());
  }
  for (const Json& below : verb["verbs"]) collect(below, verbs);
}

}  // namespace

TEST_CASE("the commands of the README and the docs end as the text says") {
  std::map<std::string, std::pair<int, int>> run;
  for (const Page& page : mx::tests::all_pages(kRoot)) {
    const Place place;
    for (const ShownCommand& shown : page.commands) {
      INFO(page.path << ": " << shown.line);
      ShownCommand command = shown;
      if (shown.slow) {
        ++run[page.path].second;
        const Small* small = small_form(page.path, shown.line);
        REQUIRE(small != nullptr);
        if (small->command.empty()) {
          CHECK(shown.line.find(small->text) != std::string::npos);
          CHECK(text_of(kRoot / small->script).find(small->text) != std::string::npos);
          continue;
        }
        command = mx::tests::shown_command(small->command);
      } else {
        // Simulators run for minutes, each in a test of its own: tests/golden/vectors/page_test.sh.
        if (page.path == "docs/vectors.md") continue;
        ++run[page.path].first;
      }
      const Run result = place.run(command.line);
      INFO(command.line << "\n" << result.out << result.err);
      CHECK(result.status == command.status);
    }
  }
  CHECK(run == kCommands);
}

TEST_CASE("no page shows a command in a block that nothing runs") {
  const std::regex command(
      R"((\$ |\./|\(cd |mxact |cmake |ctest |ninja |cpack |build/release|RC_PARAMS|MXACT_|source <|python3 |sudo |mpirun |export |docs/examples/\S+\.sh ).*)");
  for (const Page& page : mx::tests::all_pages(kRoot)) {
    for (const std::string& line : page.other) {
      INFO(page.path << ": " << line);
      CHECK_FALSE(std::regex_match(line, command));
    }
  }
}

TEST_CASE("verbs and options in the text of the pages are the program's") {
  std::map<std::string, std::set<std::string>> verbs;
  collect(mx::tests::run_json("help")["program"], verbs);
  int named = 0;
  for (const Page& page : mx::tests::all_pages(kRoot)) {
    for (const std::string& span : page.spans) {
      if (!span.starts_with("mxact ")) continue;
      INFO(page.path << ": " << span);
      std::istringstream words(span.substr(6, span.find('|', 6) - 6));
      std::string path;
      std::string word;
      const std::set<std::string>* options = &verbs.at("");
      while (words >> word) {
        const std::string deeper = path.empty() ? word : path + " " + word;
        if (verbs.count(deeper) == 1) {
          options = &verbs.at(path = deeper);
        } else if (word.starts_with("--")) {
          CHECK(options->count(word.substr(0, word.find('='))) == 1);
          ++named;
        } else {
          // The first word is a verb.
          CHECK_FALSE(path.empty());
        }
      }
    }
  }
  CHECK(named >= 30);
}

TEST_CASE("the harness builds what it is asked for, and passes on what the program says") {
  const Place place;
  const auto said = [&](const std::string& words, int status) {
    const Run run = place.run("cd toy && ./harness " + words);
    INFO(words << "\n" << run.out << run.err);
    CHECK(run.status == status);
    return run.out + run.err;
  };
  CHECK(said("run", 0).find("\nmxact verify") == std::string::npos);
  CHECK(said("run", 0).find("mxact verify\n") == 0);
  CHECK(said("run model -- --json", 0).find("mxact verify model --json\n") == 0);
  CHECK(said("test", 0).find("100% tests passed") != std::string::npos);
  CHECK(said("laws", 2).find("docs/examples/laws.cpp") != std::string::npos);
  CHECK(said("laws missing.cpp", 2).find("takes one C++ file that exists") != std::string::npos);
  CHECK(place.run("printf '#!/bin/sh\\necho laws $@; exit 1\\n' > toy/my_laws.cpp && chmod +x toy/my_laws.cpp").status == 0);
  CHECK(said("laws my_laws.cpp -- N1", 1).find("laws N1\n") == 0);
  CHECK(said("run a b", 2).find("one checkpoint, got 2") != std::string::npos);
  CHECK(said("", 2).find("usage:") == 0);
}
