#include "kernels/word_by_word.hpp"

#include <string>

#include "model/error.hpp"

namespace mx::kernels {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::usage, message); }

void require_aligned(std::string_view name, std::uintptr_t begin) {
  constexpr std::uintptr_t kWord = alignof(std::uint32_t);
  if (begin % kWord == 0) return;
  refuse("the " + std::string(name) + " begin at an address that is not a multiple of " + std::to_string(kWord) + ": " +
         std::to_string(begin % kWord) + " beyond one");
}

}  // namespace

void require_word_by_word(const Words& from, const Words& to) {
  const std::size_t count = from.words.size();
  if (count != to.words.size()) {
    refuse(std::to_string(count) + " " + std::string(from.name) + " into " + std::to_string(to.words.size()) + " " + std::string(to.name));
  }
  const auto read = reinterpret_cast<std::uintptr_t>(from.words.data());
  const auto written = reinterpret_cast<std::uintptr_t>(to.words.data());
  require_aligned(from.name, read);
  require_aligned(to.name, written);
  const bool apart = read + from.words.size_bytes() <= written || written + to.words.size_bytes() <= read;
  if (count != 0 && read != written && !apart) {
    refuse("the " + std::string(from.name) + " and the " + std::string(to.name) + " overlap without being the same");
  }
}

}  // namespace mx::kernels
