#include "kernels/relayout/joined_walk.hpp"

#include <algorithm>

namespace mx::kernels::relayout {
namespace {

constexpr MxTilePlace kOnePlace{0, 0};

}  // namespace

JoinedWalk::JoinedWalk(const Joined& joined, const TileKernel& kernel, const TileProgram& program, const std::uint8_t* source, std::uint8_t* target,
                       std::uint8_t* scratch, std::uint8_t* stage)
    : joined_(joined),
      tiles_(joined.tiles),
      steps_(tiles_.outer[tiles_.outer.size() - 1 - tiles_.block]),
      kernel_(kernel),
      program_(program),
      source_(source),
      target_(target),
      scratch_(scratch),
      stage_(stage),
      here_(tiles_) {
  for (std::size_t t = 0; t < joined.stage.size(); ++t) {
    const StageTile& tile = joined.stage[t];
    const std::size_t later = t + joined.ahead;
    places_.push_back({tile.source, tile.place});
    forms_.push_back(&program.staged_form(tile.form));
    joins_.push_back(tile.joins);
    later_.push_back(joined.stage[later % joined.stage.size()].source + static_cast<std::int64_t>(later / joined.stage.size()) * steps_.source_step);
  }
}

void JoinedWalk::go(std::int64_t block, std::int64_t begin, std::int64_t end) {
  if (block == block_ + 1) here_.step();
  if (block != block_ && block != block_ + 1) here_.seek(block);
  block_ = block;
  const std::int64_t cut = first_cut(begin, end);
  if (cut > begin) join(begin, cut - begin);
  for (std::int64_t n = cut; n < end; ++n) {
    for (const StageTile& tile : joined_.stage) move_alone(n, tile);
  }
}

void JoinedWalk::end() {
  const MxTileStrip nothing{source_, target_, 0, 0, 0, &kOnePlace, 1, 0, {}, &tail_, nullptr, nullptr, nullptr, nullptr};
  kernel_.row.run(&program_.code(), &program_.form(0), &nothing, scratch_);
}

/// The first stage of which elements are absent.
std::int64_t JoinedWalk::first_cut(std::int64_t begin, std::int64_t end) const {
  std::int64_t cut = begin;
  const auto is_whole = [&](std::int64_t n) {
    for (std::size_t l = 0; l < tiles_.limits.size(); ++l) {
      const TileLimit& limit = tiles_.limits[l];
      if (limit.stage_span != 0 && limit.limit - here_.first().sums[l] - n * steps_.weights[l] < limit.stage_span) return false;
    }
    return true;
  };
  while (cut < end && is_whole(cut)) ++cut;
  return cut;
}

void JoinedWalk::join(std::int64_t first, std::int64_t count) {
  const Place& block = here_.first();
  const MxTileStrip strip{source_ + block.source + first * steps_.source_step,
                          target_ + block.target + first * steps_.target_step,
                          count,
                          steps_.source_step,
                          steps_.target_step,
                          places_.data(),
                          static_cast<std::int64_t>(places_.size()),
                          0,
                          {},
                          &tail_,
                          forms_.data(),
                          later_.data(),
                          joins_.data(),
                          stage_};
  kernel_.row.run(&program_.code(), forms_.front(), &strip, scratch_);
}

/// A tile of stage n straight to the target.
void JoinedWalk::move_alone(std::int64_t n, const StageTile& tile) {
  const Place& block = here_.first();
  const std::size_t form =
      form_number(tiles_, [&](std::size_t l) { return tiles_.limits[l].limit - block.sums[l] - n * steps_.weights[l] - tile.sums[l]; });
  const MxTileStrip strip{source_ + block.source + n * steps_.source_step + tile.source,
                          target_ + block.target + n * steps_.target_step + tile.target,
                          1,
                          0,
                          0,
                          &kOnePlace,
                          1,
                          0,
                          {},
                          &tail_,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};
  kernel_.row.run(&program_.code(), &program_.form(form), &strip, scratch_);
}

}  // namespace mx::kernels::relayout
