// The two memories that experts are read from: the checkpoint's form and a backend's packed form. Both are read through a layout, so that the
// layout is the only difference between them.

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "model/error.hpp"
#include "model/layout/grains.hpp"
#include "model/moe/layer.hpp"
#include "model/numerics/block.hpp"
#include "model/numerics/convert.hpp"

namespace mx::moe {
namespace {

using layout::Layout;
using layout::Role;
using layout::Sizes;

/// A tensor's units, read out of its memory in logical order. An absent one (no biases) reads as zero.
class Reader {
 public:
  Reader() = default;
  // Exploded units lie together in row-major order, low bits first: they read as the units they are parts of.
  Reader(const Layout& layout, std::span<const std::uint8_t> bytes) : units_(layout::to_row_major(layout, bytes)), bits_(layout.unit_bits()) {}

  /// The same before a cast, when it was one that scales can be undone from.
  Reader(const Layout& layout, std::span<const std::uint8_t> bytes, const layout::Cast& cast) : Reader(layout, bytes) {
    const layout::Uncast uncast(cast);
    std::vector<std::uint8_t> before(static_cast<std::size_t>((layout.size() * cast.from_bits + 7) / 8));
    for (std::int64_t i = 0; i < layout.size(); ++i) {
      const std::optional<std::uint64_t> found = uncast(layout::get_grain(units_, i, bits_));
      if (!found) throw Error(ErrorCode::usage, "element " + std::to_string(i) + " is nothing that " + std::string(cast.name) + " makes");
      layout::set_grain(before, i, cast.from_bits, *found);
    }
    units_ = std::move(before);
    bits_ = cast.from_bits;
  }

  bool absent() const { return units_.empty(); }

  std::uint32_t unit(std::int64_t logical) const { return static_cast<std::uint32_t>(layout::get_grain(units_, logical, bits_)); }

  /// fp32 bits of a bias unit, stored as bf16 or fp32.
  std::uint32_t as_f32(std::int64_t logical) const {
    if (absent()) return 0;
    return bits_ == kBf16.width ? to_f32(unit(logical), kBf16) : unit(logical);
  }

 private:
  std::vector<std::uint8_t> units_;
  int bits_ = 0;
};

/// Exact value of every (scale, code) pair of MXFP4.
std::vector<Value> scaled_values() {
  const BlockFormat& format = block_format_named("mxfp4");
  std::vector<Value> values;
  for (std::uint32_t scale = 0; scale < 256; ++scale) {
    for (std::uint32_t code = 0; code < 16; ++code) values.push_back(scaled_value(code, scale, format));
  }
  return values;
}

class MappedExperts : public Experts {
 public:
  MappedExperts(const Sizes& sizes, std::array<Reader, 6> readers) : sizes_(sizes), readers_(std::move(readers)), values_(scaled_values()) {}

  Sizes sizes() const override { return sizes_; }

  void w13_row(std::int64_t expert, std::int64_t half, std::int64_t row, std::span<Value> out) const override {
    fill(Role::w13_weight, Role::w13_weight_scale, (expert * 2 + half) * sizes_.intermediate + row, sizes_.hidden, out);
  }

  void w2_row(std::int64_t expert, std::int64_t row, std::span<Value> out) const override {
    fill(Role::w2_weight, Role::w2_weight_scale, expert * sizes_.hidden + row, sizes_.intermediate, out);
  }

  std::uint32_t w13_bias(std::int64_t expert, std::int64_t half, std::int64_t row) const override {
    return reader(Role::w13_bias).as_f32((expert * 2 + half) * sizes_.intermediate + row);
  }

  std::uint32_t w2_bias(std::int64_t expert, std::int64_t row) const override { return reader(Role::w2_bias).as_f32(expert * sizes_.hidden + row); }

 private:
  const Reader& reader(Role role) const { return readers_[static_cast<std::size_t>(role)]; }

  void fill(Role weights, Role scales, std::int64_t row, std::int64_t length, std::span<Value> out) const {
    const std::int64_t groups = length / sizes_.group;
    for (std::int64_t group = 0; group < groups; ++group) {
      const std::size_t scale = reader(scales).unit(row * groups + group);
      for (std::int64_t k = group * sizes_.group; k < (group + 1) * sizes_.group; ++k) {
        out[static_cast<std::size_t>(k)] = values_[scale * 16 + reader(weights).unit(row * length + k)];
      }
    }
  }

  Sizes sizes_;
  std::array<Reader, 6> readers_;
  std::vector<Value> values_;
};

/// Biases may be missing, nothing else.
void require_weights(const std::array<Reader, 6>& readers) {
  for (Role role : layout::kRoles) {
    if (layout::is_bias(role) || !readers[static_cast<std::size_t>(role)].absent()) continue;
    throw Error(ErrorCode::usage, "missing from the layer", std::string(layout::name_of(role)));
  }
}

}  // namespace

std::unique_ptr<Experts> canonical_experts(const layout::CanonicalLayer& layer) {
  std::array<Reader, 6> readers;
  for (Role role : layout::kRoles) {
    if (layer[role].empty()) continue;
    const Layout memory = layout::canonical(role, layer.sizes, layer.form);
    readers[static_cast<std::size_t>(role)] = Reader(memory, layer[role]);
  }
  require_weights(readers);
  return std::make_unique<MappedExperts>(layer.sizes, std::move(readers));
}

std::unique_ptr<Experts> memory_experts(const layout::Sizes& sizes, std::span<const ExpertMemory> tensors) {
  std::array<Reader, 6> readers;
  for (const ExpertMemory& tensor : tensors) {
    if (tensor.layout.bytes() != static_cast<std::int64_t>(tensor.bytes.size())) {
      throw Error(ErrorCode::usage,
                  "holds " + std::to_string(tensor.bytes.size()) + " bytes, its layout needs " + std::to_string(tensor.layout.bytes()),
                  std::string(layout::name_of(tensor.role)));
    }
    // A bias is read in the type that it was widened to.
    const bool as_is = tensor.cast->keeps() || layout::is_bias(tensor.role);
    readers[static_cast<std::size_t>(tensor.role)] = as_is ? Reader(tensor.layout, tensor.bytes) : Reader(tensor.layout, tensor.bytes, *tensor.cast);
  }
  require_weights(readers);
  return std::make_unique<MappedExperts>(sizes, std::move(readers));
}

}  // namespace mx::moe
