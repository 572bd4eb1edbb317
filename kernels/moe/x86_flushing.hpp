#pragma once
// How x86 counts subnormal numbers as zero, for the kernels by fused multiply-adds.

#include <immintrin.h>

#include "kernels/moe/unroll.hpp"

namespace mx::kernels::moe {
namespace {

/// Subnormals count as zero from here to the end of the scope, before and after each operation: FTZ and DAZ, which judge a result once it is rounded.
class Flushing {
 public:
  MXACT_INLINE Flushing() : was_(_mm_getcsr()) {
    constexpr unsigned kFlush = 0x8040;
    _mm_setcsr(was_ | kFlush);
  }
  MXACT_INLINE ~Flushing() { _mm_setcsr(was_); }
  Flushing(const Flushing&) = delete;
  Flushing& operator=(const Flushing&) = delete;

 private:
  unsigned was_;
};

}  // namespace
}  // namespace mx::kernels::moe
