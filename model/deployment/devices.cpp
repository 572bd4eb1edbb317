#include "model/deployment/devices.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>
#include <vector>

#include "model/deployment/deployment.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace mx::deployment {
namespace {

using Names = std::string_view;

constexpr Names kNvidia = "NVIDIA CUDA GPU Compute Capability; data sheet";
constexpr Names kRocm = "vllm platforms/rocm.py _ROCM_DEVICE_ID_NAME_MAP; AMD data sheet";
constexpr Names kIntel = "Intel data sheet";
constexpr Names kQuery = "deviceQuery of the device; data sheet";
constexpr Names kSmi = "nvidia-smi of the device, in ai-dynamo/aiconfigurator 095f58a5 systems";
constexpr Names kBench = "ROCm/rocm-amdgpu-bench issue 18; data sheet";
constexpr Names kThorPort = "xformers issue 1278, flashinfer issue 3003 (sm_101 before CUDA 13); data sheet";

constexpr Names kOther = "neither cuda, rocm, xpu nor cpu: the engine serves it by a plugin, whose choices are not known here";
constexpr Names kBelowThem = "the engine's kernels, and the presets here, begin at capability 75";
constexpr Names kNoPreset = "no preset: hardware { platform cuda  capability 87 } in a deployment file describes it";
constexpr Names kNoPresetRocm = "no preset: hardware { platform rocm  gcn_arch ... } in a deployment file describes it";

constexpr std::array<Names, 3> kMi250 = {"MI250", "MI250X/MI250", "Instinct MI250X MCM"};
constexpr std::array<Names, 1> kMi325 = {"MI325"};
constexpr std::array<Names, 1> kMi300 = {"MI300X HF"};
constexpr std::array<Names, 1> kMi308 = {"MI308X HF"};
constexpr std::array<Names, 1> kMi350 = {"MI350"};
constexpr std::array<Names, 1> kMi355 = {"MI355"};
constexpr std::array<Names, 4> kThor = {"Thor", "Thor T5000", "Jetson T5000", "Jetson AGX Thor"};
constexpr std::array<Names, 2> kSpark = {"GB10", "Spark"};
constexpr std::array<Names, 2> kA100 = {"A100 40", "A100 80"};
constexpr std::array<Names, 2> kA800 = {"A800 40", "A800 80"};
constexpr std::array<Names, 1> kT4 = {"T4G"};
constexpr std::array<Names, 1> kAda = {"RTX 6000 Ada Generation"};
constexpr std::array<Names, 3> kPro6000 = {"RTX PRO 6000 Blackwell", "RTX PRO 6000 Max-Q", "RTX PRO 6000 Blackwell Max-Q"};
constexpr std::array<Names, 1> kPvc = {"PVC"};
constexpr std::array<Names, 2> kR9700 = {"R9700", "AI PRO R9700"};
constexpr std::array<Names, 1> kB70 = {"Arc B70"};
constexpr std::array<Names, 1> kB60 = {"Arc B60"};
constexpr std::array<Names, 1> kH200 = {"H200 NVL"};
constexpr std::array<Names, 3> kA6000 = {"A6000", "RTX A6000", "RTX A 6000"};
constexpr std::array<Names, 2> kGaudi = {"Gaudi", "HPU"};
constexpr std::array<Names, 4> kOrin = {"Orin", "Jetson AGX Orin", "Jetson Orin Nano", "Jetson Orin NX"};
constexpr std::array<Names, 5> kStrix = {"Strix Halo", "Strix Point", "Ryzen AI Max", "gfx1150", "gfx1151"};
constexpr std::array<Names, 4> kTpu = {"TPU v4", "TPU v5e", "TPU v5p", "TPU v6e"};

// clang-format off
constexpr std::array kDevices = {
    Device{"T4", "SM75", 40, "16", kNvidia, kT4},
    Device{"RTX 2080 Ti", "SM75", 68, "11", kNvidia},
    Device{"A100", "SM80", 108, "40, 80", kNvidia, kA100},
    Device{"A800", "SM80", 108, "40, 80", kNvidia, kA800},
    Device{"A30", "SM80", 56, "24", kNvidia},
    Device{"A10", "SM86", 72, "24", kNvidia},
    Device{"A10G", "SM86", 80, "24", kNvidia},
    Device{"A40", "SM86", 84, "48", kNvidia},
    Device{"RTX A6000", "SM86", 84, "48", kNvidia, kA6000},
    Device{"RTX 3090", "SM86", 82, "24", kNvidia},
    Device{"L4", "SM89", 58, "24", kNvidia},
    Device{"L20", "SM89", 92, "48", kNvidia},
    Device{"L40", "SM89", 142, "48", kNvidia},
    Device{"L40S", "SM89", 142, "48", kNvidia},
    Device{"RTX 4090", "SM89", 128, "24", kNvidia},
    Device{"RTX 6000 Ada", "SM89", 142, "48", kNvidia, kAda},
    Device{"H100", "SM90", 132, "80", kNvidia},
    Device{"H100 PCIe", "SM90", 114, "80", kNvidia},
    Device{"H100 NVL", "SM90", 132, "94", kNvidia},
    Device{"H800", "SM90", 132, "80", kNvidia},
    Device{"H200", "SM90", 132, "141", kNvidia, kH200},
    Device{"H20", "SM90", 78, "96", kNvidia},
    Device{"H20-3e", "SM90", 78, "141", kNvidia},
    Device{"GH200", "SM90", 132, "96, 144", kQuery},
    Device{"B100", "SM100", 0, "192", kNvidia},
    Device{"B200", "SM100", 148, "180", kQuery},
    Device{"GB200", "SM100", 152, "185", kSmi},
    Device{"B300", "SM103", 148, "269", kSmi},
    Device{"GB300", "SM103", 152, "278", kSmi},
    Device{"Jetson Thor", "SM110", 20, "128", kThorPort, kThor},
    Device{"RTX 5080", "SM120", 84, "16", kNvidia},
    Device{"RTX 5090", "SM120", 170, "32", kNvidia},
    Device{"RTX PRO 6000", "SM120", 188, "96", kNvidia, kPro6000},
    Device{"DGX Spark", "SM121", 48, "128", kNvidia, kSpark},
    Device{"MI210", "gfx90a", 104, "64", kRocm},
    Device{"MI250X", "gfx90a", 110, "64", kRocm, kMi250},
    Device{"MI300X", "gfx942", 304, "192", kRocm, kMi300},
    Device{"MI300A", "gfx942", 228, "128", kBench},
    Device{"MI308X", "gfx942", 80, "192", kRocm, kMi308},
    Device{"MI325X", "gfx942", 304, "256", kRocm, kMi325},
    Device{"MI350X", "gfx950", 256, "288", kRocm, kMi350},
    Device{"MI355X", "gfx950", 256, "288", kRocm, kMi355},
    Device{"MI450", "gfx1250", 0, "432", "AMD's announcement; public as gfx1250 alone"},
    Device{"MI455X", "gfx1250", 0, "432", "AMD's announcement; public as gfx1250 alone"},
    Device{"RX 7900 XTX", "gfx1100", 96, "24", kRocm},
    Device{"RX 7900 XT", "gfx1100", 84, "20", kRocm},
    Device{"PRO W7900", "gfx1100", 96, "48", kRocm},
    Device{"RX 9070 XT", "gfx1201", 64, "16", kRocm},
    Device{"RX 9070", "gfx1201", 56, "16", kRocm},
    Device{"Radeon AI PRO R9700", "gfx1201", 64, "32", kRocm, kR9700},
    Device{"Arc B580", "XPU", 20, "12", kIntel},
    Device{"Arc Pro B60", "XPU", 20, "24", kIntel, kB60},
    Device{"Arc Pro B70", "XPU", 32, "32", kIntel, kB70},
    Device{"Data Center GPU Max 1550", "XPU", 128, "128", kIntel, kPvc},
    Device{"Gaudi 2", "", 0, "96", "Intel data sheet", {}, kOther},
    Device{"Gaudi 3", "", 0, "128", "Intel data sheet", kGaudi, kOther},
    Device{"TPU", "", 0, "", "Google Cloud documentation", kTpu, kOther},
    Device{"P100", "", 56, "12, 16", kNvidia, {}, kBelowThem},
    Device{"V100", "", 80, "16, 32", kNvidia, {}, kBelowThem},
    Device{"Jetson Orin", "", 16, "32, 64", kNvidia, kOrin, kNoPreset},
    Device{"Radeon 8060S", "", 40, "", kRocm, kStrix, kNoPresetRocm},
};

/// Words of a full name that do not tell cards apart: who made it and its line; its socket, its memory's kind and its housing.
constexpr auto kMakers = std::to_array<Names>(
    {"nvidia", "amd", "intel", "r", "tm", "corporation", "tesla", "quadro", "geforce", "instinct", "radeon", "graphics", "gpu", "accelerator"});
constexpr auto kHousings = std::to_array<Names>(
    {"sxm", "sxm2", "sxm4", "sxm5", "sxm6", "pcie", "oam", "ac", "hbm2", "hbm2e", "hbm3", "hbm3e", "server", "workstation", "edition", "generation", "blackwell", "vf"});
// clang-format on

/// "80GB", "144G"
bool is_memory(Names token) {
  const std::size_t digits = std::min(token.find_first_not_of("0123456789"), token.size());
  return digits > 0 && (token.substr(digits) == "g" || token.substr(digits) == "gb");
}

/// Runs of letters and digits, in small letters.
std::vector<std::string> tokens_of(Names text) {
  std::vector<std::string> tokens{""};
  for (const char c : text.substr(0, 200)) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0)
      tokens.back() += static_cast<char>(std::tolower(byte));
    else if (!tokens.back().empty())
      tokens.emplace_back();
  }
  if (tokens.back().empty()) tokens.pop_back();
  return tokens;
}

std::string joined(const std::vector<std::string>& tokens) {
  std::string key;
  for (const std::string& token : tokens) key += token;
  return key;
}

/// How much of a full name is passed over.
enum class Without { nothing, makers, housings };

/// The letters by which cards are told apart.
std::string key_of(Names text, Without without) {
  std::vector<std::string> tokens = tokens_of(text);
  const auto is_one = [](const auto& words, const std::string& token) { return std::ranges::find(words, token) != words.end(); };
  if (without != Without::nothing) std::erase_if(tokens, [&](const std::string& token) { return is_memory(token) || is_one(kMakers, token); });
  if (without == Without::housings) std::erase_if(tokens, [&](const std::string& token) { return is_one(kHousings, token); });
  return joined(tokens);
}

/// Cards by what is left of their names; of two that are called alike the first.
using Cards = std::map<std::string, const Device*>;

Cards cards_without(Without without) {
  Cards cards;
  for (const Device& device : kDevices) {
    cards.emplace(key_of(device.name, without), &device);
    for (const Names other : device.others) cards.emplace(key_of(other, without), &device);
  }
  return cards;
}

/// Cards whose names have every token of the word: "RTX 6000".
std::vector<Names> sharing(Names word) {
  std::vector<Names> names;
  const std::vector<std::string> wanted = tokens_of(word);
  if (wanted.empty()) return names;
  for (const Device& device : kDevices) {
    const std::vector<std::string> has = tokens_of(device.name);
    if (std::ranges::all_of(wanted, [&](const std::string& token) { return std::ranges::find(has, token) != has.end(); }))
      names.push_back(device.name);
  }
  return names;
}

std::string listed(const std::vector<Names>& names, Names between, Names last) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) text += std::string(i == 0 ? "" : i + 1 == names.size() ? last : between) + std::string(names[i]);
  return text;
}

}  // namespace

std::span<const Device> all_devices() { return kDevices; }

const Device* find_device(std::string_view word) {
  // The fullest name first: "H100 PCIe" is a card of its own, though sockets are passed over elsewhere.
  constexpr std::array kEach{Without::nothing, Without::makers, Without::housings};
  static const std::array<Cards, kEach.size()> kCards{cards_without(kEach[0]), cards_without(kEach[1]), cards_without(kEach[2])};
  for (std::size_t i = 0; i < kEach.size(); ++i) {
    const std::string key = key_of(word, kEach[i]);
    if (key.empty()) continue;
    if (const auto found = kCards[i].find(key); found != kCards[i].end()) return found->second;
  }
  return nullptr;
}

std::string unknown_platform(std::string_view word) {
  std::vector<Names> presets, cards;
  for (const PlatformPreset& preset : all_platforms()) presets.push_back(preset.name);
  for (const Device& device : kDevices) {
    if (!device.platform.empty()) cards.push_back(device.name);
  }
  std::vector<Names> known = presets;
  known.insert(known.end(), cards.begin(), cards.end());
  std::vector<Names> near = sharing(word);
  if (near.empty()) near = nearest_names(word, known);
  const std::string text = "unknown platform '" + printable(word) + "' (" + (near.empty() ? "" : "did you mean " + listed(near, ", ", " or ") + "? ");
  return text + "known: " + listed(presets, " ", " ") + "; cards: " + listed(cards, ", ", ", ") + ")";
}

}  // namespace mx::deployment
