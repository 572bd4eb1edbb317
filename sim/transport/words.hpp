#pragma once
// Numbers and texts as words that a transport moves, and back.

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/transport/transport.hpp"

namespace mx::sim {

class WordWriter {
 public:
  void put(std::int64_t number) {
    const auto bits = static_cast<std::uint64_t>(number);
    words_.push_back(static_cast<std::uint32_t>(bits));
    words_.push_back(static_cast<std::uint32_t>(bits >> 32U));
  }
  void put(std::string_view text) {
    put(static_cast<std::int64_t>(text.size()));
    for (const char c : text) words_.push_back(static_cast<unsigned char>(c));
  }
  Words take() { return std::move(words_); }

 private:
  Words words_;
};

/// Reads what a WordWriter wrote, in the same order; a word that is not there throws std::out_of_range.
class WordReader {
 public:
  explicit WordReader(const Words& words) : words_(words) {}
  bool at_end() const { return next_ == words_.size(); }
  std::int64_t number() {
    const std::uint64_t low = words_.at(next_++);
    return static_cast<std::int64_t>(low | std::uint64_t{words_.at(next_++)} << 32U);
  }
  std::string text() {
    std::string text;
    for (std::int64_t left = number(); left > 0; --left) text += static_cast<char>(words_.at(next_++));
    return text;
  }

 private:
  const Words& words_;
  std::size_t next_ = 0;
};

}  // namespace mx::sim
