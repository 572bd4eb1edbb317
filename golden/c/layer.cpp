// The C functions of a checkpoint's layer: words to choices, a caller's memory to stages and back, every exception into a status.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "golden/c/mxact_layer.h"
#include "golden/c/sentence.hpp"
#include "model/error.hpp"
#include "model/families/fnuz.hpp"
#include "model/families/setting_keys.hpp"
#include "model/numerics/contract.hpp"
#include "sim/layer/layer_source.hpp"
#include "support/tuned_file.hpp"

namespace {

using mx::Error;
using mx::ErrorCode;
using mx::golden::c_api::with_sentence;
using mx::sim::LayerStage;
using mx::sim::StageValues;

[[noreturn]] void refuse(const std::string& text, const std::string& where) { throw Error(ErrorCode::usage, text, where); }

std::uint32_t hex_word(std::string_view text) {
  std::uint32_t word = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), word, 16);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty())
    refuse("'" + std::string(text) + "' is no hexadecimal word of 32 bits", "input-scale");
  return word;
}

/// What the choices say.
struct Choices {
  mx::checkpoint::ConvertOptions convert{};
  std::optional<mx::Contract> contract;
  std::optional<mx::sim::StaticScales> scales;
  std::string launch;  ///< for support::launch_of
  std::string device;  ///< the first key that a contract has no use for
};

void take(Choices& choices, std::string_view key, const std::string& value) {
  if (key == "contract") {
    choices.contract = mx::row_of(mx::contract_named(value)).contract;
    return;
  }
  constexpr std::string_view kLaunch = "launch.";
  if (key.starts_with(kLaunch)) {
    choices.launch += (choices.launch.empty() ? "" : ",") + std::string(key.substr(kLaunch.size())) + "=" + value;
    return;
  }
  if (key == "layer-group") {
    choices.convert.layer_group = static_cast<int>(mx::families::whole_number("layer-group", value, 1, 1 << 20)) - 1;
    return;
  }
  if (key != "engine" && choices.device.empty()) choices.device = key;
  if (key == "backend") {
    choices.convert.backend = value;
  } else if (key == "rank") {
    choices.convert.rank = static_cast<int>(mx::families::whole_number("rank", value, 0, 1 << 16));
  } else if (key == "input-scale") {
    const std::size_t colon = value.find(':');
    if (colon == std::string::npos) refuse("'" + value + "' is not HEX:HEX", "input-scale");
    choices.scales = {hex_word(std::string_view(value).substr(0, colon)), hex_word(std::string_view(value).substr(colon + 1))};
  } else {
    const mx::families::SettingKey* const known = mx::families::find_setting_key(key);
    if (known == nullptr) refuse("'" + std::string(key) + "' is no choice of a layer", "choices");
    known->set(choices.convert.setting, value);
    if (known->key == "activation") choices.convert.activation = choices.convert.setting.activation;
  }
}

/// "key=value,key=value". A record of a contract has commas in none of its forms.
Choices choices_of(const char* text) {
  Choices choices;
  std::set<std::string, std::less<>> given;
  std::string_view rest = text == nullptr ? std::string_view() : std::string_view(text);
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view one = rest.substr(0, comma);
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos) refuse("'" + std::string(one) + "' is not key=value", "choices");
    if (!given.emplace(one.substr(0, equals)).second) refuse("is given twice", std::string(one.substr(0, equals)));
    take(choices, one.substr(0, equals), std::string(one.substr(equals + 1)));
    rest = rest.substr(std::min(comma + 1, rest.size()));
  }
  if (choices.contract && !choices.launch.empty()) refuse("is of a backend's kernels, and a contract is of none", "launch");
  if (choices.contract && !choices.device.empty()) refuse("is of a backend's kernels, and a contract is of none", choices.device);
  const int ranks = choices.convert.setting.tp_size;
  if (ranks > 1 && !given.contains("rank")) refuse("which of the " + std::to_string(ranks) + " ranks is run?", "rank");
  return choices;
}

}  // namespace

struct mxact_layer {
  std::variant<mx::sim::OpenedLayer, mx::sim::OpenedContractLayer> opened;
  std::string arithmetic;
  std::string sums_by;
};

namespace {

using Opened = std::variant<mx::sim::OpenedLayer, mx::sim::OpenedContractLayer>;

Opened open(const std::string& path, int layer, const Choices& choices) {
  const mx::sim::LayerChoice choice{.layer = layer, .scales = choices.scales, .launch = mx::support::launch_of(choices.launch)};
  if (choices.contract) return mx::sim::open_contract_layer(path, choices.convert, *choices.contract, choice);
  if (!mx::sim::is_packed(path)) {
    if (choices.convert.backend.empty()) refuse("is missing: a checkpoint does not say which kernels compute it", "backend");
    return mx::sim::open_layer(path, choices.convert, choice);
  }
  if (!choices.device.empty() && choices.device != "input-scale") refuse(path + " is packed already: its files say how", choices.device);
  return mx::sim::open_packed_layer(path, choice);
}

std::string arithmetic_of(const mx::sim::OpenedLayer& layer) {
  return mx::sim::how_text(layer.experts.execution, mx::families::operation_of(layer.setting), layer.setting.engine, false);
}
std::string arithmetic_of(const mx::sim::OpenedContractLayer& layer) { return mx::sim::how_text(layer.experts); }
std::string_view summing(const mx::sim::OpenedLayer& layer) { return mx::sim::twin_of(layer.experts.execution); }
std::string_view summing(const mx::sim::OpenedContractLayer& layer) { return mx::sim::twin_of(layer.experts); }
mx::layout::Sizes sizes_of(const mx::sim::OpenedLayer& layer) {
  mx::layout::Sizes sizes = layer.experts.weights.sizes();
  sizes.hidden = layer.experts.hidden;
  return sizes;
}
mx::layout::Sizes sizes_of(const mx::sim::OpenedContractLayer& layer) { return layer.experts.sizes; }

const mxact_layer& the(const mxact_layer* layer) {
  if (layer == nullptr) refuse("no layer", "layer");
  return *layer;
}

/// Most slots, of which each has rows of its own.
constexpr std::uint64_t kMostSlots = std::uint64_t{1} << 31;

/// Tokens without x and weights.
mx::sim::LayerTokens tokens_of(std::uint32_t tokens, std::uint32_t top_k, const std::int32_t* ids) {
  const std::uint64_t slots = std::uint64_t{tokens} * top_k;
  if (slots == 0 || slots > kMostSlots)
    refuse(std::to_string(tokens) + " tokens of " + std::to_string(top_k) + " experts are none or too many", "tokens");
  mx::sim::LayerTokens made{top_k, {}};
  if (ids == nullptr) {
    made.ids.assign(slots, -1);
  } else {
    made.ids.assign(ids, ids + slots);
  }
  return made;
}

std::vector<StageValues> forms_of(const mxact_layer& layer, const mx::sim::LayerTokens& tokens) {
  return std::visit([&](const auto& opened) { return mx::sim::stage_forms(opened.experts, tokens); }, layer.opened);
}

StageValues form_named(const std::vector<StageValues>& forms, const char* name) {
  if (name == nullptr) refuse("no name", "stage");
  const LayerStage stage = mx::sim::stage_named(name).stage;
  const auto found = std::ranges::find(forms, stage, &StageValues::stage);
  if (found == forms.end()) refuse("the layer has no such stage", name);
  return *found;
}

std::uint64_t elements_of(const StageValues& form) {
  std::uint64_t elements = 1;
  for (const std::int64_t extent : form.shape) elements *= static_cast<std::uint64_t>(extent);
  return elements;
}

/// The form of a caller's stage, whose memory has its size.
StageValues form_of(const std::vector<StageValues>& forms, const mxact_layer_stage& given) {
  StageValues form = form_named(forms, given.stage);
  const std::uint64_t bytes = elements_of(form) * mx::sim::width_of(form.dtype);
  if (given.memory == nullptr) refuse("a null pointer", given.stage);
  if (given.bytes != bytes) refuse("has " + std::to_string(given.bytes) + " bytes, must have " + std::to_string(bytes), given.stage);
  return form;
}

std::span<const mxact_layer_stage> stages_in(const mxact_layer_stage* stages, std::size_t count, const char* what) {
  if (stages == nullptr && count > 0) refuse("a null pointer", what);
  return {stages, count};
}

}  // namespace

extern "C" {

const char* mxact_layer_error(void) { return mx::golden::c_api::sentence.c_str(); }

std::int32_t mxact_layer_open(const char* path, std::uint32_t layer, const char* choices, mxact_layer** opened) {
  return with_sentence([&] {
    if (path == nullptr || opened == nullptr) refuse("a null pointer", "path");
    if (layer > 1U << 20U) refuse(std::to_string(layer) + " is no number of a layer", "layer");
    Opened made = open(path, static_cast<int>(layer), choices_of(choices));
    std::string arithmetic = std::visit([](const auto& one) { return arithmetic_of(one); }, made);
    const std::string_view twin = std::visit([](const auto& one) { return summing(one); }, made);
    *opened = new mxact_layer{std::move(made), std::move(arithmetic), std::string(twin.empty() ? "the model" : twin)};
  });
}

void mxact_layer_close(mxact_layer* layer) { delete layer; }

std::int32_t mxact_layer_facts_of(const mxact_layer* layer, mxact_layer_facts* facts) {
  return with_sentence([&] {
    const mxact_layer& own = the(layer);
    if (facts == nullptr) refuse("a null pointer", "facts");
    const mx::layout::Sizes sizes = std::visit([](const auto& opened) { return sizes_of(opened); }, own.opened);
    *facts = {static_cast<std::uint32_t>(sizes.experts), static_cast<std::uint32_t>(sizes.hidden), static_cast<std::uint32_t>(sizes.intermediate),
              own.arithmetic.c_str(), own.sums_by.c_str()};
  });
}

std::int32_t mxact_layer_form_of(const mxact_layer* layer, const char* stage, std::uint32_t tokens, std::uint32_t top_k, mxact_layer_form* form) {
  return with_sentence([&] {
    if (form == nullptr) refuse("a null pointer", "form");
    const StageValues made = form_named(forms_of(the(layer), tokens_of(tokens, top_k, nullptr)), stage);
    const std::uint64_t columns = made.shape.size() < 2 ? 1 : static_cast<std::uint64_t>(made.shape[1]);
    *form = {static_cast<std::uint32_t>(mx::sim::width_of(made.dtype)), static_cast<std::uint64_t>(made.shape[0]), columns};
  });
}

std::int32_t mxact_layer_run(const mxact_layer* layer, std::uint32_t tokens, std::uint32_t top_k, const std::uint16_t* x, const std::int32_t* ids,
                             const std::uint32_t* weights, const mxact_layer_stage* from, std::size_t from_count, const mxact_layer_stage* wanted,
                             std::size_t wanted_count) {
  return with_sentence([&] {
    const mxact_layer& own = the(layer);
    if (ids == nullptr) refuse("a null pointer", "ids");
    mx::sim::LayerTokens given = tokens_of(tokens, top_k, ids);
    const mx::layout::Sizes sizes = std::visit([](const auto& opened) { return sizes_of(opened); }, own.opened);
    if (x != nullptr) given.x.assign(x, x + std::size_t{tokens} * static_cast<std::size_t>(sizes.hidden));
    if (weights != nullptr) given.weights.assign(weights, weights + given.ids.size());
    const std::vector<StageValues> forms = forms_of(own, given);
    std::vector<StageValues> start;
    for (const mxact_layer_stage& one : stages_in(from, from_count, "from")) {
      start.push_back(form_of(forms, one));
      start.back().words = mx::sim::words_of({static_cast<const std::uint8_t*>(one.memory), one.bytes}, start.back().dtype);
    }
    std::vector<LayerStage> stages;
    for (const mxact_layer_stage& one : stages_in(wanted, wanted_count, "wanted")) stages.push_back(form_of(forms, one).stage);
    const std::vector<StageValues> made =
        std::visit([&](const auto& opened) { return mx::sim::run_layer(opened.experts, given, start, stages); }, own.opened);
    for (const StageValues& stage : made) {
      const std::vector<std::uint8_t> bytes = mx::sim::bytes_of(stage);
      for (std::size_t i = 0; i < wanted_count; ++i) {
        if (stages[i] == stage.stage) std::memcpy(wanted[i].memory, bytes.data(), bytes.size());
      }
    }
  });
}

}  // extern "C"
