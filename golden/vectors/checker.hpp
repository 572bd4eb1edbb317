#pragma once
// A device's stream held against an operation: every answer, that every vector of the set came, and what explains the wrong ones.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "golden/vectors/coverage.hpp"
#include "golden/vectors/explain.hpp"
#include "golden/vectors/vector_set.hpp"

namespace mx::golden {

/// One wrong answer.
struct Mismatch {
  std::uint64_t line;  ///< of the stream, counted from 1
  std::vector<std::uint32_t> operands;
  std::vector<std::uint32_t> right;
  std::vector<std::uint32_t> answer;
  std::vector<std::uint32_t> unknown = {};  ///< bits of the answer that are neither 0 nor 1; empty: all are
};

/// What came of the vectors of one bin that can be met.
struct BinCheck {
  std::string axis;
  std::string bin;
  std::uint64_t checked;
  std::uint64_t wrong;
  std::uint64_t first_wrong;  ///< its line; 0: none
};

enum class CheckVerdict { passed, failed, mistrusted };
std::string_view name_of(CheckVerdict verdict);

struct CheckReport {
  CheckVerdict verdict;
  std::string why_mistrusted;  ///< empty unless it is
  std::uint64_t expected;      ///< vectors of the set
  std::uint64_t checked;
  std::uint64_t mismatched;
  std::vector<Mismatch> first;                               ///< the first of each kind, then the first of all others
  std::vector<std::pair<std::string, std::uint64_t>> kinds;  ///< mismatches by what they are about, the most first
  std::vector<Explanation> explanations;                     ///< the best first
  std::vector<FittingComposition> compositions;              ///< that give all answers
  std::optional<std::uint64_t> reordered_from;               ///< line at which the order of the set was left, all vectors being there
  std::vector<AxisCoverage> coverage;
  std::vector<BinCheck> bins;
};

class StreamChecker {
 public:
  /// `show` mismatches are kept. `with_expected`: lines hold the columns of a file before the device's answer; a header that says so does the same.
  StreamChecker(const VectorOp& op, VectorSet set, std::size_t show, bool with_expected);

  /// The next bytes of the stream. Throws Error(input) that names the line and what was expected there.
  void take(std::string_view bytes);
  /// After the last byte; to be called once. Throws as take() does.
  CheckReport finish();

 private:
  void take_line(std::string_view line, bool is_cut_off);
  void take_comment(std::string_view line);
  void take_columns(std::string_view words);
  void take_facts(std::string_view words);
  void take_vector(std::string_view line, bool is_cut_off);
  void parse(std::string_view line, bool is_cut_off, std::vector<std::uint32_t>& lanes);
  void check_own_columns();
  void compare();
  void note_order();
  [[noreturn]] void refuse(const std::string& what) const;
  const std::vector<Column>& columns() const { return with_expected_ ? file_and_answer_ : operands_and_answer_; }
  std::string why_mistrusted() const;
  std::vector<BinCheck> bin_checks(const Coverage& reachable) const;

  const VectorOp* op_;
  VectorSet set_;
  std::vector<OpSetting> facts_;
  std::vector<Column> operands_and_answer_;
  std::vector<Column> file_and_answer_;
  bool with_expected_;
  std::size_t show_;
  std::size_t longest_line_;

  std::string rest_;  // of a line whose end has not come
  std::uint64_t line_ = 0;
  std::vector<std::uint32_t> lanes_, wanted_, right_, mask_, answer_, expected_file_;
  std::vector<std::uint8_t> bins_;
  std::vector<std::string_view> fields_;
  // Sums of hashes: equal for the same vectors in any order.
  std::uint64_t wanted_sum_ = 0;
  std::uint64_t seen_sum_ = 0;
  std::vector<std::uint32_t> first_right_;
  bool answers_vary_ = false;
  std::optional<std::uint64_t> first_out_of_order_;
  std::string out_of_order_;

  CheckReport report_{};
  std::vector<Mismatch> more_;  // mismatches of a kind that report_.first has
  Coverage met_;
  Coverage wrong_;
  std::vector<std::vector<std::uint64_t>> first_wrong_;  // lines, by axis and bin
  Evidence evidence_;
};

}  // namespace mx::golden
