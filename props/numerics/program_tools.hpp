#pragma once
// What the two laws about programs share: ways of giving a tensor's numbers, and lists of words.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/numerics/block.hpp"
#include "props/numerics/programs.hpp"

namespace mx::props::numerics {

/// Ways of giving the tensor's numbers: none, each alone, pairs; ordinary numbers, and scales so small that products with them are subnormal.
std::span<const TensorScale> tensor_scales();
TensorNumbers numbers_of(const TensorScale& tensor);
/// " encode 0x43654321", "" for none.
std::string text_of_tensor(const TensorScale& tensor);

bool fits(Take take, const std::optional<std::uint32_t>& given);

/// The words between blanks.
std::vector<std::string> words_of(std::string_view text);
/// "f32", "bf16" or "fp16".
SourceType type_named(std::string_view name);

}  // namespace mx::props::numerics
