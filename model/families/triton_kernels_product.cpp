#include "model/families/triton_kernels_product.hpp"

#include "model/families/device_rows.hpp"

namespace mx::families::triton {

std::int64_t k_read(Release release, std::int64_t hidden, std::int64_t row) {
  constexpr std::int64_t kTile = 64, kHalf = 32;
  const bool ends_early = release == Release::v3_5 && hidden % kTile == kHalf && row % 2 == 1;
  return ends_early ? hidden - kHalf : hidden;
}

const moe::Activation& fused_activation(Release release) {
  return activation_row(release == Release::v3_6 ? "swiglu_oai_triton_sm90_3.6" : "swiglu_oai_triton_sm90");
}

}  // namespace mx::families::triton
