#include "model/families/casts.hpp"

#include <array>

#include "model/families/cutlass_w4a8/values.hpp"
#include "model/families/marlin/values.hpp"
#include "model/fault.hpp"
#include "model/numerics/rows.hpp"

namespace mx::families {
namespace {

using fault::Fault;
using fault::planted;

std::uint32_t low(std::uint64_t unit) { return static_cast<std::uint32_t>(unit); }
std::uint8_t via_fp16(std::uint64_t unit) { return marlin::e8m0_through(static_cast<std::uint8_t>(unit), ParamsDtype::fp16); }

}  // namespace

std::span<const layout::Cast> all_casts() {
  static const std::array<layout::Cast, 8> casts{{
      layout::kKeep,
      {"bf16_to_f32", 16, 32, [](std::uint64_t unit) { return planted(Fault::bias_cast_to_low_half) ? unit : unit << 16; },
       "bf16 widened to fp32, exact"},
      {"e8m0_to_f32_shift", 8, 32, [](std::uint64_t unit) { return unit << 23; },
       "e8m0 to fp32 by moving the exponent: code 0 becomes 0 and 255 infinity; codes come back as they were"},
      {"bf16_to_fp16", 16, 16, [](std::uint64_t unit) { return std::uint64_t{marlin::to_params(low(unit) << 16U, ParamsDtype::fp16)}; },
       "bf16 rounded into fp16: small numbers lose bits, large ones overflow"},
      {"e8m0_via_fp16", 8, 8, [](std::uint64_t unit) { return std::uint64_t{via_fp16(unit)}; },
       "e8m0 through fp16: codes 1..102 become 0, 143..254 become 255"},
      {"e8m0_plus_6", 8, 8, [](std::uint64_t unit) { return (unit + marlin::kFp8ActivationOffset) & 0xFFU; }, "6 added to e8m0 codes up to 249"},
      {"e8m0_via_fp16_plus_6", 8, 8, [](std::uint64_t unit) { return (via_fp16(unit) + std::uint64_t{marlin::kFp8ActivationOffset}) & 0xFFU; },
       "e8m0 through fp16, then 6 added: codes 1..102 become 6"},
      {"uint4b8_to_w4a8", 4, 4, [](std::uint64_t unit) { return std::uint64_t{w4a8_encode(uint4b8_to_int4(static_cast<std::uint8_t>(unit)))}; },
       "value + 8 to the code of the W4A8 kernel: two's complement with 1..7 reversed"},
  }};
  return casts;
}

const layout::Cast& cast_named(std::string_view name) { return rows::named(all_casts(), "cast", name); }

}  // namespace mx::families
