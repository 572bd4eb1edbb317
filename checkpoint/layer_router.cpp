#include "checkpoint/layer_router.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "checkpoint/form_search.hpp"
#include "checkpoint/source_memory.hpp"
#include "model/error.hpp"
#include "model/numerics/convert.hpp"
#include "support/quote.hpp"

namespace mx::checkpoint {
namespace {

using Text = std::string_view;

/// Names of a router's weight behind a layer's prefix, and of what goes with it. Source: transformers modeling_qwen3_moe.py, modeling_llama4.py,
/// modeling_gemma4.py Gemma4TextRouter; vllm at 7ca49fbe4 models/hunyuan_v1.py, afmoe.py, longcat_flash.py, granitemoe.py.
struct RouterNames {
  Text weight;
  Text bias;
  Text expert_factors;
  Text input_scale;
};
constexpr std::array<RouterNames, 7> kNames{{{".gate.weight", {}, {}, {}},
                                             {".router.weight", ".router.bias", {}, {}},
                                             {".router.proj.weight", {}, ".router.per_expert_scale", ".router.scale"},
                                             {".router.gate.weight", {}, {}, {}},
                                             {".gate.wg.weight", {}, {}, {}},
                                             {".router.classifier.weight", {}, {}, {}},
                                             {".router.layer.weight", {}, {}, {}}}};
/// What is added to the choice, under any of these. Source: transformers modeling_deepseek_v3.py, modeling_minimax_m2.py; DeepSeek-V4
/// inference/model.py Gate; vllm at 7ca49fbe4 models/bailing_moe.py, afmoe.py and lfm2_moe.py, step3p5.py, ernie45_moe.py, longcat_flash.py,
/// laguna.py.
constexpr std::array<Text, 9> kCorrections{".gate.e_score_correction_bias",
                                           ".e_score_correction_bias",
                                           ".gate.bias",
                                           ".gate.expert_bias",
                                           ".expert_bias",
                                           ".router_bias",
                                           ".moe_statics.e_score_correction_bias",
                                           ".router.e_score_correction_bias",
                                           ".experts.e_score_correction_bias"};
/// Source: vllm at 7ca49fbe4 models/deepseek_v4/nvidia/model.py, tid2eid [vocabulary, top_k].
constexpr Text kTable = ".gate.tid2eid";

/// A tensor of floating-point numbers of that shape; none where there is no such name.
std::optional<std::vector<std::uint32_t>> numbers_of(const CheckpointFiles& files, const std::string& name, const std::vector<std::int64_t>& shape) {
  const auto found = files.tensors.find(name);
  if (found == files.tensors.end()) return std::nullopt;
  const support::TensorView& view = *found->second.view;
  const std::string place = place_of(found->second, name);
  constexpr std::array<Text, 3> kDtypes{"BF16", "F16", "F32"};
  if (std::ranges::find(kDtypes, view.dtype->name) == kDtypes.end())
    throw Error(ErrorCode::input, fmt::format("dtype is {}, expected BF16, F16 or F32 of a router", view.dtype->name), place);
  if (view.shape != shape)
    throw Error(ErrorCode::input, fmt::format("shape is {}, expected {} of a router", support::shape_text(view.shape), support::shape_text(shape)), place);
  return f32_numbers(*found->second.file, view);
}

/// Likewise, also with axes of one before it.
std::optional<std::vector<std::uint32_t>> list_of(const CheckpointFiles& files, const std::string& name, std::int64_t count) {
  const auto found = files.tensors.find(name);
  const bool in_rows = found != files.tensors.end() && found->second.view->shape == std::vector<std::int64_t>{1, count};
  return numbers_of(files, name, in_rows ? std::vector<std::int64_t>{1, count} : std::vector<std::int64_t>{count});
}

HashTable table_of(const CheckpointFiles& files, const std::string& name, std::int64_t experts) {
  const auto found = files.tensors.find(name);
  if (found == files.tensors.end()) return {};
  const support::TensorView& view = *found->second.view;
  const std::string place = place_of(found->second, name);
  constexpr std::array<Text, 2> kDtypes{"I32", "I64"};
  if (std::ranges::find(kDtypes, view.dtype->name) == kDtypes.end())
    throw Error(ErrorCode::input, fmt::format("dtype is {}, expected I32 or I64 of experts by token", view.dtype->name), place);
  if (view.shape.size() != 2 || view.shape[0] < 1 || view.shape[1] < 1)
    throw Error(ErrorCode::input, fmt::format("shape is {}, expected [ids, top_k]", support::shape_text(view.shape)), place);
  HashTable table{view.shape[0], view.shape[1], {}};
  const std::vector<std::uint8_t> bytes = found->second.file->read(view);
  const std::size_t width = static_cast<std::size_t>(view.dtype->bits) / 8;
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    std::uint64_t expert = 0;
    for (std::size_t byte = width; byte-- > 0;) expert = expert << 8U | bytes[at + byte];
    if (expert >= static_cast<std::uint64_t>(experts))
      throw Error(ErrorCode::input,
                  fmt::format("gives id {} an expert that is none of the {}", at / width / static_cast<std::size_t>(table.top_k), experts), place);
    table.experts.push_back(static_cast<std::int64_t>(expert));
  }
  return table;
}

}  // namespace

LayerRouter LayerRouter::first(std::int64_t experts, std::int64_t all) const {
  LayerRouter cut = *this;
  const auto kept = static_cast<std::size_t>(experts);
  cut.weight.resize(weight.size() / static_cast<std::size_t>(all) * kept);
  for (std::vector<std::uint32_t>* numbers : {&cut.bias, &cut.correction, &cut.expert_factors}) {
    if (!numbers->empty()) numbers->resize(kept);
  }
  if (experts == all) return cut;
  cut.facts.groups = cut.facts.topk_groups = 1;
  cut.table = {};
  return cut;
}

std::string LayerRouter::text() const {
  if (!is_known()) return "not known here: " + facts.unknown;
  return std::string(facts.recipe->name) + (table.ids == 0 ? "" : ", experts by a table, token t with id t");
}

std::vector<Value> LayerRouter::input_of(std::span<const std::uint32_t> x) const {
  std::vector<Value> values;
  const auto hidden = static_cast<double>(x.size());
  double squares = 0;
  for (const std::uint32_t code : x) {
    const double number = std::bit_cast<float>(code << 16U);
    squares += number * number;
  }
  const double root = std::sqrt(squares / hidden + epsilon) * std::sqrt(hidden);
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::uint32_t bits = x[i] << 16U;
    if (!input_scale.empty())
      bits = std::bit_cast<std::uint32_t>(
          static_cast<float>(std::bit_cast<float>(bits) / root * static_cast<double>(std::bit_cast<float>(input_scale[i]))));
    values.push_back(decode(kF32, bits));
  }
  return values;
}

std::vector<std::vector<moe::Slot>> LayerRouter::route(std::span<const std::uint32_t> x, std::int64_t hidden, std::int64_t top_k) const {
  const auto width = static_cast<std::size_t>(hidden);
  moe::Router router{static_cast<std::int64_t>(weight.size() / width), hidden, {}, bias};
  for (const std::uint32_t bits : weight) router.weight.push_back(decode(kF32, bits));
  const moe::F32Arithmetic arithmetic(Contract::f32_sequential);
  const std::uint32_t factor = std::bit_cast<std::uint32_t>(static_cast<float>(facts.factor));
  const moe::RouterSizes sizes{top_k, facts.groups, facts.topk_groups, decode(kF32, factor)};
  std::vector<std::uint32_t> added = correction;
  // The choice of such a row is the score plus a number of each expert: of a layer without one, plus 0.
  if (facts.recipe->choice == moe::Choice::score_plus_bias) added.resize(static_cast<std::size_t>(router.experts));
  std::vector<std::vector<moe::Slot>> slots;
  for (std::size_t token = 0; token * width < x.size(); ++token) {
    const std::vector<std::uint32_t> logits = moe::router_logits(arithmetic, input_of(x.subspan(token * width, width)), router);
    if (table.ids == 0) {
      slots.push_back(moe::route_logits<moe::F32Arithmetic>(*facts.recipe, sizes, logits, added));
    } else {
      const auto row = static_cast<std::ptrdiff_t>(static_cast<std::int64_t>(token) % table.ids * table.top_k);
      const std::vector<std::int64_t> chosen(table.experts.begin() + row, table.experts.begin() + row + table.top_k);
      slots.push_back(moe::weigh_experts<moe::F32Arithmetic>(*facts.recipe, sizes, logits, chosen));
    }
    for (moe::Slot& slot : slots.back()) {
      if (!expert_factors.empty()) slot.weight = moe::F32Arithmetic::mul(slot.weight, expert_factors[static_cast<std::size_t>(slot.expert)]);
    }
  }
  return slots;
}

std::pair<std::string, const LocatedTensor*> router_weight(const CheckpointFiles& files, std::string_view prefix) {
  for (const RouterNames& one : kNames) {
    const auto found = files.tensors.find(std::string(prefix) + std::string(one.weight));
    if (found != files.tensors.end()) return {std::string(found->first), &found->second};
  }
  return {{}, nullptr};
}

std::optional<LayerRouter> read_router(const CheckpointFiles& files, const CheckpointConfig& config, std::string_view prefix, std::int64_t experts,
                                       std::int64_t hidden) {
  const auto name = [&](Text suffix) { return std::string(prefix) + std::string(suffix); };
  const auto* const names = std::ranges::find_if(kNames, [&](const RouterNames& one) { return files.tensors.contains(name(one.weight)); });
  if (names == kNames.end()) return std::nullopt;
  const auto list = [&](Text suffix, std::int64_t count) {
    return suffix.empty() ? std::vector<std::uint32_t>() : list_of(files, name(suffix), count).value_or(std::vector<std::uint32_t>{});
  };
  LayerRouter router{router_facts(config, false, experts),
                     {},
                     list(names->bias, experts),
                     {},
                     list(names->expert_factors, experts),
                     list(names->input_scale, hidden),
                     config.number("rms_norm_eps").value_or(1e-6),
                     {}};
  for (const Text suffix : kCorrections) {
    if (router.correction.empty()) router.correction = list(suffix, experts);
  }
  router.facts = router_facts(config, !router.correction.empty(), experts);
  // What is not known here may have other shapes.
  if (!router.is_known()) return router;
  router.weight = *numbers_of(files, name(names->weight), {experts, hidden});
  router.table = table_of(files, name(kTable), experts);
  return router;
}

}  // namespace mx::checkpoint
