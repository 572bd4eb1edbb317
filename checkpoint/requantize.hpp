#pragma once
// What the engine makes of FP8 codes with one scale for gate and one for up: both are quantized again with the larger one, also where they are alike.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/layout/plan.hpp"

namespace mx::checkpoint {

/// What the codes are when they are quantized again.
enum class Fp8Codes : std::uint8_t {
  e4m3fn,    ///< as the checkpoint has them
  e4m3fnuz,  ///< as the engine's method made them before (model/families/fnuz.hpp), with both scales doubled
};

/// The code that becomes of each code of the checkpoint, from one of its scales to a larger one, both as fp32 bits: code and scale are multiplied in
/// fp16, the product is divided by the new scale as a product with its fp32 reciprocal, held within 448, of e4m3fnuz within 224, and rounded to
/// nearest even. NaN becomes that number, as its clamp has it. Of e4m3fnuz the codes that come out are of that format. By the engine's text, not run.
/// Source: vllm quantization/utils/fp8_utils.py process_fp8_weight_tensor_strategy_moe; w8a8_utils.py per_tensor_dequantize;
/// csrc/quantization/w8a8/fp8/common.cuh scaled_fp8_conversion, csrc/quantization/utils.cuh quant_type_max.
std::array<std::uint8_t, 256> requantized_codes(std::uint32_t from, std::uint32_t to, Fp8Codes as);

/// The scales of static FP8 activations that the engine hands to the kernels of w13 and w2, fp32 bits: of all experts' the largest.
/// Source: vllm quantization/utils/fp8_utils.py process_fp8_input_tensor_strategy_moe.
struct InputScales {
  std::uint32_t w13;
  std::uint32_t w2;
};
/// The same where the method made the codes e4m3fnuz before: doubled.
InputScales joined_for(const InputScales& scales, Fp8Codes as);

/// One half of an expert's w13 that is quantized again.
struct Requantized {
  int expert;
  int half;            ///< 0 gate, 1 up
  std::uint32_t from;  ///< fp32 bits of its scale in the checkpoint
  std::uint32_t to;    ///< of the larger one
};

/// What the loss of it is called.
inline constexpr std::string_view kRequantized = "codes quantized again for one scale of gate and up";

/// Codes that change, and those of them whose number stays.
struct RequantizedCount {
  std::int64_t changed = 0;
  std::int64_t kept = 0;
};
/// Of the checkpoint's codes of the half, one a byte.
RequantizedCount count_requantized(const Requantized& half, std::span<const std::uint8_t> codes, Fp8Codes as);

/// The halves of a layer, in the memory of its w13: expert by expert, gate before up, a code a byte.
class Requantizer {
 public:
  /// Nothing is quantized again.
  Requantizer() = default;
  Requantizer(std::vector<Requantized> halves, std::uint64_t half_bytes, Fp8Codes as);

  bool empty() const { return halves_.empty(); }
  /// In place: the codes that lie from byte `begin` of that memory on.
  void apply(std::uint64_t begin, std::span<std::uint8_t> codes) const;
  /// Takes the codes of one half and adds what it costs them. Where its scale grows, the way back has none that the new codes belong to.
  void note(const Requantized& half, std::span<const std::uint8_t> codes, std::vector<layout::Loss>& losses) const;
  const std::vector<Requantized>& halves() const { return halves_; }
  std::uint64_t half_bytes() const { return half_bytes_; }

 private:
  std::vector<Requantized> halves_;
  std::vector<std::array<std::uint8_t, 256>> codes_;  ///< of each expert's gate and up
  std::uint64_t half_bytes_ = 0;
  Fp8Codes as_ = Fp8Codes::e4m3fn;
};

}  // namespace mx::checkpoint
