#pragma once
// What the model and the kernels compute, as one number: the same one whatever compiler, optimization, processor, instruction set and number of
// threads it came from.

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "kernels/isa.hpp"

namespace mx::tests {

/// FNV-1a of 64 bits (Fowler, Noll, Vo) over the bytes of numbers, lowest first, with the count of what went in.
class Digest {
 public:
  void add(std::uint64_t word) {
    for (int i = 0; i < 8; ++i) add_byte(static_cast<std::uint8_t>(word >> (8 * i)));
    ++results_;
  }
  template <class Number>
  void add_all(std::span<const Number> numbers) {
    for (const Number number : numbers) {
      for (std::size_t i = 0; i < sizeof number; ++i) add_byte(static_cast<std::uint8_t>(number >> (8 * i)));
    }
    results_ += numbers.size();
  }
  void add_text(std::string_view text) {
    for (const char letter : text) add_byte(static_cast<std::uint8_t>(letter));
    add(text.size());
  }
  /// What a part came to.
  void add(const Digest& part) {
    const std::uint64_t results = results_ + part.results_;
    add(part.hash_);
    add(part.results_);
    results_ = results;
  }
  std::uint64_t value() const { return hash_; }
  std::uint64_t results() const { return results_; }

 private:
  void add_byte(std::uint8_t byte) { hash_ = (hash_ ^ byte) * 0x100000001B3U; }

  std::uint64_t hash_ = 0xCBF29CE484222325U;
  std::uint64_t results_ = 0;
};

/// A part of the library, on inputs that are the same at each run.
struct ModelPart {
  std::string_view name;
  void (*run)(Digest& digest);
};
std::span<const ModelPart> model_parts();

struct KernelPart {
  std::string_view name;
  void (*run)(Digest& digest, const kernels::IsaTier& tier, int threads);
};
std::span<const KernelPart> kernel_parts();

}  // namespace mx::tests
