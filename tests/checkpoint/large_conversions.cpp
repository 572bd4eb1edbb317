// A layer of each gpt-oss model, of random bytes, through every conversion there is, as files. Hidden: it takes minutes, gigabytes of disk and, for
// the larger model, of memory. It prints a table of docs/measured/convert.json.

#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/rounding.hpp"
#include "model/families/memory.hpp"
#include "support/random.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/convert_files.hpp"

namespace mx::tests {
namespace {

namespace fs = std::filesystem;
using families::Arch;
using families::Setting;

constexpr std::array<Arch, 15> kArchs{Arch::sm75,   Arch::sm80,   Arch::sm89,  Arch::sm90,  Arch::sm100,   Arch::sm110, Arch::sm120, Arch::gfx90a,
                                      Arch::gfx942, Arch::gfx950, Arch::gfx11, Arch::gfx12, Arch::gfx1250, Arch::xpu,   Arch::cpu};

bool is_cuda(Arch arch) { return arch <= Arch::sm120; }
bool is_cuda_or_xpu(Arch arch) { return is_cuda(arch) || arch == Arch::xpu; }
bool is_cpu(Arch arch) { return arch == Arch::cpu; }
bool is_xpu(Arch arch) { return arch == Arch::xpu; }
bool is_rocm(Arch arch) { return families::platform_of(arch) == deployment::PlatformKind::rocm; }
bool is_any(Arch) { return true; }

/// Makers whose devices a backend has kernels for, by the beginning of its name; the first row that fits.
struct Devices {
  std::string_view backends;
  bool (*has)(Arch arch);
};
constexpr std::array<Devices, 9> kDevices{{
    {"FLASHINFER", is_cuda},
    {"DEEPGEMM", is_cuda},
    {"HUMMING", is_cuda},
    {"MARLIN", is_cuda_or_xpu},
    {"BATCHED_MARLIN", is_cuda},
    {"AITER", is_rocm},
    {"CPU", is_cpu},
    {"XPU", is_xpu},
    {"", is_any},
}};

bool runs_on(std::string_view backend, Arch arch) {
  return std::ranges::find_if(kDevices, [&](const Devices& row) { return backend.starts_with(row.backends); })->has(arch);
}

/// Conversions that differ in nothing are one, under all the names of their devices and engines.
struct Case {
  std::string backend;
  Setting setting;
  std::string programs;
  std::vector<std::string> platforms;
  std::vector<std::string> engines;
};

void add_once(std::vector<std::string>& names, std::string_view name) {
  if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
}

std::vector<Case> cases_of(const layout::Sizes& sizes) {
  std::vector<Case> cases;
  for (const families::BackendLayout& row : families::all_backend_layouts()) {
    for (const deployment::Engine engine : families::kConversionEngines) {
      if (!row.converts(layout::SourceOrder::gpt_oss, engine)) continue;
      for (const Arch arch : kArchs) {
        if (!runs_on(row.backend, arch)) continue;
        Setting setting{.sizes = sizes, .padded = {}, .form = {}, .engine = engine, .arch = arch};
        setting.padded = checkpoint::rounded_up(row.backend, setting);
        if (!families::broken_needs(row, setting).empty()) continue;
        std::string programs;
        for (const layout::Role role : layout::kRoles) programs += checkpoint::program_digest(row.build(role, setting).layout);
        auto same = std::ranges::find_if(cases, [&](const Case& c) { return c.backend == row.backend && c.programs == programs; });
        if (same == cases.end()) same = cases.insert(same, {std::string(row.backend), setting, programs, {}, {}});
        add_once(same->platforms, families::name_of(arch));
        add_once(same->engines, deployment::name_of(engine));
      }
    }
  }
  return cases;
}

/// One layer's experts, every byte random, written tensor by tensor.
void write_random_layer(const fs::path& directory, const layout::Sizes& sizes) {
  const std::string prefix = "model.layers.0.mlp.experts.";
  const std::int64_t e = sizes.experts, i = sizes.intermediate, h = sizes.hidden, g = sizes.group;
  const std::vector<support::TensorEntry> entries{
      {prefix + "down_proj_bias", "BF16", {e, h}},
      {prefix + "gate_up_proj_bias", "BF16", {e, 2 * i}},
      {prefix + "down_proj_blocks", "U8", {e, h, i / g, g / 2}},
      {prefix + "down_proj_scales", "U8", {e, h, i / g}},
      {prefix + "gate_up_proj_blocks", "U8", {e, 2 * i, h / g, g / 2}},
      {prefix + "gate_up_proj_scales", "U8", {e, 2 * i, h / g}},
  };
  fs::create_directory(directory);
  support::SafetensorsWriter writer(directory / "model.safetensors", entries, {{"format", "pt"}}, false);
  support::SplitMix64 random(20);
  for (const support::TensorEntry& entry : entries) {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(support::bytes_of(entry)));
    for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] = static_cast<std::uint8_t>(random.next() >> 56);
    writer.put(entry.name, bytes);
  }
  writer.commit();
}

struct Run {
  bool good;
  double seconds;   ///< of processor time: others may use the machine too
  double peak_mib;  ///< resident, with what is mapped of files
};

double seconds_of(const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6; }

/// Runs `work` in a process of its own.
Run run(const std::function<bool()>& work) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    bool good = false;
    try {
      good = work();
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}\n", error.what());
    }
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  struct rusage usage {};
  REQUIRE(::wait4(child, &status, 0, &usage) == child);
  return {WIFEXITED(status) && WEXITSTATUS(status) == 0, seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
          static_cast<double>(usage.ru_maxrss) / 1024};
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

void convert_every_way(const layout::Sizes& sizes) {
  const TemporaryDirectory directory;
  const fs::path source = directory.path() / "source", packed = directory.path() / "packed", restored = directory.path() / "restored";
  write_random_layer(source, sizes);
  const auto before = std::make_unique<support::MappedFile>(source / "model.safetensors");
  fmt::print("{} experts, intermediate {}, hidden {}: {:.0f} MiB\n", sizes.experts, sizes.intermediate, sizes.hidden,
             static_cast<double>(before->bytes().size()) / (1 << 20));
  fmt::print("| backend | platforms | engines | rounded I x H | convert, CPU s | peak MiB | restore, CPU s | peak MiB | the same bytes |\n");
  fmt::print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  int identical = 0;
  const std::vector<Case> cases = cases_of(sizes);
  for (const Case& c : cases) {
    INFO(c.backend << " on " << families::name_of(c.setting.arch) << ", engine " << deployment::name_of(c.setting.engine));
    const Run there = run([&] { return checkpoint::convert_checkpoint(source, packed, {.backend = c.backend, .setting = c.setting}).losses.empty(); });
    CHECK(there.good);
    const Run back = run([&] { return checkpoint::restore_checkpoint({packed}, restored, {}).finished; });
    CHECK(back.good);
    const support::MappedFile after(restored / "model.safetensors");
    const bool same = std::ranges::equal(before->bytes(), after.bytes());
    before->release(before->bytes());
    CHECK(same);
    identical += same ? 1 : 0;
    fmt::print("| {} | {} | {} | {} x {} | {:.1f} | {:.0f} | {:.1f} | {:.0f} | {} |\n", c.backend, joined(c.platforms), joined(c.engines),
               c.setting.padded.intermediate, c.setting.padded.hidden, there.seconds, there.peak_mib, back.seconds, back.peak_mib,
               same ? "yes" : "NO");
    std::fflush(stdout);
    fs::remove_all(packed);
    fs::remove_all(restored);
  }
  fmt::print("{} of {} conversions gave the same bytes back\n", identical, cases.size());
  // 16 backends, and TRITON's, AITER's and others' rows that differ between devices and engines.
  CHECK(cases.size() > 16);
}

}  // namespace

TEST_CASE("a layer of gpt-oss-20b comes back from every conversion", "[.exhaustive][20b]") { convert_every_way({32, 2880, 2880, 32}); }

TEST_CASE("a layer of gpt-oss-120b comes back from every conversion", "[.exhaustive][120b]") { convert_every_way({128, 2880, 2880, 32}); }

}  // namespace mx::tests
