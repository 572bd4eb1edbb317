#pragma once
// A device inside somebody's loop held against an operation: any operands in any order, each answer as it comes.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "golden/vectors/checker.hpp"

namespace mx::golden {

/// What is wrong with an answer.
enum class ScoreKind {
  value,         ///< another number
  nan,           ///< a NaN for a number, a number for a NaN, another NaN
  sign_of_zero,  ///< a zero with the other sign
  flags,         ///< the flags alone
  unresolved,    ///< bits that are x or z, of the answer or of an operand
};
std::string_view name_of(ScoreKind kind);

/// A wrong answer, as far as it is kept.
struct Scored {
  std::string place;  ///< as the caller says it; empty: the number of the answer
  ScoreKind kind;
  std::vector<std::string> text;
};

struct ScoreReport {
  CheckVerdict verdict;
  std::string why_mistrusted;
  std::uint64_t expected, checked, wrong;
  std::vector<Scored> first;
  std::vector<std::pair<std::string, std::uint64_t>> kinds;  ///< wrong answers by what is wrong, the most first
  std::vector<Explanation> explanations;
  std::vector<FittingComposition> compositions;

  /// As `ver` writes it: the first wrong answers, what explains them, the verdict last.
  std::vector<std::string> text() const;
};

class Scoreboard {
 public:
  /// `show` wrong answers are kept. `flag_mask`: flags that the device has, of the bits of the column "flags"; all others are not compared.
  Scoreboard(std::unique_ptr<VectorOp> op, std::size_t show, std::uint32_t flag_mask = ~0U);

  const VectorOp& op() const { return *op_; }

  /// One answer: lanes as of the operation's columns; `unknown`: of each lane of operands and answer the bits that are x or z, empty where none is.
  /// Returns what is wrong; none: it is right. Throws Error(usage) for another number of lanes, for a lane that is too large, and what the model
  /// throws for operands without an answer; nothing is counted then.
  std::optional<ScoreKind> check(Lanes operands, Lanes answer, Lanes unknown = {}, std::string_view place = {});

  /// What came of all answers so far. `expected`: how many there should have been; without it as many as came. No answer at all, fewer or more than
  /// expected, or right answers that are all the same are mistrusted.
  ScoreReport report(std::optional<std::uint64_t> expected = {}) const;

 private:
  void require_lanes(Lanes lanes, const std::vector<Column>& columns, std::string_view whose) const;
  ScoreKind kind_of(Lanes right, Lanes answer, Lanes mask) const;
  void note(ScoreKind kind, std::string_view place, const Mismatch& mismatch);

  std::unique_ptr<VectorOp> op_;
  std::size_t show_, operand_lanes_, result_lanes_;
  std::uint32_t flag_mask_;
  std::vector<std::uint32_t> right_, mask_, first_right_;
  bool answers_vary_ = false;
  std::uint64_t checked_ = 0, wrong_ = 0;
  std::vector<std::uint64_t> kinds_;  // by ScoreKind
  std::vector<Scored> first_;
  Evidence evidence_;
};

}  // namespace mx::golden
