#pragma once
// Which wrong rule explains a device's answers: every rule is tried on the mismatches and on a sample of the right answers.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "golden/vectors/op.hpp"

namespace mx::golden {

/// What can be said of a rule.
enum class Fit {
  matches,   ///< it gives at least half of the wrong answers, nearly all of the right ones bear it out, and little of what it changes was right
  possible,  ///< it gives at least half of the wrong answers, and there is no right one that could tell
  in_part,   ///< it gives fewer, or right answers speak against it
};
std::string_view name_of(Fit fit);

/// How far one wrong rule, or two together, explain what a device answered.
struct Explanation {
  FaultClass cls;
  std::string name;
  std::uint64_t explained;                           ///< mismatches that the rule gives too
  std::uint64_t mismatches;                          ///< that were tried
  std::uint64_t contradicted;                        ///< right answers that the rule would have got wrong
  std::uint64_t matches;                             ///< that were tried
  bool refuted = false;                              ///< of all that the rule changes in the stream, too much was right as it was
  std::string beside = {};                           ///< the rule that leaves those mismatches over; empty: they are all that there are
  std::uint64_t wrong_stride = 1, right_stride = 1;  ///< of so many wrong answers of the stream, and right ones, one was tried

  Fit fit() const;
  /// All of the wrong answers, and none of the right ones against it.
  bool is_whole() const { return explained == mismatches && contradicted == 0; }
};

/// A composition that gives every wrong answer that was tried and that no right one speaks against.
struct FittingComposition {
  std::string name;                                  ///< the operation, as `ver` takes it
  int choices;                                       ///< that are other than under test
  std::uint64_t mismatches, matches;                 ///< that were tried
  std::uint64_t wrong_stride = 1, right_stride = 1;  ///< as of an Explanation
};

/// What a device answered, as far as it is kept: memory stays bounded however long the stream is.
class Evidence {
 public:
  explicit Evidence(const VectorOp& op);

  /// One vector with the answers' compared bits; in the order of the stream.
  void add(Lanes operands, Lanes right, Lanes mask, Lanes answer, bool is_match);

  /// The rules that explain a mismatch, the best first: by their fit, then by the share of explained mismatches less the share of contradicted
  /// right answers. Where no rule explains all, pairs of rules that explain more than either alone; behind the best stands what explains the
  /// mismatches that it leaves over, however few they are.
  std::vector<Explanation> explanations() const;

  /// The operation's compositions that fit: of one other choice, or where none of those does of two. At most a few.
  std::vector<FittingComposition> compositions() const;

 private:
  struct Kept {
    std::vector<std::uint32_t> lanes;  // operands, right, mask, answer of each case
    std::uint64_t stride = 1;          // every so many cases one is kept
    std::uint64_t seen = 0;
  };
  void keep(Kept& kept, Lanes operands, Lanes right, Lanes mask, Lanes answer);
  std::uint64_t count(const Kept& kept) const { return kept.lanes.size() / case_lanes_; }
  std::uint64_t agreeing(const Kept& kept, const WrongRule& rule) const;
  Kept thinned(const Kept& kept) const;
  Kept unexplained(const Kept& kept, const WrongRule& rule) const;
  Explanation judged(const WrongRule& rule, const Kept& wrong, const Kept& right) const;
  std::vector<WrongRule> differences() const;
  bool helps(const Kept& wrong, const WrongRule& rule) const;
  /// The rules that help and that right answers bear out, the best first.
  std::vector<const WrongRule*> best_of(const std::vector<WrongRule>& rules, const Kept& wrong, const Kept& right, std::size_t most) const;
  bool adds_little(const Explanation& pair, const Explanation& alone) const;
  /// The rules of the pairs that it adds.
  std::vector<WrongRule> add_pairs(const std::vector<WrongRule>& rules, std::vector<Explanation>& found) const;
  bool fits(const Kept& kept, const Composition& composition) const;
  void add_leftovers(const std::vector<WrongRule>& rules, std::vector<Explanation>& found) const;

  const VectorOp* op_;
  std::size_t operand_lanes_;
  std::size_t result_lanes_;
  std::size_t case_lanes_;
  std::size_t most_cases_;
  std::vector<bool> flag_lanes_;  // lanes that hold flags, of which each bit is a fault of its own
  Kept mismatches_;
  Kept matches_;
  std::vector<std::uint32_t> previous_;  // the right answer of the line before
  Explanation late_{FaultClass::order, "answers late by one vector", 0, 0, 0, 0};
};

}  // namespace mx::golden
