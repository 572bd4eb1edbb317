#include "checkpoint/maker/attempt.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "model/fault.hpp"

namespace mx::checkpoint {
namespace {

/// Plans of recipes that take nothing of a tensor are the same for every matrix.
std::shared_ptr<const kernels::Quantizing> plan_of(const Recipe& recipe, const Format& source, const TensorScale& tensor) {
  if (tensor != TensorScale{}) return std::make_shared<const kernels::Quantizing>(recipe, source, tensor);
  static std::mutex mutex;
  static std::map<std::pair<const Recipe*, const Format*>, std::shared_ptr<const kernels::Quantizing>> plans;
  const std::scoped_lock lock(mutex);
  std::shared_ptr<const kernels::Quantizing>& plan = plans[{&recipe, &source}];
  if (!plan) plan = std::make_shared<const kernels::Quantizing>(recipe, source, tensor);
  return plan;
}

/// fp32 bits of a number as a format of scales holds it, rounded to nearest even.
std::uint32_t narrowed(std::uint32_t bits, const Format& format) {
  if (format.width == 32 || format.width == 8) return bits;
  return to_f32(convert(bits, kF32, format, conversion(profile_named(kOcp), kF32, format)), format);
}

}  // namespace

Attempt::Attempt(const CodedMatrix& matrix, const Candidate& candidate, std::uint32_t amax)
    : matrix_(&matrix), candidate_(candidate), amax_(amax), how_(plan_of(*candidate.recipe, candidate.source(matrix), candidate.tensor)) {}

void Attempt::add(const HeldBlocks& held) {
  const CodedBlocks& blocks = held.blocks;
  const Format& source = candidate_.source(*matrix_);
  const BlockFormat& format = *candidate_.recipe->format;
  std::span<const std::byte> base = blocks.base;
  const std::size_t word = bytes_of(*matrix_->source);
  std::size_t length = blocks.length;
  if (matrix_->is_one_block()) {
    // The largest magnitude of the whole stands behind every part of it: then the part has the scale of the whole.
    base_.resize(base.size() + word);
    std::ranges::copy(base, base_.begin());
    std::memcpy(base_.data() + base.size(), &amax_, word);
    base = base_;
    ++length;
  }
  if (&source != matrix_->source) {
    base_ = converted(base, *matrix_->source, source);
    base = base_;
  }
  const auto height = static_cast<std::size_t>(format.block == 0 ? 1 : format.block_rows);
  // Blocks of a row lie in one long row. Squares lie behind each other, row by row: a matrix as wide as a square.
  const bool in_a_row = format.block != 0 && height == 1;
  const kernels::Shape shape = in_a_row ? kernels::Shape{1, blocks.count * length} : kernels::Shape{blocks.count * height, length / height};
  const kernels::QuantizedSizes sizes = kernels::quantized_sizes(shape, format, kernels::ScaleLayout::rows);
  codes_.resize(sizes.codes);
  scales_.resize(sizes.scales);
  kernels::quantize(base, shape, *how_, {codes_, scales_}, {&kernels::isa_tier(), 1});
  compare(held);
}

std::uint32_t Attempt::scale_bits(std::size_t block) const {
  const Format& format = *candidate_.recipe->format->scale;
  return to_f32(word_at(scales_, block, bytes_of(format)), format);
}

bool Attempt::same_scale(const HeldBlocks& held, std::size_t block) {
  const Format &ours = *candidate_.recipe->format->scale, &theirs = *matrix_->scale;
  const bool one = matrix_->is_one_block();
  if (!one && &ours == &theirs) {
    const std::size_t width = bytes_of(ours);
    if (fault::planted(fault::Fault::makers_see_codes_alone)) return true;
    return std::memcmp(scales_.data() + block * width, held.blocks.scales.data() + block * width, width) == 0;
  }
  const std::uint32_t made = scale_bits(block);
  const std::uint32_t stored = one ? matrix_->number->bits : to_f32(word_at(held.blocks.scales, block, bytes_of(theirs)), theirs);
  if (made == stored || fault::planted(fault::Fault::makers_see_codes_alone)) return true;
  if (narrowed(made, theirs) != stored) return false;
  ++counts_.narrowed;
  return true;
}

void Attempt::compare(const HeldBlocks& held) {
  const CodedBlocks& blocks = held.blocks;
  const auto columns = static_cast<std::size_t>(matrix_->columns);
  const bool one = matrix_->is_one_block();
  // Of one block its rows are counted.
  const std::size_t count = one ? blocks.length / columns : blocks.count, length = one ? columns : blocks.length;
  counts_.blocks += static_cast<std::int64_t>(count);
  const std::size_t packed = matrix_->element->width == 4 ? 2 : 1, run = length / packed;
  const bool same_form = !one && candidate_.recipe->format->scale == matrix_->scale;
  if (same_form && std::ranges::equal(codes_, blocks.codes) && std::ranges::equal(scales_, blocks.scales)) return;
  for (std::size_t block = 0; block < count; ++block) {
    const std::uint8_t *const ours = codes_.data() + block * run, *const theirs = blocks.codes.data() + block * run;
    const bool scale = same_scale(held, one ? 0 : block);
    if (scale && std::memcmp(ours, theirs, run) == 0) continue;
    std::int64_t codes = 0;
    std::size_t first = scale ? length : 0;
    for (std::size_t i = 0; i < length; ++i) {
      const unsigned shift = packed == 2 ? 4 * (i % 2) : 0, mask = packed == 2 ? 15 : 255;
      if (((unsigned{ours[i / packed]} ^ unsigned{theirs[i / packed]}) >> shift & mask) == 0) continue;
      ++codes;
      first = std::min(first, i);
    }
    counts_.codes += codes;
    counts_.scales += scale ? 0 : 1;
    if (counts_.differing++ > 0) continue;
    const auto [row, column] = place_of(*matrix_, block, first);
    counts_.first_row = held.first_row + static_cast<std::int64_t>(row);
    counts_.first_column = static_cast<std::int64_t>(column);
  }
}

Maker maker_of(const Candidate& candidate, bool is_narrowed, const Format& scale) {
  return {candidate.profile->name, candidate.profile->implementation, text_of(candidate.profile->releases),
          candidate.made_from() + (is_narrowed ? ", its scales rounded to " + std::string(scale.name) : "")};
}

}  // namespace mx::checkpoint
