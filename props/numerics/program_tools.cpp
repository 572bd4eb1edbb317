#include "props/numerics/program_tools.hpp"

#include <array>
#include <sstream>
#include <stdexcept>

namespace mx::props::numerics {

std::span<const TensorScale> tensor_scales() {
  static constexpr std::array<TensorScale, 7> kTensors{{{},
                                                        {.encode = 0x43654321U, .decode = {}},
                                                        {.encode = {}, .decode = 0x3A123456U},
                                                        {.encode = 0x43654321U, .decode = 0x3B8F1234U},
                                                        {.encode = {}, .decode = {}, .amax_bound = 0x3F812345U},
                                                        {.encode = {}, .decode = 0x00012345U},
                                                        {.encode = 0x02345678U, .decode = 0x00765432U}}};
  return kTensors;
}

TensorNumbers numbers_of(const TensorScale& tensor) {
  const auto number = [](const std::optional<std::uint32_t>& bits) { return bits ? std::optional<float>(number_of(*bits)) : std::nullopt; };
  return {number(tensor.encode), number(tensor.decode), number(tensor.amax_bound)};
}

std::string text_of_tensor(const TensorScale& tensor) {
  const auto number = [](const char* name, const std::optional<std::uint32_t>& bits) { return bits ? std::string(name) + hex(*bits) : ""; };
  return number(" encode ", tensor.encode) + number(" decode ", tensor.decode) + number(" bound ", tensor.amax_bound);
}

bool fits(Take take, const std::optional<std::uint32_t>& given) { return take == Take::may || given.has_value() == (take == Take::must); }

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

SourceType type_named(std::string_view name) {
  if (name == "f32") return SourceType::f32;
  if (name == "bf16") return SourceType::bf16;
  if (name == "fp16") return SourceType::fp16;
  throw std::logic_error("no type " + std::string(name));
}

}  // namespace mx::props::numerics
