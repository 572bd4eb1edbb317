#include "cli/select_setup.hpp"

#include <fmt/core.h>

#include <array>
#include <string>
#include <utility>

namespace mx::cli {
namespace {

using oracle::QuantConfig;
using oracle::QuantDescriptor;
using oracle::Refusal;

struct Operand {
  const char* name;
  QuantDescriptor QuantConfig::*descriptor;
};
constexpr std::array<Operand, 4> kOperands = {
    {{"a1", &QuantConfig::a1}, {"a2", &QuantConfig::a2}, {"w1", &QuantConfig::w1}, {"w2", &QuantConfig::w2}}};

std::string shape_text(const std::optional<oracle::GroupShape>& shape) {
  if (!shape) return "-";
  if (*shape == oracle::kPerTensor) return "tensor";
  if (*shape == oracle::kPerToken) return "row";
  return fmt::format("{} x {}", shape->row, shape->col);
}

std::string or_dash(const std::string& word) { return word.empty() ? "-" : word; }

std::string raised(const Refusal& refusal) { return fmt::format("the engine raises {}: {}", refusal.error_type, refusal.text); }

std::string sizes_text(const oracle::Answer<oracle::RoundedSizes>& answer) {
  if (const auto* refusal = std::get_if<Refusal>(&answer)) return raised(*refusal);
  const auto& sizes = std::get<oracle::RoundedSizes>(answer);
  return fmt::format("hidden {}, intermediate per partition {}", sizes.hidden, sizes.intermediate);
}

void print_quant(const QuantConfig& quant) {
  std::vector<std::vector<std::string>> rows{{"operand", "quantized to", "per", "scale", "alpha or global scale", "bias"}};
  for (const Operand& operand : kOperands) {
    const QuantDescriptor& of = quant.*operand.descriptor;
    rows.push_back({operand.name, or_dash(of.dtype), shape_text(of.shape), or_dash(of.scale), or_dash(of.alpha_or_gscale), or_dash(of.bias)});
  }
  print_table(rows);
  if (quant.a1.dtype.empty()) return;  // 16-bit activations: the config's remaining fields say nothing
  fmt::print("activation scales {}{}\n", quant.is_scale_swizzled ? "swizzled" : "in rows",
             quant.mx_alignment == 0 ? "" : fmt::format(", columns padded to {} before they are quantized", quant.mx_alignment));
}

void print_assembly(const oracle::Assembly& assembly) {
  fmt::print("tokens reach the experts through {}, {}{}\n", assembly.prepare_class, oracle::name_of(assembly.format),
             assembly.fp8_dispatch ? ", quantized to fp8 before they are sent" : "");
  if (assembly.num_dispatchers) fmt::print("dispatchers {}\n", *assembly.num_dispatchers);
}

Json refusal_json(const Refusal& refusal) { return {{"error_type", refusal.error_type}, {"text", refusal.text}}; }

Json sizes_json(const oracle::Answer<oracle::RoundedSizes>& answer) {
  if (const auto* refusal = std::get_if<Refusal>(&answer)) return refusal_json(*refusal);
  const auto& sizes = std::get<oracle::RoundedSizes>(answer);
  return {{"hidden", sizes.hidden}, {"intermediate_per_partition", sizes.intermediate}};
}

Json word_json(const std::string& word) { return word.empty() ? Json() : Json(word); }

Json quant_json(const oracle::Answer<QuantConfig>& answer) {
  if (const auto* refusal = std::get_if<Refusal>(&answer)) return refusal_json(*refusal);
  const auto& quant = std::get<QuantConfig>(answer);
  Json json;
  for (const Operand& operand : kOperands) {
    const QuantDescriptor& of = quant.*operand.descriptor;
    json[operand.name] = {{"dtype", word_json(of.dtype)},
                          {"group", of.shape ? Json::array({of.shape->row, of.shape->col}) : Json()},
                          {"scale", word_json(of.scale)},
                          {"alpha_or_gscale", word_json(of.alpha_or_gscale)},
                          {"bias", word_json(of.bias)}};
  }
  json["is_scale_swizzled"] = quant.is_scale_swizzled;
  json["mx_alignment"] = quant.mx_alignment;
  return json;
}

Json assembly_json(const oracle::Answer<oracle::Assembly>& answer) {
  if (const auto* refusal = std::get_if<Refusal>(&answer)) return refusal_json(*refusal);
  const auto& assembly = std::get<oracle::Assembly>(answer);
  return {{"prepare_class", assembly.prepare_class},
          {"format", oracle::name_of(assembly.format)},
          {"fp8_dispatch", assembly.fp8_dispatch},
          {"exchanged_hidden", assembly.exchanged_hidden},
          {"num_dispatchers", assembly.num_dispatchers ? Json(*assembly.num_dispatchers) : Json()},
          {"inplace", assembly.inplace},
          {"takes_layer", assembly.takes_layer}};
}

}  // namespace

void print_setup(const oracle::Resolution& resolution) {
  const oracle::Setup& setup = *resolution.setup;
  fmt::print("\nwhat follows:\nallocated: {}\n", sizes_text(setup.allocated));
  if (resolution.prepared) fmt::print("prepared:  {}\n", sizes_text(*resolution.prepared));
  if (setup.quant) {
    if (const auto* refusal = std::get_if<Refusal>(&*setup.quant)) {
      fmt::print("quantization: {}\n", raised(*refusal));
    } else {
      print_quant(std::get<QuantConfig>(*setup.quant));
    }
  }
  if (setup.assembly) {
    if (const auto* refusal = std::get_if<Refusal>(&*setup.assembly)) {
      fmt::print("kernel: {}\n", raised(*refusal));
    } else {
      print_assembly(std::get<oracle::Assembly>(*setup.assembly));
    }
  }
}

Json setup_json(const oracle::Resolution& resolution) {
  const oracle::Setup& setup = *resolution.setup;
  Json json = {{"allocated", sizes_json(setup.allocated)}};
  json["prepared"] = resolution.prepared ? sizes_json(*resolution.prepared) : Json();
  json["quant_config"] = setup.quant ? quant_json(*setup.quant) : Json();
  json["kernel"] = setup.assembly ? assembly_json(*setup.assembly) : Json();
  return json;
}

}  // namespace mx::cli
