// The two memories that experts are read from: the checkpoint's form and a backend's packed form. Both go through a layout's address map, so
// that the only difference between them is the layout.

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "model/error.hpp"
#include "model/moe/layer.hpp"
#include "model/numerics/block.hpp"
#include "model/numerics/convert.hpp"

namespace mx::moe {
namespace {

using layout::Layout;
using layout::Role;
using layout::Sizes;

/// A tensor in memory with the address of each logical unit. Absent tensors (no biases) read as zero.
class Reader {
 public:
  Reader() = default;
  /// `memory_bits` is the size of a unit in memory: the grain of the layout, or 32 for a bias widened to fp32.
  Reader(const Layout& layout, std::span<const std::uint8_t> bytes, int memory_bits) : bytes_(bytes), bits_(memory_bits) {
    const std::vector<std::int64_t> gather = layout.gather();
    addresses_.assign(static_cast<std::size_t>(layout.size()), 0);
    for (std::size_t address = 0; address < gather.size(); ++address) {
      if (gather[address] >= 0) addresses_[static_cast<std::size_t>(gather[address])] = static_cast<std::int64_t>(address);
    }
  }

  bool absent() const { return addresses_.empty(); }

  std::uint32_t unit(std::int64_t logical) const {
    const std::int64_t address = addresses_[static_cast<std::size_t>(logical)];
    if (bits_ == 4) {
      const std::uint8_t byte = bytes_[static_cast<std::size_t>(address / 2)];
      return address % 2 == 0 ? byte & 0xFU : byte >> 4U;
    }
    const std::int64_t width = bits_ / 8;
    std::uint32_t value = 0;
    for (std::int64_t i = 0; i < width; ++i) {
      value |= static_cast<std::uint32_t>(bytes_[static_cast<std::size_t>(address * width + i)]) << (8 * i);
    }
    return value;
  }

  /// fp32 bits of a bias unit, stored as bf16 or fp32.
  std::uint32_t as_f32(std::int64_t logical) const {
    if (absent()) return 0;
    return bits_ == 16 ? to_f32(unit(logical), kBf16) : unit(logical);
  }

 private:
  std::span<const std::uint8_t> bytes_;
  int bits_ = 0;
  std::vector<std::int64_t> addresses_;
};

class MappedExperts : public Experts {
 public:
  MappedExperts(const Sizes& sizes, std::array<Reader, 6> readers)
      : sizes_(sizes), readers_(std::move(readers)), format_(block_format_named("mxfp4")) {}

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

  std::uint32_t w2_bias(std::int64_t expert, std::int64_t row) const override {
    return reader(Role::w2_bias).as_f32(expert * sizes_.hidden + row);
  }

 private:
  const Reader& reader(Role role) const { return readers_[static_cast<std::size_t>(role)]; }

  void fill(Role weight, Role scale, std::int64_t row, std::int64_t length, std::span<Value> out) const {
    const std::int64_t groups = length / sizes_.group;
    for (std::int64_t k = 0; k < length; ++k) {
      const std::uint32_t scale_code = reader(scale).unit(row * groups + k / sizes_.group);
      out[static_cast<std::size_t>(k)] = scaled_value(reader(weight).unit(row * length + k), scale_code, format_);
    }
  }

  Sizes sizes_;
  std::array<Reader, 6> readers_;
  const BlockFormat& format_;
};

}  // namespace

std::unique_ptr<Experts> canonical_experts(const layout::CanonicalLayer& layer) {
  std::array<Reader, 6> readers;
  for (Role role : layout::kRoles) {
    if (layer[role].empty()) continue;
    const Layout memory = layout::canonical(role, layer.sizes, layer.order);
    readers[static_cast<std::size_t>(role)] = Reader(memory, layer[role], memory.grain_bits());
  }
  return std::make_unique<MappedExperts>(layer.sizes, std::move(readers));
}

std::unique_ptr<Experts> packed_experts(const layout::PackedLayer& layer) {
  const layout::BackendLayout* backend = layout::find_backend_layout(layer.backend);
  if (backend == nullptr) throw Error(ErrorCode::usage, "no layout model for backend '" + layer.backend + "'");
  std::array<Reader, 6> readers;
  for (const layout::PackedTensor& tensor : layer.tensors) {
    // A kernel does not know where the checkpoint ended: it reads the padded sizes.
    const Layout memory = backend->build(tensor.role, layer.padded, layer.padded, layer.order);
    const int bits = tensor.cast == layout::Cast::bf16_to_f32 ? 32 : memory.grain_bits();
    if (memory.cosize() * bits != static_cast<std::int64_t>(tensor.bytes.size()) * 8) {
      throw Error(ErrorCode::usage, "holds " + std::to_string(tensor.bytes.size()) + " bytes, its layout needs " +
                                        std::to_string(memory.cosize() * bits / 8),
                  std::string(layout::name_of(tensor.role)));
    }
    readers[static_cast<std::size_t>(tensor.role)] = Reader(memory, tensor.bytes, bits);
  }
  for (Role role : {Role::w13_weight, Role::w13_weight_scale, Role::w2_weight, Role::w2_weight_scale}) {
    if (layer.find(role) == nullptr) throw Error(ErrorCode::usage, "missing from the packed layer", std::string(layout::name_of(role)));
  }
  return std::make_unique<MappedExperts>(layer.padded, std::move(readers));
}

}  // namespace mx::moe
