// Names of the tables, and the facts of a row that shapes follow from.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "kernels/codec/codec.hpp"
#include "kernels/sweep/codes.hpp"
#include "model/deployment/version.hpp"
#include "model/families/building_block.hpp"
#include "model/families/memory.hpp"
#include "model/moe/activation.hpp"
#include "model/moe/routing.hpp"
#include "model/names.hpp"
#include "model/numerics/block_rules.hpp"
#include "model/numerics/contract.hpp"
#include "model/numerics/rules.hpp"
#include "model/numerics/wide_source.hpp"
#include "python/module/core.hpp"
#include "support/contract_file.hpp"

namespace mx::python {
namespace {

using Names = std::vector<std::string>;

template <class Rows>
Names names_of(const Rows& rows) {
  Names names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

Names engines() {
  Names names;
  for (const deployment::Engine engine : deployment::known_engines()) names.emplace_back(deployment::name_of(engine));
  return names;
}

/// Of the tables, and those that are written as rules.
Names profiles() {
  Names names = names_of(all_profiles());
  for (const NamedRules& rules : named_rules()) {
    if (names.back() != rules.name) names.emplace_back(rules.name);
  }
  return names;
}

bool is_block_format(const std::string& name) {
  return is_block_rules(name) || std::ranges::any_of(all_block_formats(), [&](const BlockFormat& row) { return same_name(row.name, name); });
}

/// A format and how a profile converts into it, or a block format and how one quantizes, as one text.
std::string rules_of(const std::string& to, const std::string& profile, const std::string& source) {
  if (is_block_format(to)) return text_of(recipe(profile_named(profile), block_format_named(to), source_named(source)));
  const Format& format = format_named(to);
  return text_of(format, conversion(profile_named(profile), source_named(source), format));
}

Names backends(const std::optional<std::string>& engine) {
  const std::optional<deployment::Engine> asked = engine ? std::optional(families::conversion_engine_named(*engine)) : std::nullopt;
  Names names;
  for (const families::BackendLayout& row : families::all_backend_layouts()) {
    if (asked && !row.engines.has(*asked)) continue;
    if (std::ranges::find(names, row.backend) == names.end()) names.emplace_back(row.backend);
  }
  return names;
}

/// The name in the table, and the bytes of the word that holds a code.
std::tuple<std::string, std::size_t> format_facts(const std::string& name) {
  const Format& format = factor_format_named(name);
  return {std::string(format.name), kernels::code_bytes(format)};
}

/// The name in the table, element and scale format, elements of a block along a row (0: the row) and rows of a block.
std::tuple<std::string, std::string, std::string, int, int> block_format_facts(const std::string& name) {
  const BlockFormat& format = block_format_named(name);
  return {std::string(format.name), std::string(format.element->name), std::string(format.scale->name), format.block / format.block_rows,
          format.block_rows};
}

/// Of a profile: block format, source and way of each recipe, then block format, target and way of each dequantizer.
using Way = std::tuple<std::string, std::string, std::string>;
std::pair<std::vector<Way>, std::vector<Way>> ways_of(const std::string& name) {
  const Profile& profile = profile_named(name);
  std::pair<std::vector<Way>, std::vector<Way>> ways;
  for (const Recipe& recipe : profile.recipes) {
    for (const Format* source : {&kF32, &kBf16, &kFp16}) {
      if (takes_source(recipe, *source)) {
        ways.first.emplace_back(recipe.format->name, source->name, kernels::name_of(kernels::quantize_way(recipe, *source)));
      }
    }
  }
  for (const Dequantizer& row : profile.dequantizers) {
    ways.second.emplace_back(row.format->name, row.target->name, kernels::name_of(kernels::dequantize_way(row)));
  }
  return ways;
}

}  // namespace

void bind_tables(nb::module_& module) {
  module.def("formats", [] { return names_of(all_formats()); });
  module.def("block_formats", [] { return names_of(all_block_formats()); });
  module.def("profiles", profiles);
  module.def("rules", rules_of, nb::arg("to"), nb::arg("profile"), nb::arg("source"));
  module.def("contracts", [] {
    Names names = names_of(all_contracts());
    for (std::string& name : names_of(tensor_core_contracts())) names.push_back(std::move(name));
    return names;
  });
  module.def(
      "contract_record", [](const std::string& name) { return text_of(row_of(contract_named(name))); }, nb::arg("name"));
  module.def("activations", [] { return names_of(moe::all_activations()); });
  module.def(
      "takes_up", [](const std::string& name) { return moe::activation_named(name).pairing != moe::Pairing::single; }, nb::arg("name"));
  module.def("routers", [] { return names_of(moe::all_routers()); });
  module.def("layouts", [] { return names_of(families::all_building_blocks()); });
  module.def("engines", engines);
  module.def("backends", backends, nb::arg("engine").none());
  module.def(
      "profile_name", [](const std::string& name) { return std::string(profile_named(name).name); }, nb::arg("name"));
  module.def(
      "contract_word", [](const std::string& word) { return support::contract_word(word); }, nb::arg("word"));
  module.def(
      "contract_name", [](const std::string& name) { return std::string(row_of(contract_named(name)).name); }, nb::arg("name"));
  module.def("ways", ways_of, nb::arg("profile"));
  module.def("format_facts", format_facts, nb::arg("name"));
  module.def("block_format_facts", block_format_facts, nb::arg("name"));
}

}  // namespace mx::python
