#include "model/families/libraries.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "model/deployment/sources.hpp"
#include "model/error.hpp"
#include "model/families/setting_keys.hpp"
#include "model/names.hpp"

namespace mx::families {
namespace {

using Text = std::string_view;

constexpr Text kCuda = "vllm-project/vllm requirements/cuda.txt";
constexpr Text kWheel = "vllm 0.33.0, the metadata of its CUDA wheel";
constexpr Text kRocm = "vllm-project/vllm docker/Dockerfile.rocm_base";
constexpr Text kDeepGemmCmake = "vllm-project/vllm cmake/external_projects/deepgemm.cmake";
constexpr Text kTritonCmake = "vllm-project/vllm cmake/external_projects/triton_kernels.cmake";
/// On ROCm it fetches commit 0f380657 instead, whose text was not compared with 3.5.
constexpr Text kTritonCmakeAugust = "vllm-project/vllm cmake/external_projects/triton_kernels.cmake, of CUDA";

constexpr std::array<AskedRelease, 3> kFlashinfer{{{deployment::kVllm2026_05, "0.6.11.post2", kCuda},
                                                   {deployment::kVllm2026_08, "0.6.17", kCuda},
                                                   {deployment::kVllm2026_11, "0.7.2.post1", kWheel}}};
constexpr std::array<AskedRelease, 3> kHumming{
    {{deployment::kVllm2026_05, "0.1.0", kCuda}, {deployment::kVllm2026_08, "0.1.12", kCuda}, {deployment::kVllm2026_11, "0.1.19", kWheel}}};
constexpr std::array<AskedRelease, 2> kAiter{{{deployment::kVllm2026_05, "0.1.13", kRocm}, {deployment::kVllm2026_08, "0.1.19", kRocm}}};
constexpr std::array<AskedRelease, 2> kDeepGemm{
    {{deployment::kVllm2026_05, "891d57b4", kDeepGemmCmake}, {deployment::kVllm2026_08, "8b1392b9", kDeepGemmCmake}}};
constexpr std::array<AskedRelease, 2> kTriton{
    {{deployment::kVllm2026_05, "3.5", kTritonCmake}, {deployment::kVllm2026_08, "3.5", kTritonCmakeAugust}}};

constexpr std::array<Library, 5> kLibraries{{
    {"flashinfer", "flashinfer", kFlashinfer},
    {"triton_kernels", "triton-kernels", kTriton},
    {"humming", "humming", kHumming},
    {"aiter", {}, kAiter},
    {"deepgemm", {}, kDeepGemm},
}};

Text without_v(Text release) { return release.starts_with("v") ? release.substr(1) : release; }

}  // namespace

std::span<const Library> libraries() { return kLibraries; }

const Library& library_named(Text name) {
  std::vector<Text> known;
  for (const Library& library : kLibraries) {
    if (same_name(library.name, name)) return library;
    known.push_back(library.name);
  }
  throw Error(ErrorCode::usage, unknown_name("library", name, known), "--library");
}

Text asked_release(const Library& library, deployment::Engine engine) {
  const auto row = std::ranges::find(library.asked, engine, &AskedRelease::engine);
  return row == library.asked.end() ? Text() : row->release;
}

std::vector<std::string> libraries_asked_by(Text engine_release) {
  std::vector<std::string> libraries;
  if (const auto asked = flashinfer_asked_by(engine_release)) libraries.push_back("flashinfer=" + std::string(name_of(*asked)));
  return libraries;
}

void choose_library(Setting& setting, Text name_and_release) {
  const std::size_t equals = name_and_release.find('=');
  if (equals == Text::npos || equals + 1 == name_and_release.size())
    throw Error(ErrorCode::usage, "'" + std::string(name_and_release) + "' is not NAME=RELEASE, as flashinfer=0.6.18", "--library");
  const Library& library = library_named(name_and_release.substr(0, equals));
  const Text release = name_and_release.substr(equals + 1);
  if (!library.key.empty()) {
    const SettingKey& key = *find_setting_key(library.key);
    const auto known = std::ranges::find_if(key.trials, [&](Text trial) { return deployment::is_same_release(trial, release); });
    return key.set(setting, known == key.trials.end() ? without_v(release) : *known);
  }
  const Text asked = asked_release(library, setting.engine);
  if (!deployment::is_same_release(without_v(release), asked)) {
    throw Error(ErrorCode::unsupported,
                "release " + std::string(release) + " of " + std::string(library.name) + " is not known with " +
                    std::string(deployment::name_of(setting.engine)) + ": " + std::string(asked) + " is, which it asks for",
                "--library");
  }
}

void choose_libraries(Setting& setting, std::span<const std::string> names_and_releases) {
  for (const std::string& one : names_and_releases) choose_library(setting, one);
}

bool is_of_library(Text key) { return !key.empty() && std::ranges::find(kLibraries, key, &Library::key) != kLibraries.end(); }

}  // namespace mx::families
