#include "model/families/memory.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "model/error.hpp"
#include "model/families/family.hpp"
#include "model/fault.hpp"
#include "model/names.hpp"
#include "model/stand_in.hpp"

namespace mx::families {
namespace {

struct QuantityRow {
  std::string_view name;
  std::string_view symbol;
  std::int64_t (*of)(const Setting& setting);
};

/// The scales of all experts stacked, rows rounded up to 256 and columns to 8: what of them is left when each row gets as many.
std::int64_t stacked_rest(const Setting& setting, std::int64_t rows, std::int64_t length) {
  const std::int64_t stacked = setting.padded.experts * rows;
  const std::int64_t groups = length / setting.padded.group;
  return (stacked + 255) / 256 * 256 * ((groups + 7) / 8 * 8) % stacked;
}

constexpr auto kQuantities = std::to_array<QuantityRow>({
    {"w13_rows", "2I", [](const Setting& s) { return (s.form.gated ? 2 : 1) * s.padded.intermediate; }},
    {"w2_rows", "H", [](const Setting& s) { return s.padded.hidden; }},
    {"w13_groups", "H/group", [](const Setting& s) { return s.padded.hidden / s.padded.group; }},
    {"w2_groups", "I/group", [](const Setting& s) { return s.padded.intermediate / s.padded.group; }},
    {"hidden", "H", [](const Setting& s) { return s.padded.hidden; }},
    {"intermediate", "I", [](const Setting& s) { return s.padded.intermediate; }},
    {"num_warps", "num_warps", [](const Setting& s) { return std::int64_t{s.of<TritonParameters>().num_warps}; }},
    {"activation_dtype", "activation dtype", [](const Setting& s) { return static_cast<std::int64_t>(s.input_dtype); }},
    {"has_bias", "biases", [](const Setting& s) { return std::int64_t{s.has_bias}; }},
    {"input_scale_given", "input scales", [](const Setting& s) { return std::int64_t{s.has_input_scale}; }},
    {"scale_byte", "largest scale byte", [](const Setting& s) { return std::int64_t{s.of<MarlinParameters>().largest_scale_byte}; }},
    {"padding", "padding", [](const Setting& s) { return s.padded.intermediate - s.sizes.intermediate + s.padded.hidden - s.sizes.hidden; }},
    {"w13_scale_rest", "rest of the scales of w13", [](const Setting& s) { return stacked_rest(s, 2 * s.padded.intermediate, s.padded.hidden); }},
    {"w2_scale_rest", "rest of the scales of w2", [](const Setting& s) { return stacked_rest(s, s.padded.hidden, s.padded.intermediate); }},
    {"deepgemm_device", "device", [](const Setting& s) { return std::int64_t{s.arch == Arch::sm90 || s.arch == Arch::sm100}; }},
    {"deepgemm_packs", "device", [](const Setting& s) { return std::int64_t{s.arch == Arch::sm100}; }},
    {"block_side", "side of a block", [](const Setting& s) { return layout::block_side(s.padded.group); }},
});

const QuantityRow& row_of(Quantity quantity) { return kQuantities.at(static_cast<std::size_t>(quantity)); }

/// "is not a multiple of 128 (the next is 256)"
std::string broken_text(const Need& need, std::int64_t value) {
  switch (need.rule) {
    case Rule::multiple_of:
      return "is not a multiple of " + std::to_string(need.operand) + " (the next is " +
             std::to_string((value + need.operand - 1) / need.operand * need.operand) + ")";
    case Rule::at_most: return "is above " + std::to_string(need.operand);
    case Rule::equals: return "is not " + std::to_string(need.operand);
    case Rule::power_of_two: break;
  }
  return "is not a power of two";
}

/// What a quantity that is no size says of itself.
std::string found_text(Quantity quantity, std::int64_t value) {
  switch (quantity) {
    case Quantity::has_bias:
    case Quantity::has_input_scale: return std::string(symbol_of(quantity)) + " are missing";
    case Quantity::deepgemm_device:
    case Quantity::deepgemm_packs: return "another " + std::string(symbol_of(quantity));
    case Quantity::activation_dtype: return std::string(symbol_of(quantity)) + " " + std::string(name_of(static_cast<InputDtype>(value)));
    default: return std::string(symbol_of(quantity)) + " = " + std::to_string(value);
  }
}

std::string operand_text(const Need& need) {
  if (need.quantity == Quantity::activation_dtype) return std::string(name_of(static_cast<InputDtype>(need.operand)));
  return std::to_string(need.operand);
}

bool is_size(Quantity quantity) {
  return quantity != Quantity::has_bias && quantity != Quantity::has_input_scale && quantity != Quantity::activation_dtype &&
         quantity != Quantity::deepgemm_device && quantity != Quantity::deepgemm_packs;
}

/// Source: vllm at 7ca49fbe4 fused_moe/experts/, _supports_quant_scheme: of the classes of FP8 in blocks one takes other blocks, TritonExperts.
constexpr Need kSquares{Quantity::block_side, Rule::equals, layout::kBlockSide,
                        "the engine has no class of this backend for other blocks, which TRITON takes"};

std::int64_t next_multiple(std::int64_t size, std::int64_t multiple) { return (size + multiple - 1) / multiple * multiple; }

/// The same conversion as another version of the engine does it; the row itself where there is no such version.
const BackendLayout& of_other_engine(const BackendLayout& row) {
  for (const BackendLayout& other : all_backend_layouts()) {
    if (other.format == row.format && other.backend == row.backend && &other != &row) return other;
  }
  return row;
}

}  // namespace

std::string_view symbol_of(Quantity quantity) { return row_of(quantity).symbol; }
std::string_view name_of(Quantity quantity) { return row_of(quantity).name; }
std::int64_t value_of(Quantity quantity, const Setting& setting) { return row_of(quantity).of(setting); }

bool holds(const Need& need, const Setting& setting) {
  if (need.applies != nullptr && !need.applies(setting)) return true;
  const std::int64_t value = value_of(need.quantity, setting);
  switch (need.rule) {
    case Rule::multiple_of: return value % need.operand == 0;
    case Rule::at_most: return value <= need.operand;
    case Rule::equals: return value == need.operand;
    case Rule::power_of_two: break;
  }
  return value > 0 && (value & (value - 1)) == 0;
}

std::string text_of(const Need& need) {
  std::string rule(symbol_of(need.quantity));
  switch (need.rule) {
    case Rule::multiple_of: rule += " a multiple of " + std::to_string(need.operand); break;
    case Rule::at_most: rule += " at most " + operand_text(need); break;
    case Rule::equals: rule += is_size(need.quantity) ? " = " + std::to_string(need.operand) : ""; break;
    case Rule::power_of_two: rule += " a power of two"; break;
  }
  return rule + ": " + std::string(need.why);
}

std::string BrokenNeed::text() const {
  const std::string found = found_text(need.quantity, value);
  return (is_size(need.quantity) ? found + " " + broken_text(need, value) : found) + ": " + std::string(need.why);
}

bool BackendLayout::converts(const layout::Form& form, deployment::Engine engine) const {
  if (form.format != format || !has_conversions(engine) || !engines.has(engine) || (!form.gated && !takes_not_gated)) return false;
  return (form.order == layout::SourceOrder::standard ? standard_order : gpt_oss_order).has(engine);
}

Grounds grounds_of(const BackendLayout& row, const layout::Form& form, deployment::Engine engine) {
  const bool standard = form.order == layout::SourceOrder::standard;
  const bool was_run = (standard ? row.ran.standard : row.ran.gpt_oss) && (form.gated || (standard && row.ran.not_gated)) && engine < row.ran.until;
  return was_run ? row.ran.grounds : Grounds::read;
}

namespace {

struct FormWord {
  layout::SourceOrder order;
  bool gated;
  std::string_view name;
};
constexpr std::array<FormWord, 4> kFormWords{{{layout::SourceOrder::standard, true, "standard order"},
                                              {layout::SourceOrder::gpt_oss, true, "gpt-oss order"},
                                              {layout::SourceOrder::standard, false, "one matrix in w13"},
                                              {layout::SourceOrder::gpt_oss, false, "one matrix in w13, gpt-oss order"}}};

}  // namespace

Grounds grounds_of(const BackendLayout& row, deployment::Engine engine) {
  Grounds strongest = Grounds::read;
  for (const FormWord& word : kFormWords) {
    const layout::Form form(row.format, word.order, word.gated);
    if (row.converts(form, engine)) strongest = std::min(strongest, grounds_of(row, form, engine));
  }
  return strongest;
}

std::string forms_read(const BackendLayout& row, deployment::Engine engine) {
  std::string forms;
  if (!needs_recording(grounds_of(row, engine))) return forms;
  for (const FormWord& word : kFormWords) {
    const layout::Form form(row.format, word.order, word.gated);
    if (row.converts(form, engine) && !needs_recording(grounds_of(row, form, engine))) forms.append(forms.empty() ? "" : "; ").append(word.name);
  }
  return forms;
}

std::span<const BackendLayout> all_backend_layouts() {
  static const std::vector<BackendLayout> rows = joined(&Family::layouts);
  const std::span<const BackendLayout> all = fault::rows_of<BackendLayout>(fault::Table::backend_layouts, rows);
  return all.subspan(fault::planted(fault::Fault::layout_table_loses_row) ? 1 : 0);
}

const BackendLayout* find_backend_layout(std::string_view backend, layout::WeightFormat format, deployment::Engine engine) {
  if (!has_conversions(engine)) return nullptr;
  for (const BackendLayout& row : all_backend_layouts()) {
    if (row.format == format && row.engines.has(engine) && same_name(row.backend, backend)) return &row;
  }
  return nullptr;
}

std::vector<layout::Role> tensors_of(const BackendLayout& row, bool has_bias) {
  std::vector<layout::Role> roles;
  for (const layout::Role role : layout::kAllRoles) {
    const bool is_of_form = layout::is_bias(role) ? has_bias : layout::has_role(row.format, role);
    if (is_of_form || std::ranges::find(row.adds, role) != row.adds.end()) roles.push_back(role);
  }
  return roles;
}

std::optional<deployment::Engine> engine_for(const BackendLayout& row, const layout::Form& form) {
  if (row.converts(form, deployment::kDefaultEngine)) return deployment::kDefaultEngine;
  const auto found = std::ranges::find_if(kConversionEngines, [&](deployment::Engine engine) { return row.converts(form, engine); });
  return found == kConversionEngines.end() ? std::nullopt : std::optional(*found);
}

const BackendLayout& backend_layout_named(std::string_view backend, layout::WeightFormat format, deployment::Engine engine) {
  deployment::require_tables(engine, kConversionEngines, "conversions");
  if (const BackendLayout* row = find_backend_layout(backend, format, engine)) return *row;
  std::vector<std::string_view> of_format;
  std::string elsewhere;
  for (const BackendLayout& row : all_backend_layouts()) {
    if (row.format == format && row.engines.has(engine)) of_format.push_back(row.backend);
    if (!same_name(row.backend, backend)) continue;
    elsewhere += (elsewhere.empty() ? "" : ", ") + std::string(layout::name_of(row.format)) + " of engine " +
                 std::string(deployment::name_of(row.engines.has(deployment::kVllm2026_05) ? deployment::kVllm2026_05 : deployment::kVllm2026_08));
  }
  const std::string where = std::string(layout::name_of(format)) + ", engine " + std::string(deployment::name_of(engine));
  if (elsewhere.empty()) throw Error(ErrorCode::usage, unknown_name("backend", backend, of_format), where);
  throw Error(ErrorCode::usage, std::string(backend) + " converts " + elsewhere, where);
}

layout::Sizes padded_by(const ConverterPadding& padding, const Setting& setting) {
  layout::Sizes sizes = setting.padded;
  const bool is_wide = sizes.hidden % padding.wide == 0;
  sizes.intermediate = next_multiple(sizes.intermediate, !is_wide ? padding.narrow : setting.form.gated ? padding.gated : padding.not_gated);
  sizes.hidden = next_multiple(sizes.hidden, padding.hidden);
  return sizes;
}

layout::Sizes padded_by(const BackendLayout& row, const Setting& setting) {
  return padded_by(fault::planted(fault::Fault::padding_of_other_engine) ? of_other_engine(row).padding : row.padding, setting);
}

std::vector<BrokenNeed> broken_needs(const BackendLayout& row, const Setting& setting) {
  layout::check_padded(setting.sizes, setting.padded);
  std::vector<BrokenNeed> broken;
  if (layout::has_squares(row.format) && !row.finer_squares && !fault::planted(fault::Fault::finer_squares_anywhere) && !holds(kSquares, setting))
    broken.push_back({kSquares, value_of(kSquares.quantity, setting)});
  for (const Need& need : row.needs) {
    if (fault::planted(fault::Fault::need_forgotten) && &need == &row.needs.back()) continue;
    if (!holds(need, setting)) broken.push_back({need, value_of(need.quantity, setting)});
  }
  return broken;
}

void check_needs(const BackendLayout& row, const Setting& setting) {
  const std::vector<BrokenNeed> broken = broken_needs(row, setting);
  if (!broken.empty()) throw Error(ErrorCode::usage, broken.front().text(), std::string(row.backend));
}

}  // namespace mx::families
