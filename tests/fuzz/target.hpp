#pragma once
// A fuzz target: bytes in; what is wrong with them must come out as mx::Error. Every other exception, crash, sanitizer's finding or broken promise
// ends the process.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "model/error.hpp"

namespace mx::tests {

/// The name that libFuzzer calls; each target's file defines it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) { return {reinterpret_cast<const char*>(data), size}; }

/// A promise of the code under test.
inline void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", promise);
  std::abort();
}

/// What is wrong with an error as an answer to bad input, null when nothing is: it says something beside the place, on one line, in the words of this
/// program or of `input`, and not in those of a library that it uses, and its code is one of the documented.
const char* defect_of(const Error& error, std::string_view input);

/// Runs `use`; an mx::Error without a defect is an answer, everything else that is thrown a finding. `input`: text that a message may begin with.
template <class Use>
void expect_answer(std::string_view input, Use use) {
  try {
    use();
  } catch (const Error& error) {
    const char* const defect = defect_of(error, input);
    if (defect != nullptr) std::fprintf(stderr, "%s\n", error.what());
    require(defect == nullptr, defect);
  }
}

template <class Use>
void expect_answer(Use use) {
  expect_answer({}, use);
}

/// Numbers from bytes; zeros after the last one.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : left_(data, size) {}

  std::uint8_t byte() {
    if (left_.empty()) return 0;
    const std::uint8_t first = left_.front();
    left_ = left_.subspan(1);
    return first;
  }
  std::uint32_t word() {
    std::uint32_t value = 0;
    for (int shift = 0; shift < 32; shift += 8) value |= static_cast<std::uint32_t>(byte()) << shift;
    return value;
  }
  /// In 0..count-1.
  std::size_t pick(std::size_t count) { return byte() % count; }
  bool empty() const { return left_.empty(); }

 private:
  std::span<const std::uint8_t> left_;
};

/// A directory in memory, of this process, gone with it.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  /// Replaces a file of that name.
  std::filesystem::path write(std::string_view name, const std::uint8_t* data, std::size_t size) const;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace mx::tests
