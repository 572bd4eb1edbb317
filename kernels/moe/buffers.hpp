#pragma once
// What a caller's memory must be before a kernel writes to it.

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "model/error.hpp"

namespace mx::kernels::moe {

/// The product of sizes, or the largest number there is where their product is beyond it.
inline std::size_t product_of(std::initializer_list<std::size_t> sizes) {
  std::size_t product = 1;
  for (const std::size_t size : sizes) {
    if (__builtin_mul_overflow(product, size, &product)) return SIZE_MAX;
  }
  return product;
}

/// One input, as the memory it occupies.
struct Input {
  std::string_view name;
  std::uintptr_t begin;
  std::size_t bytes;
  std::size_t alignment;
};

template <class T>
Input input(std::string_view name, std::span<const T> span) {
  return {name, reinterpret_cast<std::uintptr_t>(span.data()), span.size_bytes(), alignof(T)};
}

/// Throws Error(usage) when memory that will be written, or an input, does not begin at a multiple of its elements' size, or when they overlap.
inline void check_apart(std::string_view place, const Input& written, std::initializer_list<Input> inputs) {
  const auto check_alignment = [&](const Input& buffer) {
    if (buffer.begin % buffer.alignment == 0) return;
    throw Error(ErrorCode::usage,
                std::string(buffer.name) + " is misaligned: it must begin at a multiple of " + std::to_string(buffer.alignment) + " bytes",
                std::string(place));
  };
  check_alignment(written);
  for (const Input& buffer : inputs) {
    check_alignment(buffer);
    if (written.bytes == 0 || buffer.bytes == 0) continue;
    if (written.begin < buffer.begin + buffer.bytes && buffer.begin < written.begin + written.bytes) {
      throw Error(ErrorCode::usage, std::string(written.name) + " overlaps " + std::string(buffer.name), std::string(place));
    }
  }
}

/// The same of `out`.
inline void check_buffers(std::string_view place, std::span<float> out, std::initializer_list<Input> inputs) {
  check_apart(place, input("out", std::span<const float>(out)), inputs);
}

}  // namespace mx::kernels::moe
