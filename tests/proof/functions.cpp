#include "tests/proof/functions.hpp"

#include <string>

#include "model/error.hpp"
#include "model/numerics/f32.hpp"
#include "tests/numerics/mpfr_number.hpp"
#include "tests/numerics/oracle.hpp"
#include "tests/proof/check.hpp"

namespace mx::test {

ChunkResult check_function_chunk(std::string_view function, std::uint32_t chunk) {
  if (function != "exp") throw Error(ErrorCode::usage, "no proof of the function '" + std::string(function) + "'");
  if (chunk >= kChunks) throw Error(ErrorCode::usage, "chunk " + std::to_string(chunk) + " of " + std::to_string(kChunks));
  MpfrNumber argument(24);
  MpfrNumber exact(160);
  ChunkResult result;
  for (std::uint32_t i = 0; i < kChunkInputs; ++i, ++result.inputs) {
    const std::uint32_t x = chunk * kChunkInputs + i;
    const bool nan = (x & 0x7FFFFFFFU) > 0x7F800000U;
    mpfr_set_d(argument.get(), f32_value(x), MPFR_RNDN);
    mpfr_exp(exact.get(), argument.get(), MPFR_RNDN);
    if (f32::exp(x) == (nan ? f32::kNan : rounded_bits(exact.get(), kF32Range))) continue;
    if (result.wrong++ == 0) result.first_wrong = x;
  }
  return result;
}

}  // namespace mx::test
