#include "golden/vectors/explain.hpp"

#include <algorithm>

#include "model/error.hpp"

namespace mx::golden {
namespace {

constexpr std::size_t kMostCases = 4096;
constexpr std::size_t kMostLanes = std::size_t{1} << 21;

bool equal_under(Lanes a, Lanes b, Lanes mask) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (((a[i] ^ b[i]) & mask[i]) != 0) return false;
  }
  return true;
}

double share(std::uint64_t part, std::uint64_t whole) { return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole); }

double score(const Explanation& e) { return share(e.explained, e.mismatches) - share(e.contradicted, e.matches); }

}  // namespace

Evidence::Evidence(const VectorOp& op)
    : op_(&op),
      operand_lanes_(lane_count(op.operands())),
      result_lanes_(lane_count(op.results())),
      case_lanes_(operand_lanes_ + 3 * result_lanes_),
      most_cases_(std::clamp<std::size_t>(kMostLanes / case_lanes_, 64, kMostCases)) {}

void Evidence::keep(Kept& kept, Lanes operands, Lanes right, Lanes mask, Lanes answer) {
  if (kept.seen++ % kept.stride != 0) return;
  if (count(kept) == most_cases_) {
    // Every other case goes: what is kept stays spread over the whole stream.
    std::vector<std::uint32_t> half;
    for (std::size_t i = 0; i < most_cases_; i += 2) {
      const auto from = kept.lanes.begin() + static_cast<std::ptrdiff_t>(i * case_lanes_);
      half.insert(half.end(), from, from + static_cast<std::ptrdiff_t>(case_lanes_));
    }
    kept.lanes = std::move(half);
    kept.stride *= 2;
    if ((kept.seen - 1) % kept.stride != 0) return;
  }
  for (const Lanes lanes : {operands, right, mask, answer}) kept.lanes.insert(kept.lanes.end(), lanes.begin(), lanes.end());
}

void Evidence::add(Lanes operands, Lanes right, Lanes mask, Lanes answer, bool is_match) {
  keep(is_match ? matches_ : mismatches_, operands, right, mask, answer);
  if (!previous_.empty()) {
    const bool late = equal_under(answer, previous_, mask);
    if (is_match) {
      ++late_.matches;
      late_.contradicted += late ? 0U : 1U;
    } else {
      ++late_.mismatches;
      late_.explained += late ? 1U : 0U;
    }
  }
  previous_.assign(right.begin(), right.end());
}

std::uint64_t Evidence::agreeing(const Kept& kept, const WrongRule& rule) const {
  std::vector<std::uint32_t> answer(result_lanes_);
  std::uint64_t agreeing = 0;
  for (Lanes rest = kept.lanes; !rest.empty(); rest = rest.subspan(case_lanes_)) {
    const Lanes operands = rest.first(operand_lanes_);
    const Lanes right = rest.subspan(operand_lanes_, result_lanes_);
    const Lanes mask = rest.subspan(operand_lanes_ + result_lanes_, result_lanes_);
    try {
      rule.answer(operands, right, answer);
    } catch (const Error&) {
      continue;  // a rule without an answer here explains nothing
    }
    if (equal_under(answer, rest.subspan(operand_lanes_ + 2 * result_lanes_, result_lanes_), mask)) ++agreeing;
  }
  return agreeing;
}

std::vector<Explanation> Evidence::explanations() const {
  std::vector<Explanation> found;
  if (mismatches_.lanes.empty()) return found;
  for (const WrongRule& rule : op_->wrong_rules()) {
    const std::uint64_t explained = agreeing(mismatches_, rule);
    if (explained == 0) continue;
    found.push_back({rule.cls, rule.name, explained, count(mismatches_), count(matches_) - agreeing(matches_, rule), count(matches_)});
  }
  if (late_.explained > 0) found.push_back(late_);
  std::ranges::stable_sort(found, [](const Explanation& a, const Explanation& b) { return score(a) > score(b); });
  return found;
}

}  // namespace mx::golden
