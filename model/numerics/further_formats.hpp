#pragma once
// Formats that other implementations have and OCP's tables have not. Of named profiles
// vhdl-float-pkg alone converts into them; rules do (rules.hpp).

#include <span>
#include <string_view>

#include "model/numerics/contract.hpp"

namespace mx {

/// E4M3 with Inf and NaNs as IEEE 754 has them; OFP8's E4M3 is e4m3fn.
inline constexpr Format kE4m3Ieee{"e4m3ieee", Encoding::floating, 8, 4, 3, 7, Specials::ieee, true, "LLVM Float8E4M3"};
inline constexpr Format kE3m4{"e3m4", Encoding::floating, 8, 3, 4, 3, Specials::ieee, true, "LLVM Float8E3M4"};
inline constexpr Format kE4m3b11fnuz{"e4m3b11fnuz", Encoding::floating, 8, 4, 3, 11, Specials::nan_negative_zero, true, "LLVM Float8E4M3B11FNUZ"};

/// Those above and tf32 (contract.hpp): no formats of all_formats().
std::span<const Format> further_formats();

}  // namespace mx
