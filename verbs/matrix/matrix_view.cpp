#include "verbs/matrix/matrix_view.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "model/error.hpp"

namespace mx::verbs {
namespace {

/// What a cell shows: the class of a choice, the check of a refusal.
bool same_cell(const MatrixCell& a, const MatrixCell& b) {
  return a.state == b.state && a.code == b.code && (a.state != CellState::chosen || a.kernel_class == b.kernel_class);
}

bool looks_like(const MatrixAnswer& a, const MatrixAnswer& b) {
  return a.refusal == b.refusal && std::equal(a.cells.begin(), a.cells.end(), b.cells.begin(), b.cells.end(), same_cell);
}

// What each means: the checks of vllm fused_moe/modular_kernel.py
// FusedMoEExperts.is_supported_config, in its order.
/// Codes that begin with it name what else is refused.
constexpr std::string_view kMoeEp = "moe_ep";

constexpr std::array kReasons = {
    ReasonRow{"in_dtype", "dtype", "the dtype of the layer's input"},
    ReasonRow{"device", "device", "platform, capability, or a package that is not installed"},
    ReasonRow{"device+aiter_hint", "aiter", "the device, or AITER is not switched on: VLLM_ROCM_USE_AITER"},
    ReasonRow{"no_act_and_mul", "ungated", "the activation is not gated"},
    ReasonRow{"activation", "activ", "the activation function"},
    ReasonRow{"quant_scheme", "keys", "the formats of weights and activations"},
    ReasonRow{"parallel_config", "parallel", "the way the layer is spread over ranks"},
    ReasonRow{"routing_method", "routing", "the routing method"},
    ReasonRow{"activation_format", "format", "standard activations asked and batched taken, or the other way round"},
    ReasonRow{"batch_invariance", "invar", "VLLM_BATCH_INVARIANT is on"},
    ReasonRow{"lora", "lora", "LoRA is enabled"},
    ReasonRow{"humming_activation_format", "format", "standard activations asked and batched taken, or the other way round"},
    ReasonRow{"humming_gemm_type", "gemm", "another kind of GEMM is preferred: VLLM_HUMMING_MOE_GEMM_TYPE"},
    ReasonRow{"hash_routing", "hash", "the layer routes by a hash table"},
    ReasonRow{"decomposed_routing", "routing", "the layer refuses kernels that route by themselves"},
    ReasonRow{"router_logits_dtype", "logits", "the dtype of the router's scores"},
    ReasonRow{"shape", "shape", "the hidden size"},
    ReasonRow{"size", "size", "the hidden or the intermediate size"},
    ReasonRow{"bias", "bias", "biases"},
    ReasonRow{"expert_count", "experts", "the number of experts"},
    ReasonRow{"situ_betas", "betas", "the betas of SITU"},
    ReasonRow{"b12x_activation", "activ", "the activation function with these formats"},
    ReasonRow{"quark_missing", "package", "a Python package that is not installed"},
    ReasonRow{"flydsl_missing", "package", "a Python package that is not installed"},
    ReasonRow{"torch_ops_missing", "package", "a Python package that is not installed"},
    ReasonRow{"swiglu_activation", "activ", "the activation function"},
    ReasonRow{"swiglu_alpha_beta", "alpha", "alpha or beta of SwiGLU"},
    ReasonRow{"swiglu_params", "limit", "limit, alpha or beta of SwiGLU"},
    ReasonRow{"top_k", "top_k", "the experts of a token"},
    ReasonRow{"moe_ep", "moe_ep", "what FlashInfer's expert-parallel kernels take"},
    ReasonRow{"zp_or_bias", "call", "what the checkpoint of integers says"},
    ReasonRow{"awq_layout", "call", "what the checkpoint of integers says"},
    ReasonRow{"desc_act", "call", "what the checkpoint of integers says"},
    ReasonRow{"actorder", "call", "what the checkpoint of integers says"},
    ReasonRow{"marlin", "call", "what the checkpoint of integers says"},
    ReasonRow{"moe_wna16_layout", "call", "what the checkpoint of integers says"},
    ReasonRow{"ct_only", "call", "what the checkpoint of integers says"},
    ReasonRow{"zp", "call", "what the checkpoint of integers says"},
    ReasonRow{"strategy", "call", "what the checkpoint of integers says"},
    ReasonRow{"w4a8_off", "call", "what the checkpoint of integers says"},
    ReasonRow{"group_size", "call", "what the checkpoint of integers says"},
    ReasonRow{"exc:ModuleNotFoundError", "package", "a Python package that is not installed"},
    ReasonRow{"exc:ValueError", "raises", "the check raises ValueError"},
    ReasonRow{"exc:KeyError", "raises", "the check raises KeyError"},
    ReasonRow{"raises", "raises", "the engine chooses it, and then raises an exception"},
    ReasonRow{"model", "model", "the model's sizes cannot be spread so, or its class raises"},
    ReasonRow{"", "-", "no kernel class"},
};

constexpr LegendRow kChosen{"CHOSEN", "the engine's choice"};
constexpr LegendRow kPossible{"possible", "a kernel class takes the deployment, but the engine does not choose the backend"};
constexpr LegendRow kRaises{"RAISES", "the engine raises an exception instead of choosing"};
constexpr std::string_view kNoBackend = "no backend";

MatrixWord word_of(const MatrixCell& cell, const deployment::PlatformPreset& platform) {
  const std::string in_class = cell.kernel_class.empty() ? std::string() : fmt::format(" ({})", cell.kernel_class);
  if (cell.state == CellState::chosen) return {kChosen.word, cell.state, "chosen" + in_class};
  if (cell.state == CellState::possible) return {kPossible.word, cell.state, "possible"};
  const ReasonRow& reason = reason_of(cell.code);
  // What was asked is that of the platform which stands for the others.
  const std::string why = cell.text.empty() ? std::string(reason.meaning) : fmt::format("{}: {}", platform.name, cell.text);
  return {reason.word, cell.state, fmt::format("refused{}: {}", in_class, why)};
}

MatrixWord refusal_of(const MatrixAnswer& answer) {
  if (answer.chosen) return {"", std::nullopt, ""};
  return {kRaises.word, std::nullopt, "the engine raises " + answer.refusal};
}

}  // namespace

std::span<const ReasonRow> reasons() { return kReasons; }

const ReasonRow& reason_of(std::string_view code) {
  for (const ReasonRow& row : kReasons) {
    if (row.code == code || (row.code == kMoeEp && code.starts_with(kMoeEp))) return row;
  }
  throw Error(ErrorCode::usage, "no check gives the code '" + std::string(code) + "'");
}

std::vector<MatrixGroup> equal_spreads(const Matrix& matrix, const MatrixSection& section) {
  std::vector<MatrixGroup> groups;
  for (std::size_t spread = 0; spread < matrix.spreads.size(); ++spread) {
    const auto same = [&](const MatrixGroup& group) {
      for (std::size_t platform = 0; platform < matrix.platforms.size(); ++platform) {
        if (!looks_like(matrix.answer(section, group.members.front(), platform), matrix.answer(section, spread, platform))) return false;
      }
      return true;
    };
    const auto group = std::find_if(groups.begin(), groups.end(), same);
    if (group == groups.end()) {
      groups.push_back({{spread}});
    } else {
      group->members.push_back(spread);
    }
  }
  return groups;
}

std::vector<MatrixGroup> equal_platforms(const Matrix& matrix, const MatrixSection& section, std::size_t spread) {
  std::vector<MatrixGroup> groups;
  for (std::size_t platform = 0; platform < matrix.platforms.size(); ++platform) {
    const bool same =
        !groups.empty() && looks_like(matrix.answer(section, spread, groups.back().members.front()), matrix.answer(section, spread, platform));
    if (!same) groups.push_back({});
    groups.back().members.push_back(platform);
  }
  return groups;
}

std::vector<MatrixGroup> equal_sections(const Matrix& matrix) {
  std::vector<MatrixGroup> groups;
  for (std::size_t i = 0; i < matrix.sections.size(); ++i) {
    const MatrixSection& section = matrix.sections[i];
    const auto same = [&](const MatrixGroup& group) {
      const MatrixSection& first = matrix.sections[group.members.front()];
      return first.tables == section.tables && first.scheme->oracle == section.scheme->oracle &&
             std::equal(first.answers.begin(), first.answers.end(), section.answers.begin(), section.answers.end(), looks_like);
    };
    const auto group = std::find_if(groups.begin(), groups.end(), same);
    if (group == groups.end()) {
      groups.push_back({{i}});
    } else {
      group->members.push_back(i);
    }
  }
  return groups;
}

std::string spread_names(const Matrix& matrix, const MatrixGroup& group) {
  std::string text;
  for (std::size_t spread : group.members) text += (text.empty() ? "" : " ") + std::string(matrix.spreads[spread]->name);
  return text;
}

std::vector<MatrixLine> lines_of(const Matrix& matrix, const MatrixSection& section, std::size_t spread, std::span<const MatrixGroup> platforms) {
  std::vector<const MatrixAnswer*> columns;
  std::vector<const deployment::PlatformPreset*> firsts;
  for (const MatrixGroup& group : platforms) {
    firsts.push_back(matrix.platforms[group.members.front()]);
    columns.push_back(&matrix.answer(section, spread, group.members.front()));
  }
  std::vector<MatrixLine> lines;
  for (std::size_t backend = 0; backend < section.tables->backends.size(); ++backend) {
    const engine::BackendRow& row = section.tables->backends[backend];
    const auto chosen = [&](const MatrixAnswer* answer) { return answer->chosen == backend; };
    if (row.classes.empty() && std::none_of(columns.begin(), columns.end(), chosen)) continue;
    lines.push_back({row.name, {}});
    for (std::size_t i = 0; i < columns.size(); ++i) lines.back().words.push_back(word_of(columns[i]->cells[backend], *firsts[i]));
  }
  if (std::any_of(columns.begin(), columns.end(), [](const MatrixAnswer* answer) { return !answer->chosen; })) {
    lines.push_back({kNoBackend, {}});
    for (const MatrixAnswer* answer : columns) lines.back().words.push_back(refusal_of(*answer));
  }
  return lines;
}

std::vector<LegendRow> legend_of(const Matrix& matrix) {
  std::vector<std::string_view> codes;
  bool raises = false;
  for (const MatrixSection& section : matrix.sections) {
    for (const MatrixAnswer& answer : section.answers) {
      raises = raises || !answer.chosen;
      for (const MatrixCell& cell : answer.cells) {
        if (cell.state == CellState::refused && !cell.code.empty() && std::find(codes.begin(), codes.end(), cell.code) == codes.end())
          codes.push_back(cell.code);
      }
    }
  }
  std::vector<LegendRow> rows = {kChosen, kPossible};
  for (const ReasonRow& reason : kReasons) {
    const auto same = [&](const LegendRow& row) { return row.word == reason.word && row.meaning == reason.meaning; };
    const bool is_there = std::find(codes.begin(), codes.end(), reason.code) != codes.end();
    if (is_there && std::none_of(rows.begin(), rows.end(), same)) rows.push_back({reason.word, reason.meaning});
  }
  if (raises) rows.push_back(kRaises);
  return rows;
}

}  // namespace mx::verbs
