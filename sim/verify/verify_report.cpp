// What a report answers, and how the results of parts of a run are one.

#include <fmt/format.h>

#include <algorithm>

#include "sim/verify/check_layer.hpp"
#include "sim/verify/verify.hpp"

namespace mx::sim {

std::string losses_text(const std::vector<layout::Loss>& losses) {
  std::string destroyed;
  std::int64_t kept = 0;
  for (const layout::Loss& loss : losses) {
    kept += loss.kept;
    if (loss.destroyed() > 0)
      destroyed += (destroyed.empty() ? "" : ", ") + std::to_string(loss.destroyed()) + " of " + std::string(layout::name_of(loss.role));
  }
  if (losses.empty()) return "what the way back needs is not kept";
  const std::string also = kept == 0 ? "" : std::to_string(kept) + " units keep their values, but not what the way back needs";
  if (destroyed.empty()) return "no value is lost; " + also;
  return "the conversion loses values: " + destroyed + (also.empty() ? "" : "; " + also);
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed: return "PASSED";
    case Verdict::known_to_differ: return "KNOWN TO DIFFER";
    case Verdict::failed: return "FAILED";
    case Verdict::mistrusted: return "MISTRUSTED";
    case Verdict::not_modelled: return "NOT YET MODELLED";
    case Verdict::refused: return "REFUSED";
  }
  return "?";
}

Verdict said(const ConversionResult& result) {
  return result.verdict == Verdict::passed && !result.known_to_differ.empty() ? Verdict::known_to_differ : result.verdict;
}

Verdict VerifyReport::verdict(const Cell& cell) const {
  if (cell.conversion) return said(conversions[*cell.conversion]);
  return Verdict::refused;
}

std::int64_t VerifyReport::count(Verdict wanted) const {
  return std::count_if(cells.begin(), cells.end(), [&](const Cell& cell) { return verdict(cell) == wanted; });
}

std::int64_t VerifyReport::warnings() const {
  const auto destroys = [](const layout::Loss& loss) { return loss.destroyed() > 0; };
  return std::ssize(values) + std::ranges::count_if(conversions, [&](const ConversionResult& result) {
           return result.verdict == Verdict::passed && std::ranges::any_of(result.losses, destroys);
         });
}

std::string VerifyReport::lost_text(const ConversionResult& result) const {
  layout::Sizes verified = sizes;
  verified.experts = experts_verified;
  std::string text;
  for (const layout::Role role : layout::kAllRoles) {
    double destroyed = 0, all = layers_verified;
    for (const layout::Loss& loss : result.losses) {
      if (loss.role == role) destroyed += static_cast<double>(loss.destroyed());
    }
    if (destroyed == 0) continue;
    for (const layout::Axis& axis : layout::logical_axes(role, verified, result.form)) all *= static_cast<double>(axis.extent);
    const double share = 100 * destroyed / all;
    text += (text.empty() ? "" : ", ") + (share < 0.01 ? std::string("below 0.01") : fmt::format("{:.3g}", share)) + " % of " +
            std::string(layout::name_of(role));
  }
  return text.empty() ? text : text + " lost";
}

std::int64_t VerifyReport::broken_choices() const {
  return std::ranges::count_if(
      cells, [&](const Cell& cell) { return cell.request == "auto" && !cell.backend.empty() && verdict(cell) == Verdict::refused; });
}

bool VerifyReport::is_known_to_differ() const {
  return std::ranges::any_of(cells, [&](const Cell& cell) { return cell.decides && verdict(cell) == Verdict::known_to_differ; });
}

int VerifyReport::exit_code() const {
  const auto any_expected = [&](Verdict wanted) { return std::ranges::find(expected, wanted, &ExpectedResult::verdict) != expected.end(); };
  const auto decided = [&](Verdict wanted) {
    return std::ranges::any_of(cells, [&](const Cell& cell) { return cell.decides && verdict(cell) == wanted; });
  };
  const bool raises =
      std::ranges::any_of(cells, [&](const Cell& cell) { return cell.decides && cell.request == "auto" && verdict(cell) == Verdict::refused; });
  if (decided(Verdict::failed) || any_expected(Verdict::failed)) return 1;
  if (raises) return 4;
  if (decided(Verdict::mistrusted) || decided(Verdict::not_modelled) || any_expected(Verdict::mistrusted)) return 5;
  if (count(Verdict::failed) > 0) return 1;
  return held() == 0 ? 5 : 0;
}

void add_later(ConversionResult& result, const ConversionResult& later) {
  if (worse(later.verdict, result.verdict)) {
    result.verdict = later.verdict;
    result.detail = later.detail;
  } else if (result.verdict == Verdict::passed && !later.detail.empty()) {
    result.detail = later.detail;
  }
  if (result.execution.find(later.execution) == std::string::npos) {
    result.execution += (result.execution.empty() ? "" : "; ") + later.execution;
  }
  add_new(result.not_asked, later.not_asked);
  add_new(result.grounds, later.grounds);
  add_new(result.known_to_differ, later.known_to_differ);
  add_losses(result.losses, later.losses);
  result.units += later.units;
  result.units_compared += later.units_compared;
  result.compared_every = std::max(result.compared_every, later.compared_every);
  result.units_differing += later.units_differing;
  result.outputs_compared += later.outputs_compared;
  result.outputs_differing += later.outputs_differing;
  result.seconds += later.seconds;
}

}  // namespace mx::sim
