#include "cli/select_setup.hpp"

#include <fmt/core.h>

#include <array>
#include <string>
#include <variant>

#include "cli/output.hpp"

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

}  // namespace mx::cli
