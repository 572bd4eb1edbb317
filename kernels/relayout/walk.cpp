#include "kernels/relayout/walk.hpp"

#include <algorithm>

namespace mx::kernels::relayout {
namespace {

constexpr std::int64_t kLine = 64;

/// A source is asked for at least so many bytes ahead: what memory delivers while it answers one request, with room to spare.
constexpr std::int64_t kBytesAhead = 8192;

/// Innermost loops of more tiles than this look ahead along themselves, by so many tiles.
constexpr std::int64_t kLongLoop = 64;
constexpr std::int64_t kTilesAhead = 16;

std::int64_t divided_up(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }

Place nowhere(const Tiles& tiles) { return {0, 0, 0, std::vector<std::int64_t>(tiles.limits.size(), 0)}; }

std::size_t first_of_block(const Tiles& tiles) { return tiles.outer.size() - 1 - tiles.block; }

/// Of strips that write what is left.
constexpr MxTilePlace kOnePlace{0, 0};

}  // namespace

void Place::add(const OuterDigit& digit, std::int64_t times) {
  source += times * digit.source_step;
  target += times * digit.target_step;
  stage += times * digit.stage_step;
  for (std::size_t l = 0; l < sums.size(); ++l) sums[l] += times * digit.weights[l];
}

void Place::add(const Place& other) {
  source += other.source;
  target += other.target;
  stage += other.stage;
  for (std::size_t l = 0; l < sums.size(); ++l) sums[l] += other.sums[l];
}

TileBlock::TileBlock(const Tiles& tiles) : tiles_(tiles), digits_(first_of_block(tiles)), changes_(digits_), values_(digits_) {
  Place back = nowhere(tiles);
  for (std::size_t d = digits_; d-- > 0;) {
    changes_[d] = back;
    changes_[d].add(tiles.outer[d], 1);
    back.add(tiles.outer[d], 1 - tiles.outer[d].radix);
  }
  seek(0);
}

void TileBlock::seek(std::int64_t block) {
  place_ = nowhere(tiles_);
  place_.source = tiles_.source_base;
  place_.target = tiles_.target_base;
  for (std::size_t d = digits_; d-- > 0; block /= tiles_.outer[d].radix) {
    values_[d] = block % tiles_.outer[d].radix;
    place_.add(tiles_.outer[d], values_[d]);
  }
}

void TileBlock::step() {
  for (std::size_t d = digits_; d-- > 0;) {
    if (++values_[d] < tiles_.outer[d].radix) return place_.add(changes_[d]);
    values_[d] = 0;
  }
  seek(0);
}

Walk::Walk(const Tiles& tiles, const TileKernel& kernel, const TileProgram& program, const std::uint8_t* source, std::uint8_t* target,
           const WalkMemory& memory)
    : tiles_(tiles),
      kernel_(kernel),
      program_(program),
      source_(source),
      target_(target),
      memory_(memory),
      here_(tiles),
      later_(tiles),
      place_(nowhere(tiles)),
      block_span_(nowhere(tiles)) {
  add_rows();
  blocks_ahead_ = divided_up(kBytesAhead, static_cast<std::int64_t>(rows_.size()) * tiles.outer.back().radix * tiles.bytes);
  later_.seek(blocks_ahead_);
}

void Walk::add_rows() {
  rows_.push_back({nowhere(tiles_), {}, {}});
  for (std::size_t d = first_of_block(tiles_); d + 1 < tiles_.outer.size(); ++d) {
    const OuterDigit& digit = tiles_.outer[d];
    block_span_.add(digit, digit.radix - 1);
    std::vector<Row> more;
    for (const Row& row : rows_) {
      for (std::int64_t value = 0; value < digit.radix; ++value) {
        more.push_back(row);
        more.back().first.add(digit, value);
      }
    }
    rows_ = std::move(more);
  }
  together_.first = nowhere(tiles_);
  for (Row& row : rows_) {
    row.tiles = {{row.first.source, row.first.target}};
    row.staged = {{row.first.source, row.first.stage}};
    together_.tiles.push_back(row.tiles.front());
    together_.staged.push_back(row.staged.front());
  }
}

void Walk::to_block(std::int64_t block) {
  if (block == block_) return;
  if (block == block_ + 1) {
    here_.step();
    later_.step();
  } else {
    here_.seek(block);
    later_.seek(block + blocks_ahead_);
  }
  block_ = block;
}

void Walk::go(std::int64_t block, std::int64_t begin, std::int64_t end) {
  to_block(block);
  const OuterDigit& inner = tiles_.outer.back();
  // Short loops look ahead to where a later one reads, long ones along their own way.
  ahead_ = inner.radix > kLongLoop ? kTilesAhead * inner.source_step : later_.first().source - here_.first().source;
  if (rows_.size() == 1 || is_inside(end)) return go(together_, begin, end);
  for (const Row& row : rows_) go(row, begin, end);
}

/// Whether no row of a block is nearer to an edge than the others, as far as rows differ.
bool Walk::is_inside(std::int64_t end) const {
  const OuterDigit& inner = tiles_.outer.back();
  for (std::size_t l = 0; l < tiles_.limits.size(); ++l) {
    const std::int64_t last = here_.first().sums[l] + block_span_.sums[l] + (end - 1) * inner.weights[l];
    if (block_span_.sums[l] != 0 && last + tiles_.limits[l].span > tiles_.limits[l].limit) return false;
  }
  return true;
}

void Walk::go(const Row& row, std::int64_t begin, std::int64_t end) {
  place_ = here_.first();
  place_.add(row.first);
  std::int64_t whole = end;
  for (std::size_t l = 0; l < tiles_.limits.size(); ++l) whole = std::min(whole, first_cut(l, end));
  whole = std::max(whole, begin);
  if (whole > begin) strip(row, program_.form_count() - 1, begin, whole - begin);
  for (std::int64_t n = whole; n < end;) {
    const std::size_t form = form_at(n);
    const std::int64_t first = n;
    while (++n < end && form_at(n) == form) continue;
    strip(row, form, first, n - first);
  }
}

bool Walk::stage_is_whole() const {
  for (std::size_t l = 0; l < tiles_.limits.size(); ++l) {
    const TileLimit& limit = tiles_.limits[l];
    if (limit.stage_span != 0 && limit.limit - here_.first().sums[l] < limit.stage_span) return false;
  }
  return true;
}

void Walk::go_staged(std::int64_t item, std::int64_t blocks) {
  to_block(item * blocks);
  in_stage_ = stage_is_whole();
  const Leaving filled{memory_.stages[0], target_ + here_.first().target, 0, 0};
  // A tile's share of the stage that leaves meanwhile, in whole lines.
  const std::int64_t bytes = tiles_.stage.run * static_cast<std::int64_t>(tiles_.stage.runs.size());
  const std::int64_t tiles = blocks * static_cast<std::int64_t>(rows_.size()) * tiles_.outer.back().radix;
  stream_step_ = divided_up(divided_up(bytes, tiles), kLine) * kLine;
  for (std::int64_t block = item * blocks; block < (item + 1) * blocks; ++block) go(block, 0, tiles_.outer.back().radix);
  write_rest();
  if (!in_stage_) return;
  in_stage_ = false;
  leaving_ = filled;
  std::swap(memory_.stages[0], memory_.stages[1]);
  if (!kernel_.streams) write_rest();
}

void Walk::end() {
  write_rest();
  const MxTileStrip nothing{source_, target_, 0, 0, 0, &kOnePlace, 1, 0, {}, &tail_};
  kernel_.row.run(&program_.code(), &program_.form(0), &nothing, memory_.scratch);
}

std::int64_t Walk::first_cut(std::size_t l, std::int64_t end) const {
  const TileLimit& limit = tiles_.limits[l];
  const std::int64_t weight = tiles_.outer.back().weights[l];
  const std::int64_t room = limit.limit - limit.span - place_.sums[l];
  if (room < 0) return 0;
  return room >= (end - 1) * weight ? end : room / weight + 1;
}

std::size_t Walk::form_at(std::int64_t n) const {
  return form_number(tiles_, [&](std::size_t l) { return tiles_.limits[l].limit - place_.sums[l] - n * tiles_.outer.back().weights[l]; });
}

void Walk::strip(const Row& row, std::size_t form, std::int64_t first, std::int64_t count) {
  const OuterDigit& inner = tiles_.outer.back();
  const std::int64_t step_out = in_stage_ ? inner.stage_step : inner.target_step;
  const Place& block = here_.first();
  const std::uint8_t* source = source_ + block.source + first * inner.source_step;
  std::uint8_t* target = (in_stage_ ? memory_.stages[0] + block.stage : target_ + block.target) + first * step_out;
  const std::vector<MxTilePlace>& tiles = in_stage_ ? row.staged : row.tiles;
  const auto each = static_cast<std::int64_t>(tiles.size());
  const MxTileForm& pieces = in_stage_ ? program_.staged_form(form) : program_.form(form);
  while (count > 0) {
    MxTileStrip strip{source, target, count, inner.source_step, step_out, tiles.data(), each, ahead_, {}, &tail_};
    add_stream(strip);
    kernel_.row.run(&program_.code(), &pieces, &strip, memory_.scratch);
    source += strip.count * inner.source_step;
    target += strip.count * step_out;
    count -= strip.count;
  }
}

/// What leaves beside a strip; it gets fewer steps when a run ends before.
void Walk::add_stream(MxTileStrip& strip) {
  if (leaving_.run == tiles_.stage.runs.size() || leaving_.stage == nullptr) return;
  const Stage::Run& run = tiles_.stage.runs[leaving_.run];
  const std::int64_t rest = tiles_.stage.run - leaving_.done;
  const std::int64_t each = strip.place_count * stream_step_;
  strip.count = std::min(strip.count, divided_up(rest, each));
  strip.stream.source = leaving_.stage + run.place + leaving_.done;
  strip.stream.target = leaving_.target + run.target + leaving_.done;
  strip.stream.length = std::min(rest, strip.count * each);
  strip.stream.step = stream_step_;
  leaving_.done += strip.stream.length;
  if (leaving_.done == tiles_.stage.run) {
    leaving_.done = 0;
    ++leaving_.run;
  }
}

/// All that is left of the stage that leaves.
void Walk::write_rest() {
  if (leaving_.stage == nullptr) return;
  for (; leaving_.run < tiles_.stage.runs.size(); ++leaving_.run, leaving_.done = 0) {
    const Stage::Run& run = tiles_.stage.runs[leaving_.run];
    const MxTileCopy rest{run.place + leaving_.done, run.target + leaving_.done, tiles_.stage.run - leaving_.done};
    MxTileForm form{};
    form.copies = &rest;
    form.copy_count = 1;
    const MxTileStrip strip{leaving_.stage, leaving_.target, 1, 0, 0, &kOnePlace, 1, 0, {}, &tail_};
    kernel_.row.run(&program_.code(), &form, &strip, memory_.scratch);
  }
  leaving_ = {};
}

}  // namespace mx::kernels::relayout
