#pragma once
// What the rows of families' block_inputs.cpp are made of.

#include <array>
#include <cstdint>
#include <string_view>

#include "model/families/block_input.hpp"

namespace mx::families {

inline constexpr std::array<std::int64_t, 1> kMatrix{2};
inline constexpr std::array<std::int64_t, 1> kExperts{3};
inline constexpr std::array<std::int64_t, 2> kEither{2, 3};
inline constexpr std::array<std::string_view, 1> kBytes{"uint8"};
inline constexpr std::array<std::string_view, 2> kBytesOrHalves{"uint8", "bfloat16"};
inline constexpr std::array<std::string_view, 1> kE4m3{"float8_e4m3fn"};
inline constexpr std::array<std::string_view, 2> kWords{"int32", "uint8"};
inline constexpr std::array<std::string_view, 5> kCpuWeights{"bfloat16", "float16", "int8", "float8_e4m3fn", "uint8"};

inline constexpr std::string_view kPackedWords = "eight 4-bit elements a word; bytes stand for the same memory";

/// What a row of vLLM at 2026-08 stands on, by file and function.
constexpr layout::Source vllm_source(std::string_view path, std::string_view symbol) {
  return {"vllm-project/vllm", path, symbol, "017e9f4448b700e85ee16023287b025693c72b9e"};
}
/// The same for FlashInfer.
constexpr layout::Source flashinfer_source(std::string_view path, std::string_view symbol) {
  return {"flashinfer-ai/flashinfer", path, symbol, "fb28d7242b3506a2348265962041acc1fb56cca4"};
}

}  // namespace mx::families
