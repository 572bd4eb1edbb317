// Laws of the conversions, one law for each family of backends, over every row of its table and every version of the engine.

#include <algorithm>
#include <array>
#include <concepts>
#include <string>

#include "model/error.hpp"
#include "model/layout/address_map.hpp"
#include "props/families/kernel_view.hpp"
#include "props/families/layers.hpp"
#include "props/families/memory_case.hpp"
#include "props/layout/generators.hpp"
#include "props/layout/laws.hpp"

namespace mx::props {
namespace {

using families::PackedLayer;
using layout::CanonicalLayer;
using layout::Layout;
using layout::PackedTensor;
using layout::Role;

// What is packed for one backend is neither a checkpoint nor anything that converts into one by itself: a second application does not compile.
static_assert(!std::convertible_to<PackedLayer, CanonicalLayer>);
static_assert(!std::constructible_from<CanonicalLayer, PackedLayer>);

bool holds(bool (*predicate)(const families::Setting&), const BackendCase& c) { return predicate == nullptr || predicate(c.setting); }

PackedLayer converted(const BackendCase& c, const CanonicalLayer& layer) { return families::convert(layer, c.row, c.setting); }

/// The units that the model places, for compare.
layout::LayerUnits placed(const BackendCase& c, const CanonicalLayer& layer) {
  std::vector<layout::Loss> losses;
  return families::placed_units(layer, c.row, c.setting, losses);
}

/// A prime number of bytes, so that they repeat out of step with rows and tiles.
constexpr std::int64_t kRandomContent = 509;

void fill_padding(PackedTensor& tensor, const Memory& expected, std::span<const std::uint8_t> content) {
  std::vector<std::uint8_t> all(tensor.bytes.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = content[i % content.size()];
  for (std::size_t g = 0; g < expected.sources.size(); ++g) {
    if (expected.sources[g] >= 0) continue;
    const auto grain = static_cast<std::int64_t>(g);
    put_unit(tensor.bytes, grain, expected.grain_bits, unit_at(all, grain, expected.grain_bits));
  }
}

std::string content_text(std::span<const std::uint8_t> content) {
  return content.size() == 1 ? "bytes " + std::to_string(content[0]) : "random bytes";
}

std::int64_t lost_units(const std::vector<layout::Loss>& losses, Role role) {
  std::int64_t units = 0;
  for (const layout::Loss& loss : losses) units += loss.role == role ? loss.units : 0;
  return units;
}

std::int64_t differing_units(const BackendCase& c, Role role, const CanonicalLayer& a, const CanonicalLayer& b) {
  RC_ASSERT(a[role].size() == b[role].size());
  const int bits = layout::unit_bits(role, c.setting.form.format);
  std::int64_t differing = 0;
  for (std::int64_t u = 0; u < static_cast<std::int64_t>(a[role].size()) * 8 / bits; ++u) {
    differing += unit_at(a[role], u, bits) != unit_at(b[role], u, bits) ? 1 : 0;
  }
  return differing;
}

/// The checkpoint again; a refusal fails the running property.
CanonicalLayer restored(const PackedLayer& packed, families::OnLoss on_loss) {
  try {
    return families::restore(packed, on_loss);
  } catch (const Error& error) {
    RC_FAIL(std::string("restoring refuses: ") + error.what());
  }
}

/// What any layer loses: no more than is reported, and nothing silently.
void check_losses(const BackendCase& c, const CanonicalLayer& layer) {
  const PackedLayer packed = converted(c, layer);
  if (!packed.losses.empty()) RC_ASSERT_THROWS_AS(families::restore(packed), Error);
  if (c.row.values != nullptr && c.row.undo_values == nullptr) {
    RC_ASSERT_THROWS_AS(families::restore(packed, families::OnLoss::mark), Error);
    return;
  }
  const CanonicalLayer back = restored(packed, families::OnLoss::mark);
  for (Role role : layout::kAllRoles) {
    const std::int64_t differing = differing_units(c, role, back, layer);
    if (differing > lost_units(packed.losses, role)) {
      RC_FAIL(std::string(layout::name_of(role)) + ": " + std::to_string(differing) + " units are restored otherwise, " +
              std::to_string(lost_units(packed.losses, role)) + " are reported lost");
    }
  }
}

void check_restored(const BackendCase& c, const CanonicalLayer& layer) {
  const PackedLayer packed = converted(c, layer);
  // Repeated scales of blocks that are not whole are cut off: the one loss of a tame layer.
  RC_ASSERT(packed.losses.empty() || !holds(c.formula.scales_follow, c));
  if (!packed.losses.empty()) return check_losses(c, layer);
  const CanonicalLayer back = restored(packed, families::OnLoss::refuse);
  RC_ASSERT(back.sizes == layer.sizes);
  RC_ASSERT(back.form == layer.form);
  for (Role role : layout::kAllRoles) {
    if (back[role] != layer[role]) RC_FAIL(std::string(layout::name_of(role)) + " is restored otherwise");
  }
}

void check_compare_agrees(const BackendCase& c, const CanonicalLayer& layer, const PackedLayer& packed) {
  const layout::LayerUnits units = placed(c, layer);
  for (const PackedTensor& tensor : packed.tensors) {
    const layout::Comparison same = layout::compare(tensor, units[static_cast<std::size_t>(tensor.role)]);
    RC_ASSERT(same.differing == 0);
    RC_ASSERT(same.compared + same.unwritten == tensor.layout.cosize());
  }
}

/// A conversion that nothing undoes cannot be restored: it has no padding that could be read.
void check_has_no_padding(const BackendCase& c) {
  for (Role role : layout::kAllRoles) {
    if (!has_tensor(role, c.setting)) continue;
    const std::vector<std::int64_t> held = c.row.build(role, c.setting).layout.gather();
    RC_ASSERT(std::ranges::none_of(held, [](std::int64_t entry) { return entry < 0; }));
  }
}

/// A kernel that knows a row's padded sizes alone reads the matrices of the documents, and as much memory as was made.
void check_sizes(const BackendCase& c) {
  BackendCase kernel = c;
  kernel.setting.sizes = kernel.setting.padded = families::padded_by(c.row, c.setting);
  const layout::Sizes& sizes = kernel.setting.sizes;
  // A kernel that passes over what fills its blocks works with the layer's sizes: the blocks are none of the row's.
  if (c.formula.block_rows > 1) RC_ASSERT(sizes == c.setting.padded);
  for (const Role role : {Role::w13_weight, Role::w2_weight}) {
    const bool first = layout::is_w13(role);
    const std::int64_t rows = round_up(first ? shard_count(c.setting) * sizes.intermediate : sizes.hidden, c.formula.block_rows);
    const std::int64_t cols = round_up(first ? sizes.hidden : sizes.intermediate, c.formula.block_cols);
    const Matrix matrix = c.formula.matrix(role, c.setting);
    if (matrix.rows != rows || matrix.cols != cols) {
      RC_FAIL(std::string(layout::name_of(role)) + " is " + std::to_string(matrix.rows) + " x " + std::to_string(matrix.cols) + ", its row says " +
              std::to_string(rows) + " x " + std::to_string(cols));
    }
    RC_ASSERT(c.row.build(role, c.setting).layout.bytes() == kernel.row.build(role, kernel.setting).layout.bytes());
  }
}

// Cases of an ordinary run; RC_PARAMS="max_success=..." asks for more.
constexpr int kCases = 2;
constexpr int kFormulaCases = 4;  // cheap, and the law that most faults break
constexpr int kPairCases = 8;     // cheaper still
constexpr int kSizeCases = 40;    // a padding shows in few of them: where a size lies between two multiples
constexpr int kAddressCases = 1;  // every address through the interpreter and back takes its time

}  // namespace

Outcome law_backend_addresses(const Law& law) {
  return check_family(
      law,
      [](const BackendCase& c) {
        for (Role role : layout::kAllRoles) {
          if (!has_tensor(role, c.setting)) continue;
          const Layout layout = c.row.build(role, c.setting).layout;
          const Memory expected = expected_memory(c, role);
          RC_ASSERT(layout.bytes() * 8 == static_cast<std::int64_t>(expected.sources.size()) * expected.grain_bits);
          check_addresses(layout);
          check_digits(layout);
        }
      },
      kAddressCases);
}

Outcome law_tags_arrive(const Law& law) {
  return check_family(
      law,
      [](const BackendCase& c) {
        const CanonicalLayer layer = wild_layer(c.row, c.setting);
        const PackedLayer packed = converted(c, layer);
        for (Role role : layout::kAllRoles) {
          if (!has_tensor(role, c.setting)) continue;
          const Layout layout = c.row.build(role, c.setting).layout;
          const Memory expected = refined(expected_memory(c, role), layout.grain_bits());
          const std::vector<std::int64_t> found = layout.gather();
          RC_ASSERT(found.size() == expected.sources.size());
          const auto [at, wanted] = std::ranges::mismatch(found, expected.sources);
          if (at != found.end()) {
            RC_FAIL(std::string(layout::name_of(role)) + " address " + std::to_string(at - found.begin()) + " holds " + std::to_string(*at) +
                    ", expected " + std::to_string(*wanted) + " (below 0: padding)");
          }
          if (c.row.values == nullptr) check_bytes(c, layer, *packed.find(role), expected);
        }
      },
      kFormulaCases);
}

Outcome law_dequantize_commutes(const Law& law) {
  return check_family(
      law,
      [](const BackendCase& c) {
        const CanonicalLayer layer = tame_layer(c.setting);
        const PackedLayer packed = converted(c, layer);
        for (const WeightRoles& roles : kWeights) {
          const std::int64_t misread = count_misread(c, layer, packed, roles);
          const bool follow = !layout::is_w13(roles.weight) || holds(c.formula.scales_follow, c);
          if (follow && misread > 0) {
            RC_FAIL(std::string(layout::name_of(roles.weight)) + ": " + std::to_string(misread) + " elements have another value");
          }
        }
      },
      kCases);
}

Outcome law_padding_is_ignored(const Law& law) {
  return check_family(
      law,
      [](const BackendCase& c) {
        if (c.row.values != nullptr && c.row.undo_values == nullptr) return check_has_no_padding(c);
        const CanonicalLayer layer = tame_layer(c.setting);
        PackedLayer packed = converted(c, layer);
        const CanonicalLayer first = restored(packed, families::OnLoss::mark);
        const std::array<std::vector<std::uint8_t>, 4> contents{{{0x00}, {0x7F}, {0xFF}, random_bytes(kRandomContent)}};
        std::vector<Memory> expected;
        for (const PackedTensor& tensor : packed.tensors) {
          // Tensors that the conversion adds have no padding.
          expected.push_back(has_tensor(tensor.role, c.setting) ? expected_memory(c, tensor.role) : Memory{8, {}});
        }
        for (const std::vector<std::uint8_t>& content : contents) {
          for (std::size_t t = 0; t < packed.tensors.size(); ++t) fill_padding(packed.tensors[t], expected[t], content);
          const CanonicalLayer back = restored(packed, families::OnLoss::mark);
          for (Role role : layout::kAllRoles) {
            if (back[role] != first[role]) {
              RC_FAIL(std::string(layout::name_of(role)) + " is restored otherwise when its padding holds " + content_text(content));
            }
          }
        }
      },
      kCases);
}

Outcome law_experts_apart(const Law& law) {
  return check_family(
      law,
      [](const BackendCase& c) {
        for (Role role : layout::kAllRoles) {
          if (!has_tensor(role, c.setting) || (c.formula.stacks != nullptr && c.formula.stacks(role, c.setting))) continue;
          BackendCase alone = c;
          alone.setting.sizes.experts = alone.setting.padded.experts = 1;
          BackendCase together = c;
          together.setting.sizes.experts = together.setting.padded.experts = c.setting.sizes.experts + 1;
          const Layout one = alone.row.build(role, alone.setting).layout;
          const std::vector<std::int64_t> of_one = one.gather();
          const std::vector<std::int64_t> of_all = together.row.build(role, together.setting).layout.gather();
          RC_ASSERT(of_all.size() == of_one.size() * static_cast<std::size_t>(together.setting.sizes.experts));
          for (std::size_t a = 0; a < of_all.size(); ++a) {
            const std::int64_t expert = static_cast<std::int64_t>(a / of_one.size());
            const std::int64_t entry = of_one[a % of_one.size()];
            const bool same = entry < 0 ? of_all[a] < 0 : of_all[a] == entry + expert * one.size();
            if (!same) RC_FAIL(std::string(layout::name_of(role)) + " of one expert lies otherwise than among others, at " + std::to_string(a));
          }
        }
      },
      kCases);
}

Outcome law_restore_converts_back(const Law& law) {
  return check_family(
      law,
      [](const BackendCase& c) {
        const CanonicalLayer wild = wild_layer(c.row, c.setting);
        check_losses(c, wild);
        const CanonicalLayer tame = tame_layer(c.setting);
        const PackedLayer packed = converted(c, tame);
        check_compare_agrees(c, tame, packed);
        if (c.row.values == nullptr || c.row.undo_values != nullptr) check_restored(c, tame);
        packed.require(c.row.backend);
        for (const families::BackendLayout& other : families::all_backend_layouts()) {
          if (other.backend != c.row.backend) RC_ASSERT_THROWS_AS(packed.require(other.backend), Error);
        }
      },
      kCases);
}

Outcome law_gate_meets_up(const Law& law) {
  return check_family(
      law,
      [](const BackendCase& c) {
        if (!c.setting.form.gated) return;
        for (Role role : {Role::w13_weight, Role::w13_bias}) {
          if (!has_tensor(role, c.setting)) continue;
          const std::int64_t mispaired = count_mispaired(c, role);
          if (layout::is_weight(role) && holds(c.formula.halves_meet, c) != (mispaired == 0)) {
            RC_FAIL(std::to_string(mispaired) + " gate rows do not meet their up rows");
          }
        }
      },
      kPairCases);
}

Outcome law_sizes_are_padded(const Law& law) { return check_backends(law, {}, check_sizes, kSizeCases); }

Outcome law_compare_sees_every_change(const Law& law) {
  return check_family(
      law,
      [](const BackendCase& c) {
        const CanonicalLayer layer = wild_layer(c.row, c.setting);
        PackedLayer packed = converted(c, layer);
        const layout::LayerUnits units = placed(c, layer);
        for (PackedTensor& tensor : packed.tensors) {
          const std::int64_t bit = pick(0, static_cast<std::int64_t>(tensor.bytes.size()) * 8 - 1);
          tensor.bytes[static_cast<std::size_t>(bit / 8)] ^= static_cast<std::uint8_t>(1U << (bit % 8));
          const layout::Comparison result = layout::compare(tensor, units[static_cast<std::size_t>(tensor.role)]);
          const int grain = tensor.layout.grain_bits();
          const std::int64_t held =
              has_tensor(tensor.role, c.setting) ? refined(expected_memory(c, tensor.role), grain).sources[static_cast<std::size_t>(bit / grain)] : 0;
          RC_ASSERT(result.differing == (held == Layout::kPadUnwritten ? 0 : 1));
          if (held == Layout::kPadUnwritten) continue;
          RC_ASSERT(result.first.has_value());
          RC_ASSERT(result.first->byte_address * 8 + result.first->bit == bit / grain * grain);
          RC_ASSERT(result.first->coord.has_value() == (held >= 0));
        }
      },
      kCases);
}

}  // namespace mx::props
