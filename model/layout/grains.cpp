#include "model/layout/grains.hpp"

#include <string>

#include "model/error.hpp"
#include "model/fault.hpp"
#include "model/layout/address_map.hpp"

namespace mx::layout {

std::uint64_t pad_grain(std::int64_t entry, std::int64_t address, int bits, std::uint8_t poison) {
  if (entry == Layout::kPadNeutral) return 0x7F;
  if (entry == Layout::kPadZero) return fault::planted(fault::Fault::pad_content_wrong) ? 1 : 0;
  std::uint64_t value = 0;
  for (int b = bits; b-- > 0;) value = value << 1 | ((std::uint64_t{poison} >> ((address * bits + b) % 8)) & 1U);
  return value;
}

HeldUnits held_row_major(const Layout& from, std::span<const std::uint8_t> bytes) {
  if (static_cast<std::int64_t>(bytes.size()) != from.bytes()) {
    throw Error(ErrorCode::input, std::to_string(bytes.size()) + " bytes where the layout has " + std::to_string(from.bytes()));
  }
  if (from.steps().empty()) return {{bytes.begin(), bytes.end()}, from.size()};
  const int bits = from.grain_bits();
  std::vector<std::uint8_t> out(static_cast<std::size_t>((from.size() * bits + 7) / 8));
  std::vector<bool> seen(from.repeats() ? static_cast<std::size_t>(from.size()) : 0);
  std::int64_t found = 0;
  for_each_address(from, [&](std::int64_t address, std::int64_t entry) {
    if (entry < 0 && fault::planted(fault::Fault::restore_mixes_padding)) {
      set_grain(out, 0, bits, get_grain(out, 0, bits) | get_grain(bytes, address, bits));
    }
    if (entry < 0) return;
    const std::uint64_t value = get_grain(bytes, address, bits);
    if (!seen.empty() && seen[static_cast<std::size_t>(entry)]) {
      if (value == get_grain(out, entry, bits)) return;
      throw Error(ErrorCode::input, "the copies of element " + std::to_string(entry) + " differ: see address " + std::to_string(address));
    }
    if (fault::planted(fault::Fault::restore_drops_last_unit) && entry == from.size() - 1) return void(++found);
    if (!seen.empty()) seen[static_cast<std::size_t>(entry)] = true;
    set_grain(out, entry, bits, value);
    ++found;
  });
  return {std::move(out), found};
}

std::vector<std::uint8_t> to_row_major(const Layout& from, std::span<const std::uint8_t> bytes) {
  HeldUnits held = held_row_major(from, bytes);
  if (held.count != from.size()) {
    throw Error(ErrorCode::usage, "the layout holds " + std::to_string(held.count) + " of " + std::to_string(from.size()) + " elements");
  }
  return std::move(held.bytes);
}

std::vector<std::uint8_t> from_row_major(const Layout& to, std::span<const std::uint8_t> row_major, int source_bits,
                                         std::uint64_t (*cast)(std::uint64_t), std::uint8_t poison) {
  const int bits = to.grain_bits();
  std::vector<std::uint8_t> out(static_cast<std::size_t>(to.bytes()));
  for_each_address(to, [&](std::int64_t address, std::int64_t entry) {
    const std::uint64_t value = entry < 0 ? pad_grain(entry, address, bits, poison) : cast(get_grain(row_major, entry, source_bits));
    set_grain(out, address, bits, value);
  });
  return out;
}

std::vector<std::uint8_t> apply(const Layout& from, std::span<const std::uint8_t> source, const Layout& to, std::uint8_t poison) {
  if (from.logical() != to.logical() || from.grain_bits() != to.grain_bits()) {
    throw Error(ErrorCode::usage, "the layouts speak of different tensors:\n" + from.describe() + "\nand\n" + to.describe());
  }
  if (static_cast<std::int64_t>(source.size()) != from.bytes()) {
    throw Error(ErrorCode::usage, std::to_string(source.size()) + " bytes where the layout has " + std::to_string(from.bytes()));
  }
  const auto keep = [](std::uint64_t value) { return value; };
  return from_row_major(to, to_row_major(from, source), from.grain_bits(), keep, poison);
}

}  // namespace mx::layout
