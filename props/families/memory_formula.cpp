#include "props/families/memory_formula.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "model/error.hpp"
#include "props/families/family.hpp"

namespace mx::props {
namespace {

using families::Setting;
using layout::Layout;
using layout::Role;
using layout::Sizes;
using layout::WeightFormat;

int checkpoint_bits(Role role, WeightFormat format) {
  if (layout::is_bias(role)) return 16;
  if (layout::is_weight(role)) return format == WeightFormat::mxfp4 || format == WeightFormat::nvfp4 || format == WeightFormat::int4 ? 4 : 8;
  if (!layout::is_scale(role)) return 32;
  if (format == WeightFormat::int4) return 16;
  return format == WeightFormat::mxfp4 || format == WeightFormat::nvfp4 || format == WeightFormat::mxfp8 ? 8 : 32;
}

}  // namespace

Extent extent_of(Role role, const Setting& setting, const Sizes& sizes) {
  const bool w13 = layout::is_w13(role);
  const std::int64_t shards = w13 ? shard_count(setting) : 1;
  const std::int64_t rows = w13 ? sizes.intermediate : sizes.hidden;
  const std::int64_t length = w13 ? sizes.hidden : sizes.intermediate;
  if (layout::is_weight(role)) return {shards, rows, length};
  if (layout::is_bias(role)) return {shards, rows, 1};
  if (!layout::is_scale(role)) return {1, 1, 1};  // one number for each expert
  switch (setting.form.format) {
    case WeightFormat::mxfp4:
    case WeightFormat::mxfp8: return {shards, rows, length / 32};
    case WeightFormat::nvfp4: return {shards, rows, length / 16};
    case WeightFormat::int4: return {shards, rows, length / 128};
    case WeightFormat::fp8_channel: return {shards, rows, 1};
    case WeightFormat::fp8_pair: return {shards, 1, 1};
    case WeightFormat::fp8_block:
    case WeightFormat::fp8_block_e8m0: return {shards, (rows + 127) / 128, (length + 127) / 128};
    case WeightFormat::fp8_tensor: break;
  }
  return {1, 1, 1};
}

const BackendFormula& backend_formula(std::string_view backend, WeightFormat format, deployment::Engine engine) {
  for (const FamilyFormulas* family : all_family_formulas()) {
    for (const BackendFormula& row : family->backends) {
      if (row.backend == backend && row.format == format && row.engines.has(engine)) return row;
    }
  }
  throw Error(ErrorCode::usage, "no formula for " + std::string(backend) + ", " + std::string(layout::name_of(format)), "props/families");
}

Memory refined(Memory memory, int grain_bits) {
  if (memory.grain_bits == grain_bits) return memory;
  const std::int64_t pieces = memory.grain_bits / grain_bits;
  Memory fine{grain_bits, {}};
  fine.sources.reserve(memory.sources.size() * static_cast<std::size_t>(pieces));
  for (std::int64_t source : memory.sources) {
    for (std::int64_t j = 0; j < pieces; ++j) fine.sources.push_back(source < 0 ? source : source * pieces + j);
  }
  return fine;
}

Memory composed(const Memory& place, const Matrix& matrix) {
  Memory memory = refined(place, std::min(place.grain_bits, matrix.bits));
  const std::int64_t parts = matrix.bits / memory.grain_bits;
  for (std::int64_t& source : memory.sources) {
    if (source < 0) continue;
    const std::int64_t unit = matrix.units[static_cast<std::size_t>(source / parts)];
    source = unit < 0 ? unit : unit * parts + source % parts;
  }
  return memory;
}

std::int64_t shard_count(const Setting& setting) { return setting.form.gated ? 2 : 1; }
bool is_standard(const Setting& setting) { return setting.form.order == layout::SourceOrder::standard; }

Matrix loaded_matrix(Role role, const Setting& setting, int bits) {
  const Extent is = extent_of(role, setting, setting.sizes);
  const Extent padded = extent_of(role, setting, setting.padded);
  Matrix matrix{setting.sizes.experts, padded.shards * padded.rows, padded.cols, bits, {}};
  for (std::int64_t e = 0; e < matrix.experts; ++e) {
    for (std::int64_t r = 0; r < matrix.rows; ++r) {
      // Interleaved rows alternate gate and up; halves are padded each at its own end.
      const bool pairs = !is_standard(setting) && padded.shards == 2;
      const std::int64_t shard = pairs ? r % 2 : r / padded.rows;
      const std::int64_t row = pairs ? r / 2 : r % padded.rows;
      for (std::int64_t c = 0; c < padded.cols; ++c) {
        const bool there = row < is.rows && c < is.cols;
        matrix.units.push_back(there ? ((e * is.shards + shard) * is.rows + row) * is.cols + c : Layout::kPadZero);
      }
    }
  }
  return matrix;
}

Matrix loaded_matrix(Role role, const Setting& setting) { return loaded_matrix(role, setting, checkpoint_bits(role, setting.form.format)); }

Matrix loaded_with_f32_bias(Role role, const Setting& setting) {
  return loaded_matrix(role, setting, layout::is_bias(role) ? 32 : checkpoint_bits(role, setting.form.format));
}

Matrix with_size(const Matrix& from, std::int64_t rows, std::int64_t cols) {
  const auto same = [](std::int64_t i) { return i; };
  return with_columns(with_rows(from, rows, same), cols, same);
}

Matrix halves_swapped(const Matrix& from) {
  return with_rows(from, from.rows, [&](std::int64_t r) { return (r + from.rows / 2) % from.rows; });
}

Matrix halves_alternating(const Matrix& from) {
  return with_rows(from, from.rows, [&](std::int64_t r) { return r / 2 + r % 2 * (from.rows / 2); });
}

Matrix pairs_separated(const Matrix& from) {
  const std::int64_t half = from.rows / 2;
  return with_rows(from, from.rows, [&](std::int64_t r) { return r < half ? 2 * r : 2 * (r - half) + 1; });
}

Memory kept(const Matrix& sizes) {
  Memory memory{sizes.bits, std::vector<std::int64_t>(static_cast<std::size_t>(sizes.experts * sizes.rows * sizes.cols))};
  std::iota(memory.sources.begin(), memory.sources.end(), 0);
  return memory;
}

Memory block_memory(std::string_view block, const Matrix& sizes, int unit_bits, const families::BlockParams& params, std::string_view version) {
  return block_formula(block).memory({.version = version,
                                      .batch = sizes.experts,
                                      .rows = sizes.rows,
                                      .cols = sizes.cols * sizes.bits / unit_bits,
                                      .unit_bits = unit_bits,
                                      .params = params});
}

Memory transposed(const Matrix& sizes) {
  const families::BlockRequest request{
      .version = {}, .batch = sizes.experts, .rows = sizes.rows, .cols = sizes.cols, .unit_bits = sizes.bits, .params = {}};
  return gathered(request, sizes.bits, sizes.rows * sizes.cols, Layout::kPadZero, [&](std::int64_t p) {
    return Spot{p % sizes.rows, p / sizes.rows};
  });
}

RowPair gate_then_up(std::int64_t i, std::int64_t rows, const Setting&) { return {i, rows / 2 + i}; }
RowPair up_then_gate(std::int64_t i, std::int64_t rows, const Setting&) { return {rows / 2 + i, i}; }
RowPair up_first_pairs(std::int64_t i, std::int64_t, const Setting&) { return {2 * i + 1, 2 * i}; }
RowPair as_loaded(std::int64_t i, std::int64_t rows, const Setting& setting) {
  return is_standard(setting) ? RowPair{i, rows / 2 + i} : RowPair{2 * i, 2 * i + 1};
}

std::uint64_t f32_bias(Role role, const Setting&, std::uint64_t unit) { return layout::is_bias(role) ? unit << 16 : unit; }

}  // namespace mx::props
