// The loops of encode_loops.hpp with AVX2.

#include "kernels/sweep/encode_loops.hpp"

namespace mx::kernels::sweep {

void encode_floating_avx2(const uint32_t* f32, size_t count, const FloatingPlan& plan, uint32_t* codes) { encode_floating(f32, count, plan, codes); }
void encode_powers_avx2(const uint32_t* f32, size_t count, const PowerPlan& plan, uint32_t* codes) { powers(f32, count, plan, codes); }
uint64_t weigh_codes_avx2(const uint32_t* f32, const uint32_t* codes, size_t count) { return weigh_codes(f32, codes, count); }

}  // namespace mx::kernels::sweep
