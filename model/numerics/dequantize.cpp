#include "model/numerics/dequantize.hpp"

#include "model/error.hpp"

namespace mx {

std::uint32_t dequantize(std::uint32_t /*code*/, std::uint32_t /*scale*/, const Dequantizer& how, const TensorScale& /*tensor*/) {
  throw Error(ErrorCode::unsupported, std::string(how.format->name) + " is not modelled yet");
}

}  // namespace mx
