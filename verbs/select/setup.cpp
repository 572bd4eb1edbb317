// What follows from a choice.

#include <fmt/core.h>

#include <array>
#include <string>
#include <utility>
#include <variant>

#include "verbs/select/answer.hpp"

namespace mx::verbs {
namespace {

using engine::QuantConfig;
using engine::QuantDescriptor;
using engine::Refusal;
using verbs::Cell;
using verbs::Document;
using verbs::Table;

struct Operand {
  const char* name;
  QuantDescriptor engine::QuantConfig::*descriptor;
};
constexpr std::array<Operand, 4> kOperands = {
    {{"a1", &QuantConfig::a1}, {"a2", &QuantConfig::a2}, {"w1", &QuantConfig::w1}, {"w2", &QuantConfig::w2}}};

support::Json refusal_json(const Refusal& refusal) { return {{"error_type", refusal.error_type}, {"text", refusal.text}}; }
std::string raised(const Refusal& refusal) { return fmt::format("the engine raises {}: {}", refusal.error_type, refusal.text); }

/// Sizes in words and as members, or what the engine raises.
Cell sizes_of(const engine::Answer<engine::RoundedSizes>& answer) {
  if (const auto* refusal = std::get_if<Refusal>(&answer)) return {refusal_json(*refusal), raised(*refusal)};
  const auto& sizes = std::get<engine::RoundedSizes>(answer);
  support::Json json = {{"hidden", sizes.hidden}, {"intermediate_per_partition", sizes.intermediate}};
  return {std::move(json), fmt::format("hidden {}, intermediate per partition {}", sizes.hidden, sizes.intermediate)};
}

Cell word_of(const std::string& word) { return word.empty() ? support::Json() : support::Json(word); }

Cell shape_of(const std::optional<engine::GroupShape>& shape) {
  if (!shape) return support::Json();
  support::Json json = support::Json::array({shape->row, shape->col});
  if (*shape == engine::kPerTensor) return {std::move(json), "tensor"};
  if (*shape == engine::kPerToken) return {std::move(json), "row"};
  return {std::move(json), fmt::format("{} x {}", shape->row, shape->col)};
}

/// Adds lines where `explain`; returns the value.
support::Json add_quant(Document& document, const QuantConfig& quant, bool explain) {
  Table table{{},
              {{"operand", "operand"},
               {"dtype", "quantized to"},
               {"group", "per"},
               {"scale", "scale"},
               {"alpha_or_gscale", "alpha or global scale"},
               {"bias", "bias"}}};
  for (const Operand& operand : kOperands) {
    const QuantDescriptor& of = quant.*operand.descriptor;
    table.add({operand.name, word_of(of.dtype), shape_of(of.shape), word_of(of.scale), word_of(of.alpha_or_gscale), word_of(of.bias)});
  }
  support::Json json = table.json_by_name();
  json["is_scale_swizzled"] = quant.is_scale_swizzled;
  json["mx_alignment"] = quant.mx_alignment;
  if (!explain) return json;
  document.table(std::move(table));
  // 16-bit activations: the config's remaining fields say nothing.
  if (!quant.a1.dtype.empty())
    document.line(fmt::format("activation scales {}{}", quant.is_scale_swizzled ? "swizzled" : "in rows",
                              quant.mx_alignment == 0 ? "" : fmt::format(", columns padded to {} before they are quantized", quant.mx_alignment)));
  return json;
}

support::Json add_assembly(Document& document, const engine::Assembly& assembly, bool explain) {
  if (explain) {
    document.line(fmt::format("tokens reach the experts through {}, {}{}", assembly.prepare_class, engine::name_of(assembly.format),
                              assembly.fp8_dispatch ? ", quantized to fp8 before they are sent" : ""));
    if (assembly.num_dispatchers) document.line(fmt::format("dispatchers {}", *assembly.num_dispatchers));
  }
  return {{"prepare_class", assembly.prepare_class},
          {"format", engine::name_of(assembly.format)},
          {"fp8_dispatch", assembly.fp8_dispatch},
          {"exchanged_hidden", assembly.exchanged_hidden},
          {"num_dispatchers", assembly.num_dispatchers ? support::Json(*assembly.num_dispatchers) : support::Json()},
          {"inplace", assembly.inplace},
          {"takes_layer", assembly.takes_layer}};
}

/// What `add` says of the answer, or what the engine raises instead; null without an answer.
template <typename T, typename Add>
support::Json add_answer(Document& document, const std::optional<engine::Answer<T>>& answer, const char* what, bool explain, const Add& add) {
  if (!answer) return {};
  const auto* refusal = std::get_if<Refusal>(&*answer);
  if (refusal == nullptr) return add(document, std::get<T>(*answer), explain);
  if (explain) document.line(fmt::format("{}: {}", what, raised(*refusal)));
  return refusal_json(*refusal);
}

}  // namespace

void add_setup(Document& document, const audit::Resolution& resolution, bool explain) {
  const engine::Setup& setup = *resolution.setup;
  const Cell allocated = sizes_of(setup.allocated);
  const Cell prepared = resolution.prepared ? sizes_of(*resolution.prepared) : Cell(support::Json());
  if (explain) {
    document.line(fmt::format("\nwhat follows:\nallocated: {}", allocated.shown()));
    if (resolution.prepared) document.line(fmt::format("prepared:  {}", prepared.shown()));
  }
  support::Json json = {{"allocated", allocated.value}, {"prepared", prepared.value}};
  json["quant_config"] = add_answer<QuantConfig>(document, setup.quant, "quantization", explain, add_quant);
  json["kernel"] = add_answer<engine::Assembly>(document, setup.assembly, "kernel", explain, add_assembly);
  document.value("setup", std::move(json));
}

}  // namespace mx::verbs
