#pragma once
// Entries of golden/witness/hardware, and rows under the launches that they name.

#include <filesystem>
#include <initializer_list>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "golden/witness/recording.hpp"
#include "sim/execute/run_layer.hpp"
#include "tests/catch.hpp"
#include "tests/golden/witness/scratch.hpp"

namespace mx::tests::witness {

using namespace mx::sim;
using families::Arch, families::LaunchKey;
using layout::Role, layout::SourceOrder, layout::WeightFormat;

using Words = std::vector<std::uint32_t>;

inline constexpr std::uint64_t kLimit = std::uint64_t{1} << 24;

/// One entry of a set.
class Entry {
 public:
  Entry(const std::string& set, const std::string& id) : directory_(recorded("hardware/" + set)) {
    const Json manifest = read_json(directory_ / "manifest.json");
    for (const auto& entry : manifest.at("entries")) {
      if (entry.at("id") == id) json_ = entry;
    }
    REQUIRE(json_.is_object());
  }

  std::int64_t number(const char* key) const { return json_.at("params").at(key).integer(); }
  std::vector<std::uint8_t> bytes(const char* side, const char* name) const {
    INFO(name);
    return golden::read_recording(directory_ / json_.at(side).at(name).at("file").text(), kLimit);
  }
  std::vector<std::uint8_t> input(const char* name) const { return bytes("inputs", name); }
  Words words(const char* name, std::string_view dtype) const { return words_of(input(name), dtype); }
  Words output(const char* name) const { return words_of(bytes("outputs", name), "BF16"); }
  /// Of a recorded stage: 0 for elements that were kept. Nothing is recorded of columns that were left out.
  Words left_out(const char* name) const {
    const std::string file = json_.contains("skip") ? json_.at("skip").at(name).at("mask").at("file").text() : "";
    return file.empty() ? Words(output(name).size()) : words_of(golden::read_recording(directory_ / file, kLimit), "U8");
  }

 private:
  std::filesystem::path directory_;
  Json json_;
};

/// The launch that an entry names by the kernel's own words.
inline families::LaunchChoice launch_of(const Entry& entry, std::initializer_list<std::pair<const char*, LaunchKey>> words) {
  families::LaunchChoice choice;
  for (const auto& [word, key] : words) choice.set(key, entry.number(word));
  return choice;
}
inline families::LaunchChoice marlin_launch(const Entry& entry) {
  return launch_of(entry, {{"moe_block", LaunchKey::block_m},
                           {"tile_k", LaunchKey::tile_k},
                           {"tile_n", LaunchKey::tile_n},
                           {"threads", LaunchKey::threads},
                           {"blocks", LaunchKey::blocks}});
}

inline LayerExperts experts_of(const layout::CanonicalLayer& layer, const char* backend, const families::LaunchChoice& launch, SumsBy by,
                               const ModelActivation& activation = {"SILU", {}}, std::string_view key = "None") {
  const families::ExecutionRow& row = families::execution_of(layer.form.format, backend);
  Execution execution = execution_on(row, {Arch::sm90}, key, activation, {}, deployment::kVllm2026_05);
  execution.choice = launch;
  execution.sums = by;
  return {std::move(execution), Weights::of_checkpoint(layer, row), layer.sizes.hidden};
}

inline Words stage_of(const LayerExperts& experts, const LayerTokens& tokens, LayerStage stage, std::span<const StageValues> from = {}) {
  const std::vector<LayerStage> wanted{stage};
  StageValues made = run_layer(experts, tokens, from, wanted).front();
  if (made.dtype == "F32") {
    for (std::uint32_t& word : made.words) word = in_bf16(settled(experts, tokens.tokens(), tokens.top_k).execution, word) >> 16U;
  }
  return made.words;
}

/// Elements of a stage that are not as recorded; enough were kept to tell.
inline std::size_t differing(const Words& made, const Entry& entry, const char* name) {
  const Words recorded = entry.output(name), left_out = entry.left_out(name);
  REQUIRE(made.size() == recorded.size());
  std::size_t count = 0;
  std::set<std::uint32_t> values;
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (left_out[i] != 0) continue;
    count += made[i] != recorded[i] ? 1U : 0U;
    values.insert(recorded[i]);
  }
  CHECK(values.size() > 50);
  return count;
}

}  // namespace mx::tests::witness
