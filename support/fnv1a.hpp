#pragma once
// FNV-1a of 64 bits, for saying in a few characters that two sequences are the same.

#include <cstdint>
#include <span>
#include <string>

namespace mx::support {

class Fnv1a {
 public:
  void add_byte(std::uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001B3U; }
  void add_bytes(std::span<const std::uint8_t> bytes) {
    for (const std::uint8_t byte : bytes) add_byte(byte);
  }
  /// Eight bytes, little-endian.
  void add(std::int64_t number) {
    for (int shift = 0; shift < 64; shift += 8) add_byte(static_cast<std::uint8_t>(static_cast<std::uint64_t>(number) >> shift));
  }
  /// Their count, then each.
  template <class Numbers>
  void add_all(const Numbers& numbers) {
    add(static_cast<std::int64_t>(numbers.size()));
    for (const auto number : numbers) add(static_cast<std::int64_t>(number));
  }

  std::uint64_t value() const { return value_; }
  /// "fnv1a64:" and 16 hexadecimal digits.
  std::string text() const {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text = "fnv1a64:";
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[value_ >> shift & 0xFU];
    return text;
  }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325U;
};

}  // namespace mx::support
