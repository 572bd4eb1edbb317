// Laws of the building blocks: one law for each library, over every row of its table and every version of the row.

#include <memory>

#include "model/error.hpp"
#include "props/families/stage_formula.hpp"
#include "props/layout/checks.hpp"
#include "props/layout/generators.hpp"
#include "props/layout/laws.hpp"

namespace mx::props {
namespace {

using layout::Layout;
using families::StageLayout;
using families::StageRequest;

std::string shape_text(const StageRequest& request) {
  return std::to_string(request.batch) + "x" + std::to_string(request.rows) + "x" + std::to_string(request.cols) + " of " +
         std::to_string(request.unit_bits) + " bits";
}

std::string text_of(const StageRequest& request) {
  std::string text = shape_text(request);
  for (const auto& [key, value] : request.params) text += " " + key + "=" + std::to_string(value);
  return text;
}

/// A request that the formula's document allows.
StageRequest drawn_request(const StageLayout& stage, std::string_view version, const StageFormula& formula) {
  StageRequest request{.version = version, .batch = pick(1, 4), .rows = 1, .cols = 1, .unit_bits = 8, .params = {}};
  for (const families::StageParam& param : stage.params) request.params[std::string(param.key)] = param.standard;
  formula.draw(request);
  RC_LOG() << stage.name << " " << version << " " << text_of(request) << "\n";
  return request;
}

using Check = void (*)(const StageLayout& stage, const StageFormula& formula, const StageRequest& request);

Outcome check_stages(const Law& law, Check check, int usual_cases) {
  const std::string_view library = law.id.substr(law.id.rfind('/') + 1);
  std::vector<RowProperty> rows;
  for (const StageLayout& stage : families::all_stage_layouts()) {
    if (stage_library(stage.name) != library) continue;
    for (std::string_view version : stage.versions) {
      const auto tally = std::make_shared<Tally>();
      const auto property = [&stage, version, tally, check, before = rows.size()] {
        skip_draws(before);
        const StageFormula& formula = stage_formula(stage.name);
        const StageRequest request = drawn_request(stage, version, formula);
        const std::string shape = shape_text(request);
        if (tally->has(shape)) RC_DISCARD("tried already");
        check(stage, formula, request);
        tally->add(shape, request.batch * request.rows * request.cols);
      };
      rows.push_back({std::string(stage.name) + " " + std::string(version), property, [tally] { return tally->text(); }});
    }
  }
  return check_rows(law, rows, usual_cases);
}

void check_places(const StageLayout& stage, const StageFormula&, const StageRequest& request) {
  const Layout layout = families::stage_layout(stage, request);
  RC_ASSERT(layout.cosize() * layout.grain_bits() == layout.bytes() * 8);
  check_addresses(layout);
  check_digits(layout);
}

/// The first address where two maps differ.
std::string first_difference(const std::vector<std::int64_t>& found, const std::vector<std::int64_t>& expected) {
  if (found.size() != expected.size()) return std::to_string(found.size()) + " addresses, expected " + std::to_string(expected.size());
  for (std::size_t a = 0; a < found.size(); ++a) {
    if (found[a] != expected[a]) {
      return "address " + std::to_string(a) + " holds " + std::to_string(found[a]) + ", expected " + std::to_string(expected[a]) +
             " (below 0: padding)";
    }
  }
  return "nothing";
}

/// A request that is perhaps refused: the row says so exactly when the document does.
void check_refusal(const StageLayout& stage, const StageFormula& formula, const StageRequest& request) {
  const bool refused = !families::broken_needs(stage, request).empty();
  if (refused == formula.takes(request)) RC_FAIL("refusal and document differ for " + text_of(request));
  if (refused) RC_ASSERT_THROWS_AS(families::stage_layout(stage, request), Error);
}

void check_formula(const StageLayout& stage, const StageFormula& formula, const StageRequest& request) {
  const Layout layout = families::stage_layout(stage, request);
  const Memory expected = formula.memory(request);
  RC_ASSERT(layout.grain_bits() == expected.grain_bits);
  const std::vector<std::int64_t> found = layout.gather();
  if (found != expected.sources) RC_FAIL(std::string(stage.name) + ": " + first_difference(found, expected.sources));
  StageRequest other = request;
  other.rows += pick(1, 16);
  check_refusal(stage, formula, other);
  other = request;
  other.cols += pick(1, 16);
  check_refusal(stage, formula, other);
  for (const families::StageParam& param : stage.params) {
    other = request;
    other.params[std::string(param.key)] = std::min(param.high, std::max(param.low, request.param(param.key) + 1));
    check_refusal(stage, formula, other);
  }
}

// Formulas are cheap; every address through the interpreter and back is not.
constexpr int kFormulaCases = 4;
constexpr int kPlaceCases = 1;

}  // namespace

std::string_view stage_library(std::string_view stage) { return stage.substr(0, stage.find('.')); }

Outcome law_stage_addresses(const Law& law) { return check_stages(law, check_places, kPlaceCases); }
Outcome law_stage_formulas(const Law& law) { return check_stages(law, check_formula, kFormulaCases); }

}  // namespace mx::props
