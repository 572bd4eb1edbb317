// Laws of the building blocks: one law for each library, over every row of its table and every version of the row.

#include <memory>

#include "model/error.hpp"
#include "props/families/block_formula.hpp"
#include "props/layout/checks.hpp"
#include "props/layout/generators.hpp"
#include "props/layout/laws.hpp"

namespace mx::props {
namespace {

using layout::Layout;
using families::BuildingBlock;
using families::BlockRequest;

std::string shape_text(const BlockRequest& request) {
  return std::to_string(request.batch) + "x" + std::to_string(request.rows) + "x" + std::to_string(request.cols) + " of " +
         std::to_string(request.unit_bits) + " bits";
}

std::string text_of(const BlockRequest& request) {
  std::string text = shape_text(request);
  for (const auto& [key, value] : request.params) text += " " + key + "=" + std::to_string(value);
  return text;
}

/// A request that the formula's document allows.
BlockRequest drawn_request(const BuildingBlock& block, std::string_view version, const BlockFormula& formula) {
  BlockRequest request{.version = version, .batch = pick(1, 4), .rows = 1, .cols = 1, .unit_bits = 8, .params = {}};
  for (const families::BlockParam& param : block.params) request.params[std::string(param.key)] = param.standard;
  formula.draw(request);
  RC_LOG() << block.name << " " << version << " " << text_of(request) << "\n";
  return request;
}

using Check = void (*)(const BuildingBlock& block, const BlockFormula& formula, const BlockRequest& request);

Outcome check_stages(const Law& law, Check check, int usual_cases) {
  const std::string_view library = law.id.substr(law.id.rfind('/') + 1);
  std::vector<RowProperty> rows;
  for (const BuildingBlock& block : families::all_building_blocks()) {
    if (block_library(block.name) != library) continue;
    for (std::string_view version : block.versions) {
      const auto tally = std::make_shared<Tally>();
      const auto property = [&block, version, tally, check, before = rows.size()] {
        skip_draws(before);
        const BlockFormula& formula = block_formula(block.name);
        const BlockRequest request = drawn_request(block, version, formula);
        const std::string shape = shape_text(request);
        if (tally->has(shape)) RC_DISCARD("tried already");
        check(block, formula, request);
        tally->add(shape, request.batch * request.rows * request.cols);
      };
      rows.push_back({std::string(block.name) + " " + std::string(version), property, [tally] { return tally->text(); }});
    }
  }
  return check_rows(law, rows, usual_cases);
}

void check_places(const BuildingBlock& block, const BlockFormula&, const BlockRequest& request) {
  const Layout layout = families::block_layout(block, request);
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
void check_refusal(const BuildingBlock& block, const BlockFormula& formula, const BlockRequest& request) {
  const bool refused = !families::broken_needs(block, request).empty();
  if (refused == formula.takes(request)) RC_FAIL("refusal and document differ for " + text_of(request));
  if (refused) RC_ASSERT_THROWS_AS(families::block_layout(block, request), Error);
}

void check_formula(const BuildingBlock& block, const BlockFormula& formula, const BlockRequest& request) {
  const Layout layout = families::block_layout(block, request);
  const Memory expected = formula.memory(request);
  RC_ASSERT(layout.grain_bits() == expected.grain_bits);
  const std::vector<std::int64_t> found = layout.gather();
  if (found != expected.sources) RC_FAIL(std::string(block.name) + ": " + first_difference(found, expected.sources));
  BlockRequest other = request;
  other.rows += pick(1, 16);
  check_refusal(block, formula, other);
  other = request;
  other.cols += pick(1, 16);
  check_refusal(block, formula, other);
  for (const families::BlockParam& param : block.params) {
    other = request;
    other.params[std::string(param.key)] = std::min(param.high, std::max(param.low, request.param(param.key) + 1));
    check_refusal(block, formula, other);
  }
}

// Formulas are cheap; every address through the interpreter and back is not.
constexpr int kFormulaCases = 4;
constexpr int kPlaceCases = 1;

}  // namespace

std::string_view block_library(std::string_view block) { return block.substr(0, block.find('.')); }

Outcome law_block_addresses(const Law& law) { return check_stages(law, check_places, kPlaceCases); }
Outcome law_block_formulas(const Law& law) { return check_stages(law, check_formula, kFormulaCases); }

}  // namespace mx::props
