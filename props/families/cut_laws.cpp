// Tensor parallel ranks: what the engine's loaders cut out of a checkpoint, padded and packed on each of them. How they cut is said here a second
// time. Source: spec engine 2.2 to 2.4.

#include <rapidcheck.h>

#include "props/families/kernel_view.hpp"
#include "props/families/layers.hpp"
#include "props/layout/generators.hpp"
#include "props/layout/laws.hpp"
#include "sim/ranks/plan.hpp"

namespace mx::props {
namespace {

using families::Setting;
using layout::CanonicalLayer;
using layout::Role;
using layout::Sizes;
using layout::WeightFormat;

bool in_blocks(WeightFormat format) { return format == WeightFormat::fp8_block || format == WeightFormat::fp8_block_e8m0; }

/// Entries of the intermediate size that one rank loads.
struct Part {
  std::int64_t first;
  std::int64_t count;
};

bool is_gpt_oss(const Setting& setting) { return setting.form.format == WeightFormat::mxfp4 && !is_standard(setting); }

/// gpt-oss: equal runs of whole blocks of 32. Others: as many as the rank's buffer holds.
Part part_of(const Setting& rank, std::int64_t intermediate, int index, int tp) {
  const std::int64_t each = is_gpt_oss(rank) ? round_up(intermediate, std::int64_t{32} * tp) / tp : rank.padded.intermediate;
  const std::int64_t first = std::min(index * each, intermediate);
  return {first, std::min(each, intermediate - first)};
}

/// Entries of the intermediate size that a row of w13, or a column of w2, stands for; 0: every rank has the whole tensor.
std::int64_t entries_of(Role role, const Setting& setting) {
  const WeightFormat format = setting.form.format;
  if (layout::is_bias(role)) return layout::is_w13(role) ? 1 : 0;
  if (layout::is_weight(role)) return 1;
  if (!layout::is_scale(role) || format == WeightFormat::fp8_tensor || format == WeightFormat::fp8_pair) return 0;
  if (in_blocks(format)) return 128;
  if (layout::is_w13(role)) return 1;
  return format == WeightFormat::fp8_channel ? 0 : setting.sizes.group;
}

/// A tensor as lists of rows: where the checkpoint has a row of a shard.
struct Rows {
  Extent extent;
  bool interleaved;
  std::int64_t unit(std::int64_t e, std::int64_t shard, std::int64_t row, std::int64_t col) const {
    const std::int64_t line = interleaved ? row * extent.shards + shard : shard * extent.rows + row;
    return (e * extent.shards * extent.rows + line) * extent.cols + col;
  }
};

Rows rows_of(Role role, const Setting& setting, const Sizes& sizes) { return {extent_of(role, setting, sizes), !is_standard(setting)}; }

/// The rank's buffers: its part of the whole at the front of each shard, row and column, zero behind.
CanonicalLayer cut_out(const CanonicalLayer& whole, const Setting& rank, const Part& part, bool is_first) {
  CanonicalLayer layer{rank.padded, rank.form, {}};
  for (Role role : layout::kAllRoles) {
    if (whole[role].empty()) continue;
    layer[role].resize(static_cast<std::size_t>(layout::canonical(role, rank.padded, rank.form).bytes()));
    if (role == Role::w2_bias && !is_first) continue;  // or each rank would add it
    const Rows from = rows_of(role, rank, whole.sizes);
    const Rows to = rows_of(role, rank, rank.padded);
    const std::int64_t entries = entries_of(role, rank);
    const std::int64_t skipped = entries == 0 ? 0 : part.first / entries;
    const std::int64_t taken = entries == 0 ? 0 : (part.count + entries - 1) / entries;
    const bool by_rows = layout::is_w13(role) && entries > 0;
    const bool by_columns = !layout::is_w13(role) && entries > 0;
    const int bits = layout::unit_bits(role, rank.form.format);
    for (std::int64_t e = 0; e < rank.padded.experts; ++e) {
      for (std::int64_t shard = 0; shard < from.extent.shards; ++shard) {
        for (std::int64_t row = 0; row < (by_rows ? taken : from.extent.rows); ++row) {
          for (std::int64_t col = 0; col < (by_columns ? taken : from.extent.cols); ++col) {
            const std::int64_t source = from.unit(e, shard, row + (by_rows ? skipped : 0), col + (by_columns ? skipped : 0));
            put_unit(layer[role], to.unit(e, shard, row, col), bits, unit_at(whole[role], source, bits));
          }
        }
      }
    }
  }
  return layer;
}

/// The case as one rank's: what is loaded has the rounded sizes. Blocks of scales are not cut.
BackendCase rank_case(const BackendCase& c) {
  BackendCase rank = c;
  Setting& setting = rank.setting;
  if (in_blocks(setting.form.format)) setting.padded.intermediate = round_up(setting.padded.intermediate, 128);
  setting.sizes = setting.padded;
  RC_PRE(families::broken_needs(c.row, setting).empty());
  return rank;
}

/// The whole layer's intermediate size: in gpt-oss order the last rank may be short of some blocks.
std::int64_t whole_intermediate(const BackendCase& c, const BackendCase& rank, int tp) {
  if (is_gpt_oss(c.setting)) return tp * c.setting.sizes.intermediate - (32 % tp == 0 ? 32 * pick(0, tp - 1) : 0);
  return tp * (in_blocks(c.setting.form.format) ? rank.setting.sizes : c.setting.sizes).intermediate;
}

void check_rank(const BackendCase& rank, const CanonicalLayer& loaded, const CanonicalLayer& expected) {
  for (Role role : layout::kAllRoles) {
    if (loaded[role] != expected[role]) RC_FAIL(std::string(layout::name_of(role)) + " is loaded otherwise");
  }
  const families::PackedLayer packed = families::convert(loaded, rank.row, rank.setting);
  if (rank.row.values == nullptr) {
    for (const layout::PackedTensor& tensor : packed.tensors) check_bytes(rank, expected, tensor, expected_memory(rank, tensor.role));
  } else if (rank.row.undo_values != nullptr && packed.losses.empty()) {
    const CanonicalLayer back = families::restore(packed);
    for (Role role : layout::kAllRoles) {
      if (back[role] != expected[role]) RC_FAIL(std::string(layout::name_of(role)) + " is restored otherwise");
    }
  }
}

}  // namespace

Outcome law_ranks_cut(const Law& law) {
  return check_family(
      law,
      [](const BackendCase& c) {
        const BackendCase rank = rank_case(c);
        const int tp = c.setting.tp_size > 1 ? c.setting.tp_size : static_cast<int>(pick(2, 3));
        Setting whole = rank.setting;
        whole.sizes = whole.padded = {rank.setting.sizes.experts, whole_intermediate(c, rank, tp), c.setting.sizes.hidden, c.setting.sizes.group};
        const CanonicalLayer layer = c.row.values == nullptr ? wild_layer(c.row, whole) : tame_layer(whole);
        deployment::ParallelRequest parallel;
        parallel.tp = tp;
        const sim::Plan plan = sim::make_plan({.parallel = parallel,
                                               .form = whole.form,
                                               .whole = whole.sizes,
                                               .allocated_hidden = rank.setting.padded.hidden,
                                               .allocated_intermediate = rank.setting.padded.intermediate,
                                               .address = families::ExpertAddress::map});
        std::int64_t next = 0;
        for (int index = 0; index < tp; ++index) {
          const Part part = part_of(rank.setting, whole.sizes.intermediate, index, tp);
          RC_ASSERT(part.first == next);
          next += part.count;
          check_rank(rank, sim::loaded_layer(layer, plan, plan.ranks[static_cast<std::size_t>(index)]),
                     cut_out(layer, rank.setting, part, index == 0));
        }
        RC_ASSERT(next == whole.sizes.intermediate);
      },
      1);
}

}  // namespace mx::props
