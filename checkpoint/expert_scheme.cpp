#include "checkpoint/expert_scheme.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "model/engine/vllm/expert_schemes.hpp"
#include "model/error.hpp"
#include "support/json.hpp"

namespace mx::checkpoint {
namespace {

using Names = std::string_view;
using support::Json;

[[noreturn]] void wrong(const std::string& text, const std::string& where) { throw Error(ErrorCode::input, text, where); }
[[noreturn]] void refused(const std::string& text, const std::string& where) { throw Error(ErrorCode::unsupported, text, where); }

/// As rows compare it; empty where nothing or null is said.
std::string word_of(const Words& words, Names path) {
  const auto found = words.find(std::string(path));
  return found == words.end() || found->second == "null" ? std::string() : found->second;
}

/// Whether anything is said at a path or below it.
bool says_below(const Words& words, Names path) {
  const auto first = words.lower_bound(std::string(path));
  return first != words.end() && (first->first == path ? first->second != "null" : first->first.starts_with(std::string(path) + "."));
}

constexpr Names kCt = "compressed-tensors", kQuark = "quark";

constexpr std::array<Names, 7> kPathsOfGroups = {"weights.num_bits",         "weights.type",      "weights.strategy",
                                                 "weights.group_size",       "weights.symmetric", "input_activations.strategy",
                                                 "input_activations.dynamic"};
constexpr std::array<Names, 5> kPathsOfQuark = {"weight.dtype", "weight.0.dtype", "weight.qscheme", "input_tensors.dtype",
                                                "input_tensors.is_dynamic"};
constexpr std::array<Names, 2> kPathsOfWhole = {"quant_algo", "bits"};

std::span<const Names> paths_of(Names method) {
  if (method == kCt) return kPathsOfGroups;
  if (method == kQuark) return kPathsOfQuark;
  return kPathsOfWhole;
}

bool is_said(const engine::SchemeWord& says, const Words& words) {
  if (says.path.empty()) return true;
  if (says.values.front().empty()) return !says_below(words, says.path);
  const std::string word = word_of(words, says.path);
  return !word.empty() && std::ranges::find(says.values, word) != says.values.end();
}

/// The words that a row is held against: a scheme's own, with the format of the whole where the scheme has none.
Words words_of_layer(const SchemeWords& words) {
  if (words.scheme == nullptr) return words.whole;
  Words merged = *words.scheme;
  for (const Names key : {Names("format"), Names("bits")}) {
    if (word_of(merged, key).empty()) merged[std::string(key)] = word_of(words.whole, key);
  }
  return merged;
}

/// Rows and columns of weight_block_size, or of a group's block_structure.
std::string block_key(const std::string& text, const std::string& name, const std::string& where) {
  constexpr support::JsonLimits kLimits{.bytes = 4096, .depth = 4};
  const Json block = support::parse_json(text, kLimits, name);
  const bool is_pair =
      block.is_array() && block.size() == 2 && block[0].is_int64() && block[1].is_int64() && block[0].integer() > 0 && block[1].integer() > 0;
  if (!is_pair) wrong(fmt::format("{} is {}, must be two positive integers, the rows and columns of a block", name, block.dump()), where);
  if (block[0].integer() == 128 && block[1].integer() == 128) return "kFp8Static128BlockSym";
  return fmt::format("FP8:float32:{},{}", block[0].integer(), block[1].integer());
}

ExpertScheme of_fp8(const SchemeWords& words, const std::string& where) {
  const std::string scheme = word_of(words.whole, "activation_scheme");
  const std::string block = word_of(words.whole, "weight_block_size");
  const std::string name = words.path + ".activation_scheme";
  if (scheme.empty()) wrong(name + " is missing: the engine's method fp8 has no default for it", where);
  if (scheme != "static" && scheme != "dynamic") wrong(fmt::format("{} is '{}', must be static or dynamic", name, scheme), where);
  if (block.empty()) {
    const Names dynamic = words.batch_invariant ? "kFp8DynamicTokenSym" : "kFp8DynamicTensorSym";
    return {"fp8", "kFp8StaticTensorSym", std::string(scheme == "static" ? "kFp8StaticTensorSym" : dynamic)};
  }
  const std::string key = block_key(block, words.path + ".weight_block_size", where);
  if (scheme == "static")
    wrong(fmt::format("{} is static, together with weight_block_size: the engine's method takes dynamic alone for blocks", name), where);
  return {"fp8", key, "kFp8Dynamic128Sym"};
}

/// DeepSeek-V4's own configuration: the model's words decide, not the method's.
ExpertScheme of_deepseek_v4(const SchemeWords& words, const std::string& where) {
  constexpr Names kAlgorithm = "moe_quant_algo";
  const bool is_fp8 = words.expert_dtype == "fp8";
  if (!is_fp8 && words.dropped != kAlgorithm && word_of(words.whole, kAlgorithm) == "NVFP4") return {"nvfp4", "kNvfp4Static", "kNvfp4Dynamic"};
  const Names dtype = words.expert_dtype;
  if (dtype.empty() || dtype == "fp4") return {"mxfp4_deepseek_v4", "kMxfp4Static", "None"};
  if (is_fp8) {
    const std::string block = word_of(words.whole, "weight_block_size");
    const std::string key = block.empty() ? "kFp8Static128BlockSym" : block_key(block, words.path + ".weight_block_size", where);
    return {"fp8", key, "kFp8Dynamic128Sym"};
  }
  refused(fmt::format("expert_dtype is '{}': the engine's configuration of DeepSeek-V4 takes fp4 and fp8", dtype), where);
}

/// NVFP4 of ModelOpt: 16-bit activations where the algorithm says so, or, since 2026-08, where no group quantizes any.
ExpertScheme of_modelopt_fp4(const SchemeWords& words) {
  ExpertScheme scheme{"nvfp4", "kNvfp4Static", "kNvfp4Dynamic"};
  std::string algo = word_of(words.whole, "quant_algo");
  if (algo.empty()) algo = word_of(words.whole, "quantization.quant_algo");
  const bool no_inputs = !words.groups.empty() && deployment::since(deployment::kVllm2026_08).has(words.engine) &&
                         std::ranges::none_of(words.groups, [](const Words* group) { return says_below(*group, "input_activations"); });
  if (algo != "NVFP4" || no_inputs) scheme.activation_key = "None";
  return scheme;
}

/// What the oracle of integer weights is handed beside the key.
deployment::WeightOnlyCall weight_only_of(const SchemeWords& words, const Words& layer) {
  const auto number = [](const Words& of, Names path, std::int64_t fallback) {
    const std::string text = word_of(of, path);
    std::int64_t value = 0;
    return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc() ? value : fallback;
  };
  deployment::WeightOnlyCall call;
  if (words.method == kCt) {
    call.kind = "compressed_tensors";
    call.strategy = word_of(layer, "weights.strategy");
    call.group_size = number(layer, "weights.group_size", call.strategy == "channel" ? -1 : 0);
    call.actorder = word_of(layer, "weights.actorder");
    call.may_have_zp = word_of(layer, "weights.symmetric") == "false";
    return call;
  }
  const std::string packing = word_of(words.whole, "packing_format");
  const bool is_awq = words.method == "auto_awq" || packing.ends_with("auto_awq");
  call.kind = is_awq ? "auto_awq" : "auto_gptq";
  call.group_size = number(words.whole, "group_size", number(words.whole, "q_group_size", 0));
  call.desc_act = !is_awq && word_of(words.whole, "desc_act") == "true";
  call.may_have_zp = is_awq ? word_of(words.whole, "zero_point") == "true" : word_of(words.whole, "sym") == "false";
  return call;
}

[[noreturn]] void refuse_scheme(const SchemeWords& words, const Words& layer, const std::string& where) {
  const auto refused_methods = engine::refused_methods();
  const auto known = std::ranges::find(refused_methods, words.method, &engine::RefusedMethodRow::method);
  if (known != refused_methods.end()) refused(fmt::format("{}: method '{}' {}", words.path, words.method, known->why), where);
  const bool has_rows = std::ranges::any_of(engine::expert_schemes(), [&](const engine::ExpertSchemeRow& row) { return row.method == words.method; });
  if (!has_rows) refused(fmt::format("{}: '{}' is no quantization method of the engine that has experts", words.path, words.method), where);
  std::string said;
  for (const Names path : paths_of(words.method)) {
    if (const std::string word = word_of(layer, path); !word.empty()) said += fmt::format("{}{} {}", said.empty() ? "" : ", ", path, word);
  }
  refused(
      fmt::format("{}: method '{}' has no experts for {}", words.path, words.method, said.empty() ? "a scheme that says nothing of weights" : said),
      where);
}

}  // namespace

ExpertScheme expert_scheme(const SchemeWords& words, const std::string& where) {
  if (words.method.empty()) return {};
  if (words.method == "fp8") return of_fp8(words, where);
  if (words.method == "deepseek_v4_fp8") return of_deepseek_v4(words, where);
  if (words.method == "modelopt_fp4") return of_modelopt_fp4(words);
  const Words layer = words_of_layer(words);
  const auto rows = engine::expert_schemes();
  const auto row = std::ranges::find_if(rows, [&](const engine::ExpertSchemeRow& one) {
    return one.method == words.method && one.versions.has(words.engine) &&
           std::ranges::all_of(one.says, [&](const engine::SchemeWord& says) { return is_said(says, layer); });
  });
  if (row == rows.end()) refuse_scheme(words, layer, where);
  if (!row->refusal.empty()) refused(fmt::format("{}: method '{}': {}", words.path, words.method, row->refusal), where);
  ExpertScheme scheme{std::string(row->oracle), std::string(row->weights), std::string(row->activations), row->allow_vllm_cutlass,
                      std::string(row->quant_method)};
  const std::string block = word_of(layer, "weights.block_structure");
  if (row->weights == "kFp8Static128BlockSym" && !block.empty()) scheme.weight_key = block_key(block, words.path + ".block_structure", where);
  if (row->oracle == "int_wna16") scheme.weight_only = weight_only_of(words, layer);
  // CompressedTensorsWNA16MoEMethod compares the group size, which is None for channels.
  constexpr deployment::Versions kComparesNone = deployment::between(deployment::kVllm2026_08, deployment::kVllm2026_11);
  if (scheme.weight_only.kind == "compressed_tensors" && scheme.weight_only.strategy == "channel" && kComparesNone.has(words.engine))
    refused(fmt::format("{}: weights of integers with a scale a channel, for which the engine raises TypeError", words.path), where);
  if (scheme.weight_only.desc_act && deployment::since(deployment::kVllm2026_11).has(words.engine))
    refused(fmt::format("{}.desc_act is true: the engine no longer takes an order of activations (GPTQ)", words.path), where);
  return scheme;
}

}  // namespace mx::checkpoint
