#include "bench/stream_copy.hpp"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mx::bench {

#if defined(__x86_64__)
namespace {

__attribute__((target("avx512f"))) void copy_512(std::uint8_t* target, const std::uint8_t* source, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 256) {
    for (std::size_t j = 0; j < 256; j += 64) {
      _mm512_stream_si512(reinterpret_cast<__m512i*>(target + i + j), _mm512_load_si512(source + i + j));
    }
  }
  _mm_sfence();
}

void copy_128(std::uint8_t* target, const std::uint8_t* source, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(target + i), _mm_load_si128(reinterpret_cast<const __m128i*>(source + i)));
  }
  _mm_sfence();
}

}  // namespace

void stream_copy(std::uint8_t* target, const std::uint8_t* source, std::size_t bytes) {
  __builtin_cpu_supports("avx512f") ? copy_512(target, source, bytes) : copy_128(target, source, bytes);
}
#else
void stream_copy(std::uint8_t* target, const std::uint8_t* source, std::size_t bytes) { std::memcpy(target, source, bytes); }
#endif

}  // namespace mx::bench
