// mxact layout list | show | where: which byte goes where.

#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "model/layout/backend.hpp"
#include "model/layout/stage.hpp"
#include "model/names.hpp"
#include "model/oracle/select.hpp"

namespace mx::cli {
namespace {

using layout::BackendLayout;
using layout::Layout;
using layout::Role;
using layout::Sizes;

// Far above any model, and small enough that no address overflows.
constexpr std::int64_t kLargestSize = std::int64_t{1} << 20;
constexpr std::int64_t kMostExperts = std::int64_t{1} << 16;

/// Shape of the tensor that is asked about. Rounded sizes default to what the backend's round-up rule gives on its first platform.
struct ShapeOptions {
  std::string backend;
  std::string tensor;
  std::string source = "gpt-oss";
  std::int64_t experts = 1;
  std::int64_t intermediate = 128;
  std::int64_t hidden = 128;
  std::int64_t padded_intermediate = 0;
  std::int64_t padded_hidden = 0;
  bool json = false;
};

const BackendLayout& backend_named(const std::string& name) {
  std::vector<std::string_view> known;
  for (const BackendLayout& row : layout::all_backend_layouts()) {
    if (same_name(row.backend, name)) return row;
    known.push_back(row.backend);
  }
  throw Error(ErrorCode::usage, unknown_name("or not yet modelled backend", name, known));
}

struct Subject {
  const BackendLayout& backend;
  Role role;
  Sizes sizes;
  Sizes padded;
  layout::SourceOrder order;
  Layout layout;
};

Subject subject_of(const ShapeOptions& options) {
  const BackendLayout& backend = backend_named(options.backend);
  const Role role = layout::role_named(options.tensor);
  const layout::SourceOrder order = layout::source_order_named(options.source);
  const Sizes sizes{options.experts, options.intermediate, options.hidden};
  for (std::int64_t size : {sizes.intermediate, sizes.hidden}) {
    if (size % sizes.group != 0) throw Error(ErrorCode::usage, fmt::format("size {} is not a multiple of {}", size, sizes.group));
  }
  const oracle::RoundedSizes rounded =
      oracle::round_up(oracle::mxfp4_tables(), backend.backend, oracle::PlatformKind::cuda, sizes.hidden, sizes.intermediate);
  Sizes padded = sizes;
  padded.hidden = options.padded_hidden > 0 ? options.padded_hidden : rounded.hidden;
  padded.intermediate = options.padded_intermediate > 0 ? options.padded_intermediate : rounded.intermediate;
  const layout::Setting setting{.sizes = sizes, .padded = padded, .form = order};
  layout::check_needs(backend, setting);
  return {backend, role, sizes, padded, order, backend.build(role, setting).layout};
}

int bits_in_memory(const Subject& subject) { return subject.layout.grain_bits(); }

int list(bool json) {
  if (json) {
    Json out = json_head("layout-list");
    for (const BackendLayout& row : layout::all_backend_layouts()) {
      out["backends"].push_back(
          {{"backend", row.backend},
           {"family", row.family},
           {"summary", row.summary},
           {"source", fmt::format("{}@{} {} {}", row.source.repository, row.source.commit, row.source.path, row.source.symbol)}});
    }
    for (const layout::StageLayout& stage : layout::all_stage_layouts())
      out["stages"].push_back({{"stage", stage.name}, {"summary", stage.summary}, {"formula", stage.formula}});
    print_json(out);
    return 0;
  }
  std::vector<std::vector<std::string>> rows{{"backend", "file", "layout"}};
  for (const BackendLayout& row : layout::all_backend_layouts()) {
    rows.push_back({std::string(row.backend), fmt::format("model/layout/{}.cpp", row.family), std::string(row.summary)});
  }
  print_table(rows);
  fmt::print("\n");
  rows = {{"building block", "", "formula"}};
  for (const layout::StageLayout& stage : layout::all_stage_layouts())
    rows.push_back({std::string(stage.name), std::string(stage.summary), std::string(stage.formula)});
  print_table(rows);
  std::string tensors;
  for (Role role : layout::kRoles) tensors += " " + std::string(layout::name_of(role));
  fmt::print("\ntensors:{}\n", tensors);
  return 0;
}

std::string digit_text(const Layout& layout, const std::vector<layout::Digit>& digits) {
  std::string text;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    text += fmt::format("  {:<6} / {:<6} % {:<6} stride {}{}\n", layout.logical()[static_cast<std::size_t>(digit->axis)].name, digit->weight,
                        digit->radix, digit->stride, digit->flipped ? "  (counted down)" : "");
  }
  return text;
}

int show(const ShapeOptions& options) {
  const Subject subject = subject_of(options);
  const Layout& memory = subject.layout;
  // Padding has no digits, but what is padded has: a kernel sees a tensor of the rounded sizes.
  const auto digits = subject.backend.build(subject.role, {.sizes = subject.padded, .padded = subject.padded, .form = subject.order}).layout.digits();
  if (options.json) {
    Json json = json_head("layout-show");
    json["backend"] = subject.backend.backend;
    json["tensor"] = layout::name_of(subject.role);
    json["source_order"] = layout::name_of(subject.order);
    for (const layout::Axis& axis : memory.logical()) json["logical"].push_back({{"axis", axis.name}, {"extent", axis.extent}});
    json["padded"] = {{"hidden", subject.padded.hidden}, {"intermediate", subject.padded.intermediate}};
    json["unit_bits"] = memory.unit_bits();
    json["memory_bits"] = bits_in_memory(subject);
    json["units"] = memory.size();
    json["addresses"] = memory.cosize();
    json["program"] = memory.describe();
    if (digits) {
      for (const layout::Digit& digit : *digits) {
        json["digits"].push_back({{"axis", memory.logical()[static_cast<std::size_t>(digit.axis)].name},
                                  {"weight", digit.weight},
                                  {"radix", digit.radix},
                                  {"stride", digit.stride},
                                  {"flipped", digit.flipped}});
      }
    }
    print_json(json);
    return 0;
  }
  fmt::print("{} {} from a {} checkpoint\n", subject.backend.backend, layout::name_of(subject.role), layout::name_of(subject.order));
  std::string shape;
  for (const layout::Axis& axis : memory.logical()) shape += fmt::format("{}{}={}", shape.empty() ? "" : ", ", axis.name, axis.extent);
  fmt::print("logical [{}], units of {} bits, in memory {} bits\n", shape, memory.unit_bits(), bits_in_memory(subject));
  fmt::print("rounded to hidden {}, intermediate {}; {} units in {} addresses\n\n{}\n", subject.padded.hidden, subject.padded.intermediate,
             memory.size(), memory.cosize(), memory.describe());
  if (digits)
    fmt::print("\nas digits{} (slowest first):\n{}", subject.sizes == subject.padded ? "" : " of the padded tensor", digit_text(memory, *digits));
  else
    fmt::print("\nno digit normal form: the program pads or carries\n");
  for (const layout::Need& need : subject.backend.needs) fmt::print("needs {}\n", layout::text_of(need));
  fmt::print("source: {} {} {} at {}\n", subject.backend.source.repository, subject.backend.source.path, subject.backend.source.symbol,
             subject.backend.source.commit);
  return 0;
}

std::int64_t coordinate_value(const std::string& text, const std::string& axis) {
  if (axis == "half" && text == "gate") return 0;
  if (axis == "half" && text == "up") return 1;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw Error(ErrorCode::usage, fmt::format("'{}' is not an index of axis {}", text, axis));
  return value;
}

/// "E=0 half=up I=3 K=17"; axes that are not named are 0.
layout::Coord parse_coordinate(const std::vector<std::string>& words, const Layout& memory) {
  const std::vector<layout::Axis>& axes = memory.logical();
  layout::Coord coord(axes.size(), 0);
  std::vector<bool> given(axes.size(), false);
  std::vector<std::string_view> known;
  for (const layout::Axis& axis : axes) known.push_back(axis.name);
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) throw Error(ErrorCode::usage, fmt::format("'{}' is not AXIS=INDEX", word));
    const std::string name = word.substr(0, equals);
    const auto axis = std::find_if(axes.begin(), axes.end(), [&](const layout::Axis& other) { return same_name(other.name, name); });
    if (axis == axes.end()) throw Error(ErrorCode::usage, unknown_name("axis", name, known));
    const auto index = static_cast<std::size_t>(axis - axes.begin());
    if (given[index]) throw Error(ErrorCode::usage, fmt::format("axis {} is given twice", axis->name));
    given[index] = true;
    coord[index] = coordinate_value(word.substr(equals + 1), axis->name);
  }
  return coord;
}

std::string content_word(layout::PadContent content) {
  return content == layout::PadContent::zero ? "padding, zero" : content == layout::PadContent::neutral ? "padding, 0x7f" : "padding, never written";
}

struct WhereOptions {
  ShapeOptions shape;
  std::vector<std::string> coordinate;
  std::optional<std::int64_t> byte;
};

int where(const WhereOptions& options) {
  const Subject subject = subject_of(options.shape);
  const Layout& memory = subject.layout;
  const int bits = bits_in_memory(subject);
  Json json = json_head("layout-where");
  json["backend"] = subject.backend.backend;
  json["tensor"] = layout::name_of(subject.role);
  if (options.byte) {
    if (!options.coordinate.empty()) throw Error(ErrorCode::usage, "give a coordinate or --byte, not both");
    const std::int64_t bytes = memory.cosize() * bits / 8;
    if (*options.byte < 0 || *options.byte >= bytes) throw Error(ErrorCode::usage, fmt::format("byte {} is not in 0..{}", *options.byte, bytes - 1));
    json["byte"] = *options.byte;
    for (std::int64_t address = *options.byte * 8 / bits; address * bits < (*options.byte + 1) * 8; ++address) {
      const layout::Place place = memory.inverse(address);
      const std::string text = place.coord ? layout::coord_text(memory.logical(), *place.coord) : content_word(place.content);
      json["holds"].push_back({{"bit", address * bits % 8}, {"is", text}});
      if (!options.shape.json) fmt::print("byte {} bit {}: {}\n", *options.byte, bits < 8 ? address * bits % 8 : 0, text);
    }
  } else {
    const layout::Coord coord = parse_coordinate(options.coordinate, memory);
    const std::int64_t address = *memory.at(coord);
    json["coordinate"] = layout::coord_text(memory.logical(), coord);
    json["byte"] = address * bits / 8;
    json["bit"] = address * bits % 8;
    if (!options.shape.json)
      fmt::print("{} is at byte {}, bit {} ({} bits)\n", layout::coord_text(memory.logical(), coord), address * bits / 8, address * bits % 8, bits);
  }
  if (options.shape.json) print_json(json);
  return 0;
}

void add_shape_options(CLI::App& verb, ShapeOptions& options) {
  verb.add_option("BACKEND", options.backend, "backend (mxact layout list)")->required();
  verb.add_option("TENSOR", options.tensor, "w13_weight, w13_weight_scale, w13_bias, w2_weight, w2_weight_scale, w2_bias")->required();
  verb.add_option("--source", options.source, "row order of the checkpoint: gpt-oss (default) or standard");
  const auto size = whole_number_in(1, kLargestSize);
  verb.add_option("--experts", options.experts, "experts (default 1)")->check(whole_number_in(1, kMostExperts));
  verb.add_option("--intermediate", options.intermediate, "intermediate size of one rank (default 128)")->check(size);
  verb.add_option("--hidden", options.hidden, "hidden size (default 128)")->check(size);
  verb.add_option("--padded-intermediate", options.padded_intermediate, "rounded size (default: the backend's round-up rule)")->check(size);
  verb.add_option("--padded-hidden", options.padded_hidden, "rounded size (default: the backend's round-up rule)")->check(size);
  verb.add_flag("--json", options.json, "machine-readable output");
}

}  // namespace

void add_layout(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("layout", "which byte goes where: list, show, where");
  verb->require_subcommand(1);

  CLI::App* list_verb = verb->add_subcommand("list", "every backend and building block with a layout model");
  const auto json = std::make_shared<bool>(false);
  list_verb->add_flag("--json", *json, "machine-readable output");
  list_verb->callback([&action, json] { action = [json] { return list(*json); }; });

  CLI::App* show_verb = verb->add_subcommand("show", "a tensor's layout: program, digits, sizes, rules, source");
  const auto shape = std::make_shared<ShapeOptions>();
  add_shape_options(*show_verb, *shape);
  show_verb->callback([&action, shape] { action = [shape] { return show(*shape); }; });

  CLI::App* where_verb = verb->add_subcommand("where", "where an element goes (E=0 half=up I=3 K=17), or what a byte holds (--byte 1234)");
  const auto place = std::make_shared<WhereOptions>();
  add_shape_options(*where_verb, place->shape);
  where_verb->add_option("COORDINATE", place->coordinate, "AXIS=INDEX of the logical tensor; axes not named are 0");
  where_verb->add_option("--byte", place->byte, "byte of the packed tensor")->check(whole_number_in(0, INT64_MAX));
  where_verb->callback([&action, place] { action = [place] { return where(*place); }; });
}

}  // namespace mx::cli
