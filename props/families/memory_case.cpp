#include "props/families/memory_case.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <memory>

#include "checkpoint/rounding.hpp"
#include "model/error.hpp"
#include "model/families/family.hpp"
#include "model/families/setting_keys.hpp"
#include "props/failure_file.hpp"
#include "props/layout/generators.hpp"

namespace mx::props {
namespace {

using families::BackendLayout;
using families::Setting;
using layout::Form;
using layout::Role;
using layout::Sizes;
using layout::SourceOrder;
using layout::WeightFormat;

Form random_form(const BackendLayout& row, deployment::Engine engine) {
  std::vector<Form> forms;
  for (SourceOrder order : {SourceOrder::gpt_oss, SourceOrder::standard}) {
    for (bool gated : {true, false}) {
      const Form form(row.format, order, gated);
      if (row.converts(form, engine)) forms.push_back(form);
    }
  }
  return forms[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(forms.size()) - 1))];
}

bool needs_bias(const BackendLayout& row, const Setting& setting) {
  return std::ranges::any_of(row.needs, [&](const families::Need& need) {
    return need.quantity == families::Quantity::has_bias && (need.applies == nullptr || need.applies(setting));
  });
}

/// A multiple of `step` around a tile's edge; large tiles seldom more than once, unless `most` says how many there may be.
std::int64_t pick_size(std::int64_t step, std::int64_t tile, std::int64_t most) {
  const std::int64_t few = tile < 128 ? pick(1, 3) : pick(0, 7) == 0 ? pick(2, 3) : 1;
  const std::int64_t tiles = most > 1 ? pick(1, most) : few;
  return std::max((tile * tiles + step * pick(-2, 2)) / step * step, step);
}

/// Of all experts: every element is looked at, so that a layer of many tiles has either many rows, many columns or many experts.
constexpr std::int64_t kManyTiles = 20;

/// One case in eight may have many tiles: where the sizes are whole large tiles, those are what hundreds of different shapes are made of.
Sizes random_sizes(const BackendFormula& formula) {
  const std::int64_t group = std::max<std::int64_t>(layout::group_of(formula.format), 1);
  const std::int64_t step = group > 1 ? group : pick_of({1, 16});
  const bool many = pick(0, 7) == 0;
  Sizes sizes{1, pick_size(step, formula.tile_i, many ? 6 : 1), pick_size(step, formula.tile_h, many ? 4 : 1), group};
  const std::int64_t elements = sizes.intermediate * sizes.hidden;
  const std::int64_t fit = std::clamp<std::int64_t>(kManyTiles * formula.tile_i * formula.tile_h / elements, 1, 12);
  sizes.experts = pick(1, many ? fit : elements > 16000 ? 2 : 4);
  return sizes;
}

Sizes up_to(Sizes sizes, std::int64_t multiple) {
  sizes.intermediate = round_up(sizes.intermediate, multiple);
  sizes.hidden = round_up(sizes.hidden, multiple);
  return sizes;
}

/// Only MXFP4 is rounded up before loading: as the engine does for the backend or, where that changes nothing, further, which converters do not mind.
Sizes random_padding(const BackendLayout& row, const Setting& setting) {
  if (setting.form.format != WeightFormat::mxfp4) return setting.sizes;
  const std::int64_t kind = pick(0, 2);
  if (kind == 0) return setting.sizes;
  const Sizes rounded = checkpoint::rounded_up(row.backend, setting);
  return kind == 1 && rounded != setting.sizes ? rounded : up_to(setting.sizes, 128);
}

void make_acceptable(const BackendLayout& row, Setting& setting) {
  if (families::broken_needs(row, setting).empty()) return;
  RC_ASSERT_THROWS_AS(families::check_needs(row, setting), Error);
  const Sizes drawn = setting.padded;
  const bool pads = setting.form.format == WeightFormat::mxfp4 && pick(0, 1) == 1;
  for (std::int64_t multiple : {16, 32, 64, 128, 256}) {
    setting.padded = up_to(drawn, multiple);
    if (!pads) setting.sizes = setting.padded;
    if (families::broken_needs(row, setting).empty()) return;
  }
  RC_FAIL(std::string(row.backend) + " refuses " + text_of(setting) + ": " + families::broken_needs(row, setting).front().text());
}

std::string sizes_text(const Sizes& sizes) { return std::to_string(sizes.intermediate) + "x" + std::to_string(sizes.hidden); }

/// What the tensors of a layer look like: their rows, sizes and rounded sizes, and which of them there are.
std::string shape_text(const Setting& s) {
  return std::string(layout::name_of(s.form.order)) + (s.form.gated ? "" : " not gated") + " E " + std::to_string(s.sizes.experts) + " IxH " +
         sizes_text(s.sizes) + " of " + sizes_text(s.padded) + (s.has_bias ? "" : " without biases");
}

/// What families alone look at, where a setting differs from the usual one: `before` each, with the key and its value.
std::string parameters_text(const Setting& s, const std::string& before, const std::string& between) {
  std::string text;
  for (const families::SettingKey& row : families::joined(&families::Family::setting_keys)) {
    const std::string value = row.get(s);
    if (value != row.get(Setting{})) text += before + std::string(row.key) + between + value;
  }
  return text;
}

/// What shows the layout of every tensor in words of `mxact layout`.
std::string show_command(const BackendLayout& row, const Setting& s) {
  return "mxact layout show " + std::string(row.backend) + " --format " + std::string(layout::name_of(s.form.format)) +
         (s.tp_size > 1 ? " --rank-shape " : " --shape ") + std::to_string(s.sizes.experts) + "x" + sizes_text(s.sizes) + " --padded " +
         sizes_text(s.padded) + " --source-order " + std::string(layout::name_of(s.form.order)) + (s.form.gated ? "" : " --not-gated") +
         " --engine " + std::string(deployment::name_of(s.engine)) + " --platform " + std::string(families::name_of(s.arch)) + " --tp " +
         std::to_string(s.tp_size) + " --params-dtype " + std::string(families::name_of(s.params_dtype)) + " --input-dtype " +
         std::string(families::name_of(s.input_dtype)) + " --activation " + std::string(families::name_of(s.activation)) +
         (s.has_bias ? "" : " --set has-bias=no") + parameters_text(s, " --set ", "=");
}

/// What one family looks at changes no other's memory: the words of all others, by number.
void draw_strangers(const BackendLayout& row, Setting& setting, std::size_t number) {
  for (const families::Family* family : families::all_families()) {
    if (family->name == row.family || family->setting_keys.rows == nullptr) continue;
    for (const families::SettingKey& key : *family->setting_keys.rows) key.set(setting, key.trials[number % key.trials.size()]);
  }
}

}  // namespace

BackendCase random_case(const BackendLayout& row, deployment::Engine engine, Converter whose) {
  const BackendFormula& formula = backend_formula(row.backend, row.format, engine);
  Setting setting{.sizes = random_sizes(formula), .padded = {}, .form = random_form(row, engine), .engine = engine};
  draw_strangers(row, setting, static_cast<std::size_t>(setting.sizes.experts));
  if (formula.draw != nullptr) {
    formula.draw(setting);
  } else if (whose == Converter::ours && setting.sizes.experts % 2 == 0) {
    // What looks at no device is handed on what the method made for it all the same.
    Setting there = setting;
    there.arch = families::Arch::gfx942;
    if (is_fnuz(there)) setting = there;
  }
  setting.has_bias = needs_bias(row, setting) || pick(0, 3) != 0;
  setting.padded = random_padding(row, setting);
  make_acceptable(row, setting);
  RC_LOG() << row.backend << " " << text_of(setting) << try_line(show_command(row, setting));
  return {row, formula, setting};
}

std::string text_of(const Setting& s) {
  return shape_text(s) + " " + std::string(families::name_of(s.arch)) + " tp " + std::to_string(s.tp_size) + " " +
         std::string(families::name_of(s.params_dtype)) + " " + std::string(families::name_of(s.input_dtype)) + " " +
         std::string(families::name_of(s.activation)) + parameters_text(s, " ", " ");
}

bool has_tensor(Role role, const Setting& setting) {
  return layout::has_role(setting.form.format, role) && (setting.has_bias || !layout::is_bias(role));
}

std::int64_t element_count(const Setting& setting) {
  std::int64_t count = 0;
  for (Role role : layout::kAllRoles) {
    if (has_tensor(role, setting)) count += layout::canonical(role, setting.sizes, setting.form).size();
  }
  return count;
}

Memory expected_memory(const BackendCase& c, Role role) {
  const Matrix matrix = c.formula.matrix(role, c.setting);
  return composed(c.formula.place(role, c.setting, matrix), matrix);
}

RowProperty row_property(const BackendLayout& row, deployment::Engine engine, std::size_t before,
                         const std::function<void(const BackendCase& c)>& check, Converter whose) {
  const auto tally = std::make_shared<Tally>();
  const auto property = [&row, engine, tally, check, before, whose] {
    skip_draws(before);
    const BackendCase c = random_case(row, engine, whose);
    const std::string shape = shape_text(c.setting);
    if (tally->has(shape)) RC_DISCARD("tried already");
    check(c);
    tally->add(shape, element_count(c.setting));
  };
  // Recorded failures replay under this name.
  const std::string_view month = deployment::name_of(engine).substr(deployment::name_of(engine).find('@') + 1);
  return {std::string(row.backend) + " " + std::string(layout::name_of(row.format)) + " " + std::string(month), property,
          [tally] { return tally->text(); }};
}

Outcome check_backends(const Law& law, std::string_view family, const std::function<void(const BackendCase& c)>& check, int usual_cases) {
  std::vector<RowProperty> rows;
  for (const BackendLayout& row : families::all_backend_layouts()) {
    if (!family.empty() && row.family != family) continue;
    for (deployment::Engine engine : families::kConversionEngines) {
      if (row.engines.has(engine)) rows.push_back(row_property(row, engine, rows.size(), check));
    }
  }
  return check_rows(law, rows, usual_cases);
}

Outcome check_family(const Law& law, const std::function<void(const BackendCase& c)>& check, int usual_cases) {
  return check_backends(law, law.id.substr(law.id.rfind('/') + 1), check, usual_cases);
}

}  // namespace mx::props
