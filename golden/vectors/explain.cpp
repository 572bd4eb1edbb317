#include "golden/vectors/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "golden/vectors/differences.hpp"
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

/// Right answers against a rule, one of so many, that it bears.
constexpr std::uint64_t kBorne = 16;
/// Cases of each kind on which pairs of rules are tried first, and rules of which no pair is left out.
constexpr std::size_t kThinned = 128;
constexpr std::size_t kPaired = 32;
constexpr std::size_t kPairsShown = 3;

/// Two faults in one device: each changes what it changes, or the second one works on the answers of the first.
enum class Together { side_by_side, first_then_second, second_then_first };
constexpr std::array kTogether{Together::side_by_side, Together::first_then_second, Together::second_then_first};

/// The answer of a rule that may have none here: then the right one.
void answer_or_right(const WrongRule& rule, Lanes operands, Lanes right, MutableLanes answer) {
  try {
    rule.answer(operands, right, answer);
  } catch (const Error&) {
    std::ranges::copy(right, answer.begin());
  }
}

WrongRule one_after_the_other(const WrongRule& first, const WrongRule& second) {
  return {first.cls, {}, [first, second](Lanes operands, Lanes right, MutableLanes answer) {
            std::vector<std::uint32_t> between(right.size());
            answer_or_right(first, operands, right, between);
            answer_or_right(second, operands, between, answer);
          }};
}

std::vector<bool> flag_lanes(const std::vector<Column>& columns) {
  std::vector<bool> flags;
  for (const Column& column : columns) flags.insert(flags.end(), static_cast<std::size_t>(column.lanes), column.flags);
  return flags;
}

WrongRule side_by_side(const WrongRule& first, const WrongRule& second, const std::vector<bool>& flags) {
  return {first.cls, {}, [first, second, flags](Lanes operands, Lanes right, MutableLanes answer) {
            std::vector<std::uint32_t> other(right.size());
            answer_or_right(first, operands, right, answer);
            answer_or_right(second, operands, right, other);
            for (std::size_t i = 0; i < right.size(); ++i) {
              if (flags[i])
                answer[i] = right[i] ^ ((answer[i] ^ right[i]) | (other[i] ^ right[i]));
              else if (answer[i] == right[i])
                answer[i] = other[i];
            }
          }};
}

WrongRule together(const WrongRule& first, const WrongRule& second, Together how, const std::vector<bool>& flags) {
  WrongRule both = how == Together::side_by_side        ? side_by_side(first, second, flags)
                   : how == Together::first_then_second ? one_after_the_other(first, second)
                                                        : one_after_the_other(second, first);
  both.cls = first.cls;
  both.name = fmt::format("{}, and {}", first.name, second.name);
  return both;
}

}  // namespace

std::string_view name_of(Fit fit) {
  constexpr std::array<std::string_view, 3> kNames{"matches", "possible", "in part"};
  return kNames[static_cast<std::size_t>(fit)];
}

Fit Explanation::fit() const {
  if (2 * explained < mismatches || contradicted * kBorne > matches) return Fit::in_part;
  return matches == 0 ? Fit::possible : Fit::matches;
}

Evidence::Evidence(const VectorOp& op)
    : op_(&op),
      operand_lanes_(lane_count(op.operands())),
      result_lanes_(lane_count(op.results())),
      case_lanes_(operand_lanes_ + 3 * result_lanes_),
      most_cases_(std::clamp<std::size_t>(kMostLanes / case_lanes_, 64, kMostCases)),
      flag_lanes_(flag_lanes(op.results())) {}

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

Evidence::Kept Evidence::thinned(const Kept& kept) const {
  Kept few;
  const std::size_t cases = count(kept);
  const std::size_t taken = std::min(cases, kThinned);
  for (std::size_t i = 0; i < taken; ++i) {
    const auto from = kept.lanes.begin() + static_cast<std::ptrdiff_t>(i * cases / taken * case_lanes_);
    few.lanes.insert(few.lanes.end(), from, from + static_cast<std::ptrdiff_t>(case_lanes_));
  }
  return few;
}

Explanation Evidence::judged(const WrongRule& rule, const Kept& wrong, const Kept& right) const {
  return {rule.cls, rule.name, agreeing(wrong, rule), count(wrong), count(right) - agreeing(right, rule), count(right)};
}

std::vector<WrongRule> Evidence::differences() const {
  DifferenceCount counted(op_->results());
  for (Lanes rest = mismatches_.lanes; !rest.empty(); rest = rest.subspan(case_lanes_))
    counted.add(rest.subspan(operand_lanes_, result_lanes_), rest.subspan(operand_lanes_ + 2 * result_lanes_, result_lanes_));
  return counted.rules();
}

/// True when, for some wrong answer, the rule changes a lane and all that it changes is as the device has it.
bool Evidence::helps(const Kept& wrong, const WrongRule& rule) const {
  std::vector<std::uint32_t> answer(result_lanes_);
  for (Lanes rest = wrong.lanes; !rest.empty(); rest = rest.subspan(case_lanes_)) {
    const Lanes right = rest.subspan(operand_lanes_, result_lanes_);
    const Lanes mask = rest.subspan(operand_lanes_ + result_lanes_, result_lanes_);
    const Lanes device = rest.subspan(operand_lanes_ + 2 * result_lanes_, result_lanes_);
    answer_or_right(rule, rest.first(operand_lanes_), right, answer);
    bool changes = false;
    bool agrees = true;
    for (std::size_t i = 0; i < result_lanes_; ++i) {
      const std::uint32_t changed = (answer[i] ^ right[i]) & mask[i];
      changes = changes || changed != 0;
      agrees = agrees && (changed == 0 || ((answer[i] ^ device[i]) & (flag_lanes_[i] ? changed : mask[i])) == 0);
    }
    if (changes && agrees) return true;
  }
  return false;
}

void Evidence::add_pairs(const std::vector<WrongRule>& rules, std::vector<Explanation>& found) const {
  const Kept wrong = thinned(mismatches_);
  const Kept right = thinned(matches_);
  struct Candidate {
    const WrongRule* rule;
    double score;
  };
  std::vector<Candidate> candidates;
  for (const WrongRule& rule : rules) {
    const Explanation alone = judged(rule, wrong, right);
    if (alone.contradicted * kBorne <= alone.matches && helps(wrong, rule)) candidates.push_back({&rule, score(alone)});
  }
  std::ranges::stable_sort(candidates, [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
  candidates.resize(std::min(candidates.size(), kPaired));
  std::vector<WrongRule> best;
  double best_score = 0.0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    for (std::size_t j = i + 1; j < candidates.size(); ++j) {
      for (const Together how : kTogether) {
        WrongRule both = together(*candidates[i].rule, *candidates[j].rule, how, flag_lanes_);
        const double reached = score(judged(both, wrong, right));
        if (reached <= candidates[i].score || reached <= candidates[j].score || reached < best_score) continue;
        if (reached > best_score) best.clear();
        best_score = reached;
        if (best.empty() || best.back().name != both.name) best.push_back(std::move(both));
      }
    }
  }
  best.resize(std::min(best.size(), kPairsShown));
  for (const WrongRule& both : best) {
    const Explanation pair = judged(both, mismatches_, matches_);
    const bool adds = std::ranges::none_of(found, [&](const Explanation& one) { return score(one) >= score(pair); });
    if (adds && pair.fit() != Fit::in_part) found.push_back(pair);
  }
}

std::vector<Explanation> Evidence::explanations() const {
  std::vector<Explanation> found;
  if (mismatches_.lanes.empty()) return found;
  std::vector<WrongRule> rules = op_->wrong_rules();
  for (WrongRule& rule : differences()) rules.push_back(std::move(rule));
  for (const WrongRule& rule : rules) {
    if (agreeing(mismatches_, rule) > 0) found.push_back(judged(rule, mismatches_, matches_));
  }
  if (late_.explained > 0) found.push_back(late_);
  if (std::ranges::none_of(found, &Explanation::is_whole)) add_pairs(rules, found);
  std::ranges::stable_sort(found,
                           [](const Explanation& a, const Explanation& b) { return a.fit() != b.fit() ? a.fit() < b.fit() : score(a) > score(b); });
  return found;
}

}  // namespace mx::golden
