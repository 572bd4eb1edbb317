#pragma once
// A matrix as people look at it: what looks the same is shown once, and a cell is a word.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verbs/matrix/matrix.hpp"

namespace mx::verbs {

/// Parallelisms, platforms or checkpoints that look the same.
struct MatrixGroup {
  std::vector<std::size_t> members;  ///< ascending; the first stands for all
};
/// Parallelisms with the same answers on every platform: backend and class that are chosen, backends that could be, checks that fail.
std::vector<MatrixGroup> equal_spreads(const Matrix& matrix, const MatrixSection& section);
/// Neighbouring platforms with the same answers for one parallelism.
std::vector<MatrixGroup> equal_platforms(const Matrix& matrix, const MatrixSection& section, std::size_t spread);
/// Checkpoints, by their places in `sections`, that ask one oracle and have the same answers everywhere.
std::vector<MatrixGroup> equal_sections(const Matrix& matrix);
/// "tp1 tp2 tp8-ep"
std::string spread_names(const Matrix& matrix, const MatrixGroup& group);

/// A word of at most eight letters for a refusal, and what it means.
struct ReasonRow {
  std::string_view code;  ///< as Verdict::code
  std::string_view word;
  std::string_view meaning;
};
std::span<const ReasonRow> reasons();
/// Throws Error(usage) for a code that no check gives.
const ReasonRow& reason_of(std::string_view code);

/// One cell to be shown.
struct MatrixWord {
  std::string_view text;           ///< CHOSEN, possible, or the word of the reason; RAISES and "" in the line of refusals
  std::optional<CellState> state;  ///< none in the line of refusals
  std::string hover;               ///< class of a choice; class, check and what it says of a refusal
};
/// One backend, or "no backend": where the engine raises.
struct MatrixLine {
  std::string_view name;
  std::vector<MatrixWord> words;  ///< one for each group of platforms
};
/// Backends in the order of the oracle's table. One without classes is left out unless it is chosen, the line of refusals unless there is one.
std::vector<MatrixLine> lines_of(const Matrix& matrix, const MatrixSection& section, std::size_t spread, std::span<const MatrixGroup> platforms);

/// A word and what it means; those that the matrix has a cell for.
struct LegendRow {
  std::string_view word;
  std::string_view meaning;
};
std::vector<LegendRow> legend_of(const Matrix& matrix);

}  // namespace mx::verbs
