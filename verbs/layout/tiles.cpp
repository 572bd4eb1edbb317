// Digits for layouts that pad: those of larger sizes, at which nothing is padded.

#include <fmt/core.h>

#include <array>

#include "model/error.hpp"
#include "verbs/layout/subject.hpp"

namespace mx::verbs {
namespace {

constexpr std::array<std::int64_t, 11> kMultiples{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};

std::int64_t rounded(std::int64_t size, std::int64_t multiple) { return (size + multiple - 1) / multiple * multiple; }

BlockChoice sized(BlockChoice choice, std::int64_t rows, std::int64_t cols) {
  choice.request.rows = rows;
  choice.request.cols = cols;
  return choice;
}

BackendChoice sized(BackendChoice choice, std::int64_t intermediate, std::int64_t hidden) {
  choice.setting.padded.intermediate = intermediate;
  choice.setting.padded.hidden = hidden;
  choice.setting.sizes = choice.setting.padded;
  return choice;
}

bool is_refused(const BlockChoice& choice) { return !families::broken_needs(*choice.block, choice.request).empty(); }
bool is_refused(const BackendChoice& choice) {
  const layout::Sizes& sizes = choice.setting.sizes;
  if (sizes.intermediate % sizes.group != 0 || sizes.hidden % sizes.group != 0) return true;
  return !families::broken_needs(*choice.row, choice.setting).empty();
}

/// The smallest sizes, each raised to a multiple, whose program has digits.
template <class AnyChoice>
std::optional<Tiles> larger_tiles(const AnyChoice& choice, std::int64_t rows, std::int64_t cols) {
  std::optional<Tiles> best;
  std::int64_t best_area = 0;
  for (std::int64_t of_rows : kMultiples) {
    for (std::int64_t of_cols : kMultiples) {
      const std::int64_t tall = rounded(rows, of_rows);
      const std::int64_t wide = rounded(cols, of_cols);
      if (best && tall * wide >= best_area) continue;
      const AnyChoice tried = sized(choice, tall, wide);
      if (is_refused(tried)) continue;
      const auto digits = subject_of(tried).layout.digits();
      if (!digits) continue;
      best = Tiles{*digits, fmt::format("{}x{}", tall, wide)};
      best_area = tall * wide;
    }
  }
  return best;
}

}  // namespace

std::optional<Tiles> tiles_of(const Subject& subject) {
  if (const auto digits = subject.layout.digits()) return Tiles{*digits, {}};
  if (const auto* block = std::get_if<BlockChoice>(&subject.choice)) return larger_tiles(*block, block->request.rows, block->request.cols);
  const auto& backend = std::get<BackendChoice>(subject.choice);
  return larger_tiles(backend, backend.setting.padded.intermediate, backend.setting.padded.hidden);
}

}  // namespace mx::verbs
