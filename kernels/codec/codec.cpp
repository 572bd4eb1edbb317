#include "kernels/codec/codec.hpp"

namespace mx::kernels {

ElementBits f32_bits(std::span<const std::uint32_t> words) { return {&kF32, std::as_bytes(words)}; }
ElementBits bf16_bits(std::span<const std::uint16_t> words) { return {&kBf16, std::as_bytes(words)}; }
ElementBits fp16_bits(std::span<const std::uint16_t> words) { return {&kFp16, std::as_bytes(words)}; }

ElementRoom f32_room(std::span<std::uint32_t> words) { return {&kF32, std::as_writable_bytes(words)}; }
ElementRoom bf16_room(std::span<std::uint16_t> words) { return {&kBf16, std::as_writable_bytes(words)}; }
ElementRoom fp16_room(std::span<std::uint16_t> words) { return {&kFp16, std::as_writable_bytes(words)}; }

}  // namespace mx::kernels
