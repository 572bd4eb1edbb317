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
/// Wrong answers that a rule has to give for each right one against it.
constexpr std::uint64_t kGivenEach = 16;
/// Pairs of rules: cases of each kind on which they are tried first; rules that come first and second in them; pairs that are then tried on all
/// cases; pairs among the explanations.
constexpr std::size_t kThinned = 128;
constexpr std::size_t kFirsts = 8;
constexpr std::size_t kSeconds = 24;
constexpr std::size_t kJudged = 16;
constexpr std::size_t kPairsShown = 3;
constexpr double kGain = 0.1;
/// Rules one behind the other that explain what those before them leave over.
constexpr std::size_t kLeftovers = 3;
/// Compositions that are said, of those that no vector of the stream tells apart.
constexpr std::size_t kFitting = 3;

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
  if (2 * explained < mismatches || contradicted * kBorne > matches || refuted) return Fit::in_part;
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

Evidence::Kept Evidence::unexplained(const Kept& kept, const WrongRule& rule) const {
  Kept rest;
  rest.stride = kept.stride;
  for (Lanes left = kept.lanes; !left.empty(); left = left.subspan(case_lanes_)) {
    Kept one;
    one.lanes.assign(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(case_lanes_));
    if (agreeing(one, rule) == 0) rest.lanes.insert(rest.lanes.end(), one.lanes.begin(), one.lanes.end());
  }
  return rest;
}

Explanation Evidence::judged(const WrongRule& rule, const Kept& wrong, const Kept& right) const {
  Explanation judged{rule.cls, rule.name, agreeing(wrong, rule), count(wrong), count(right) - agreeing(right, rule), count(right)};
  // Each case that was kept stands for as many of the stream as its stride says.
  judged.wrong_stride = wrong.stride;
  judged.right_stride = right.stride;
  judged.refuted = judged.contradicted * right.stride * kGivenEach > judged.explained * wrong.stride;
  return judged;
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

std::vector<const WrongRule*> Evidence::best_of(const std::vector<WrongRule>& rules, const Kept& wrong, const Kept& right, std::size_t most) const {
  std::vector<std::pair<double, const WrongRule*>> scored;
  for (const WrongRule& rule : rules) {
    const Explanation alone = judged(rule, wrong, right);
    if (alone.contradicted * kBorne <= alone.matches && helps(wrong, rule)) scored.emplace_back(score(alone), &rule);
  }
  std::ranges::stable_sort(scored, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const WrongRule*> best;
  for (std::size_t i = 0; i < std::min(most, scored.size()); ++i) best.push_back(scored[i].second);
  return best;
}

/// Whether what the other rule of a pair adds to the one alone is spoken against by right answers.
bool Evidence::adds_little(const Explanation& pair, const Explanation& alone) const {
  if (pair.contradicted <= alone.contradicted) return false;
  const std::uint64_t given = pair.explained > alone.explained ? pair.explained - alone.explained : 0;
  return (pair.contradicted - alone.contradicted) * matches_.stride * kGivenEach > given * mismatches_.stride;
}

std::vector<WrongRule> Evidence::add_pairs(const std::vector<WrongRule>& rules, std::vector<Explanation>& found) const {
  Kept wrong = thinned(mismatches_);
  const Kept right = thinned(matches_);
  const std::vector<const WrongRule*> candidates = best_of(rules, wrong, right, kSeconds);
  if (candidates.empty()) return {};
  // What the best rule leaves over is what a second one is for, however little of the whole that is.
  const Kept left = thinned(unexplained(mismatches_, *candidates.front()));
  std::vector<const WrongRule*> seconds = candidates;
  for (const WrongRule* rule : best_of(rules, left, right, kSeconds)) {
    if (std::ranges::find(seconds, rule) == seconds.end()) seconds.push_back(rule);
  }
  wrong.lanes.insert(wrong.lanes.end(), left.lanes.begin(), left.lanes.end());
  struct Pair {
    double score;
    const WrongRule *first, *second;
    WrongRule rule;
  };
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < std::min(kFirsts, candidates.size()); ++i) {
    for (std::size_t j = i + 1; j < seconds.size(); ++j) {
      if (seconds[j]->cls == FaultClass::dialect) continue;  // a whole profile beside another rule says nothing
      for (const Together how : kTogether) {
        WrongRule both = together(*seconds[i], *seconds[j], how, flag_lanes_);
        const double reached = score(judged(both, wrong, right));
        pairs.push_back({reached, seconds[i], seconds[j], std::move(both)});
      }
    }
  }
  std::ranges::stable_sort(pairs, [](const Pair& a, const Pair& b) { return a.score > b.score; });
  pairs.resize(std::min(pairs.size(), kJudged));
  struct Judged {
    Explanation said;
    const WrongRule* rule;
  };
  std::vector<Judged> best;
  for (const Pair& pair : pairs) {
    best.push_back({judged(pair.rule, mismatches_, matches_), &pair.rule});
    Explanation& both = best.back().said;
    for (const WrongRule* alone : {pair.first, pair.second}) both.refuted |= adds_little(both, judged(*alone, mismatches_, matches_));
  }
  std::ranges::stable_sort(best, [](const Judged& a, const Judged& b) { return score(a.said) > score(b.said); });
  // A pair that explains a little more than one rule alone says little, unless it explains all.
  const auto alone = std::ranges::max_element(found, {}, score);
  const double enough = alone == found.end() ? 0.0 : score(*alone) + kGain;
  const double most = best.empty() ? 0.0 : score(best.front().said);
  std::erase_if(best, [&](const Judged& pair) {
    const bool known = std::ranges::any_of(found, [&](const Explanation& one) { return one.name == pair.said.name; });
    return known || pair.said.fit() == Fit::in_part || score(pair.said) < most || (score(pair.said) < enough && !pair.said.is_whole());
  });
  std::vector<WrongRule> added;
  for (std::size_t i = 0; i < best.size() && i < kPairsShown; ++i) {
    if (i > 0 && best[i].said.name == best[i - 1].said.name) continue;
    found.push_back(best[i].said);
    added.push_back(*best[i].rule);
  }
  return added;
}

/// Behind the best one, and again behind what is said of that: each has to stand for itself.
void Evidence::add_leftovers(const std::vector<WrongRule>& rules, std::vector<Explanation>& found) const {
  Kept left = mismatches_;
  for (std::size_t at = 0; at < kLeftovers && found[at].fit() != Fit::in_part; ++at) {
    const auto said = std::ranges::find(rules, found[at].name, &WrongRule::name);
    if (said == rules.end()) return;  // answers that come late
    left = unexplained(left, *said);
    std::optional<Explanation> best;
    for (const WrongRule& rule : rules) {
      if (rule.cls == FaultClass::dialect || agreeing(left, rule) == 0) continue;
      Explanation one = judged(rule, left, matches_);
      if (one.fit() != Fit::in_part && (!best || score(one) > score(*best))) best = std::move(one);
    }
    if (!best) return;
    best->beside = found[at].name;
    found.insert(found.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(*best));
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
  if (late_.explained > 0) {
    found.push_back(late_);
    found.back().refuted = late_.contradicted * kGivenEach > late_.explained;
  }
  const bool is_told = std::ranges::any_of(found, &Explanation::is_whole);
  if (!is_told) {
    for (WrongRule& pair : add_pairs(rules, found)) rules.push_back(std::move(pair));
  }
  std::ranges::stable_sort(found,
                           [](const Explanation& a, const Explanation& b) { return a.fit() != b.fit() ? a.fit() < b.fit() : score(a) > score(b); });
  if (!is_told && !found.empty()) add_leftovers(rules, found);
  return found;
}

/// Ends at the first answer that is not the composition's: nearly all of hundreds are told by a few answers.
bool Evidence::fits(const Kept& kept, const Composition& composition) const {
  std::vector<std::uint32_t> answer(result_lanes_);
  for (Lanes rest = kept.lanes; !rest.empty(); rest = rest.subspan(case_lanes_)) {
    try {
      composition.answer(rest.first(operand_lanes_), answer);
    } catch (const Error&) {
      return false;  // no answer here
    }
    const Lanes mask = rest.subspan(operand_lanes_ + result_lanes_, result_lanes_);
    if (!equal_under(answer, rest.subspan(operand_lanes_ + 2 * result_lanes_, result_lanes_), mask)) return false;
  }
  return true;
}

std::vector<FittingComposition> Evidence::compositions() const {
  std::vector<WrongAnswer> wrong;
  for (Lanes rest = mismatches_.lanes; !rest.empty(); rest = rest.subspan(case_lanes_)) {
    wrong.push_back(
        {rest.first(operand_lanes_), rest.subspan(operand_lanes_, result_lanes_), rest.subspan(operand_lanes_ + 2 * result_lanes_, result_lanes_)});
  }
  std::vector<FittingComposition> found;
  if (wrong.empty()) return found;
  for (const Composition& one : op_->compositions(wrong)) {
    if (found.size() == kFitting || (!found.empty() && one.choices > found.front().choices)) break;
    if (fits(mismatches_, one) && fits(matches_, one))
      found.push_back({one.name, one.choices, count(mismatches_), count(matches_), mismatches_.stride, matches_.stride});
  }
  return found;
}

}  // namespace mx::golden
