#include "model/layout/grains.hpp"

#include <optional>
#include <string>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/layout/address_map.hpp"
#include "model/layout/one_line.hpp"

namespace mx::layout {

std::uint64_t pad_grain(std::int64_t entry, std::int64_t address, int bits, std::uint8_t poison) {
  if (entry == Layout::kPadNeutral) return 0x7F;
  if (entry == Layout::kPadZero) return fault::planted(fault::Fault::pad_content_wrong) ? 1 : 0;
  std::uint64_t value = 0;
  for (int b = bits; b-- > 0;) value = value << 1 | ((std::uint64_t{poison} >> ((address * bits + b) % 8)) & 1U);
  return value;
}

namespace {

/// Elements of which memory may hold several copies.
class Copies {
 public:
  explicit Copies(const Layout& from) : bits_(from.grain_bits()), seen_(static_cast<std::size_t>(from.size())) {}

  /// Takes the elements of a run that were not there before; gives their number.
  std::int64_t take(std::span<const std::uint8_t> bytes, std::int64_t address, std::int64_t entry, std::int64_t count, std::span<std::uint8_t> out) {
    std::int64_t taken = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t value = get_grain(bytes, address + i, bits_);
      if (!seen_[static_cast<std::size_t>(entry + i)]) {
        seen_[static_cast<std::size_t>(entry + i)] = true;
        set_grain(out, entry + i, bits_, value);
        ++taken;
      } else if (value != get_grain(out, entry + i, bits_)) {
        throw Error(ErrorCode::input, "the copies of element " + std::to_string(entry + i) + " differ: see address " + std::to_string(address + i));
      }
    }
    return taken;
  }

 private:
  int bits_;
  std::vector<bool> seen_;
};

void set_padding(std::span<std::uint8_t> out, std::int64_t address, std::int64_t entry, std::int64_t count, int bits, std::uint8_t poison) {
  for (std::int64_t i = address; i < address + count; ++i) set_grain(out, i, bits, pad_grain(entry, i, bits, poison));
}

}  // namespace

HeldUnits held_row_major(const Layout& from, std::span<const std::uint8_t> bytes) {
  if (static_cast<std::int64_t>(bytes.size()) != from.bytes()) {
    throw Error(ErrorCode::input, std::to_string(bytes.size()) + " bytes where the layout has " + std::to_string(from.bytes()));
  }
  if (from.steps().empty()) return {{bytes.begin(), bytes.end()}, from.size()};
  const int bits = from.grain_bits();
  HeldUnits held{std::vector<std::uint8_t>(static_cast<std::size_t>((from.size() * bits + 7) / 8)), 0};
  std::optional<Copies> copies;
  if (from.repeats()) copies.emplace(from);
  for_each_run(from, [&](std::int64_t address, std::int64_t entry, std::int64_t count) {
    if (entry < 0) {
      if (fault::planted(fault::Fault::restore_mixes_padding)) {
        for (std::int64_t i = 0; i < count; ++i) set_grain(held.bytes, 0, bits, get_grain(held.bytes, 0, bits) | get_grain(bytes, address + i, bits));
      }
    } else if (copies) {
      held.count += copies->take(bytes, address, entry, count, held.bytes);
    } else {
      copy_grains(bytes, address, held.bytes, entry, count, bits);
      held.count += count;
    }
  });
  if (fault::planted(fault::Fault::restore_drops_last_unit)) set_grain(held.bytes, from.size() - 1, bits, 0);
  return held;
}

std::vector<std::uint8_t> to_row_major(const Layout& from, std::span<const std::uint8_t> bytes) {
  HeldUnits held = held_row_major(from, bytes);
  if (held.count != from.size()) {
    throw Error(ErrorCode::usage, "the layout holds " + std::to_string(held.count) + " of " + std::to_string(from.size()) + " elements");
  }
  return std::move(held.bytes);
}

std::vector<std::uint8_t> from_row_major(const Layout& to, std::span<const std::uint8_t> row_major, std::uint8_t poison) {
  const int bits = to.grain_bits();
  std::vector<std::uint8_t> out(static_cast<std::size_t>(to.bytes()));
  for_each_run(to, [&](std::int64_t address, std::int64_t entry, std::int64_t count) {
    if (entry < 0)
      set_padding(out, address, entry, count, bits, poison);
    else
      copy_grains(row_major, entry, out, address, count, bits);
  });
  return out;
}

std::vector<std::uint8_t> from_row_major(const Layout& to, std::span<const std::uint8_t> row_major, const Cast& cast, std::uint8_t poison) {
  if (cast.keeps()) return from_row_major(to, row_major, poison);
  const int bits = to.grain_bits();
  std::vector<std::uint8_t> out(static_cast<std::size_t>(to.bytes()));
  for_each_run(to, [&](std::int64_t address, std::int64_t entry, std::int64_t count) {
    if (entry < 0) return set_padding(out, address, entry, count, bits, poison);
    for (std::int64_t i = 0; i < count; ++i) set_grain(out, address + i, bits, cast.make(get_grain(row_major, entry + i, cast.from_bits)));
  });
  return out;
}

std::vector<std::uint8_t> apply(const Layout& from, std::span<const std::uint8_t> source, const Layout& to, std::uint8_t poison) {
  if (from.logical() != to.logical() || from.grain_bits() != to.grain_bits()) {
    throw Error(ErrorCode::usage, "the layouts speak of different tensors: " + one_line(from) + ", and " + one_line(to));
  }
  if (static_cast<std::int64_t>(source.size()) != from.bytes()) {
    throw Error(ErrorCode::usage, std::to_string(source.size()) + " bytes where the layout has " + std::to_string(from.bytes()));
  }
  return from_row_major(to, to_row_major(from, source), poison);
}

}  // namespace mx::layout
