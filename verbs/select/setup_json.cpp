// What follows from a choice, as JSON.

#include <array>
#include <string>
#include <utility>
#include <variant>

#include "verbs/select/answer.hpp"

namespace mx::sim {
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

Json setup_json(const oracle::Resolution& resolution) {
  const oracle::Setup& setup = *resolution.setup;
  Json json = {{"allocated", sizes_json(setup.allocated)}};
  json["prepared"] = resolution.prepared ? sizes_json(*resolution.prepared) : Json();
  json["quant_config"] = setup.quant ? quant_json(*setup.quant) : Json();
  json["kernel"] = setup.assembly ? assembly_json(*setup.assembly) : Json();
  return json;
}

}  // namespace mx::sim
