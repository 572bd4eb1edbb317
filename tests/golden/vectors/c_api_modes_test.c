/* The C API under every floating-point mode that a host may have set: the bits of the ordinary mode, and the host's mode afterwards. C99. */

#include <stdio.h>
#include <string.h>

#include "golden/c/mxact.h"

#if defined(__x86_64__)
#include <xmmintrin.h>

struct mode {
  const char* name;
  unsigned bits; /* of MXCSR */
  unsigned short x87;
};
/* FTZ 0x8000, DAZ 0x0040, rounding in bits 13 and 14. */
static const struct mode kModes[] = {{"ftz", 0x8000, 0x037F},         {"daz", 0x0040, 0x037F},  {"ftz and daz", 0x8040, 0x037F},
                                     {"down", 0x2000, 0x077F},        {"up", 0x4000, 0x0B7F},   {"toward zero", 0x6000, 0x0F7F},
                                     {"down in sse", 0x2000, 0x037F}, {"x87 alone", 0, 0x0F7F}, {"x87 single", 0, 0x007F}};

enum { kWords = 256 };

/* What a caller may ask for: conversions, blocks, sums, of numbers that every mode would change. */
static int answers(uint32_t out[kWords]) {
  const int32_t f32 = mxact_format_id("f32"), e4m3 = mxact_format_id("e4m3fn"), fp16 = mxact_format_id("fp16");
  int n = 0;
  memset(out, 0, kWords * sizeof *out);
  static const uint32_t inputs[] = {0x00400000u, 0x3F8CCCCDu, 0x3EAAAAABu, 0x43680001u, 0xBF8CCCCDu, 0x33800001u, 0x00000001u};
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; ++i) {
    uint32_t code = 0, flags = 0;
    if (mxact_convert(mxact_profile_id("ocp"), f32, e4m3, inputs[i], 0, &code, &flags) != MXACT_OK) return -1;
    out[n++] = code;
    out[n++] = flags;
    if (mxact_convert(mxact_profile_id("numpy"), f32, fp16, inputs[i], 0, &code, &flags) != MXACT_OK) return -1;
    out[n++] = code;
  }
  uint32_t x[32], codes[32], scale = 0;
  for (int i = 0; i < 32; ++i) x[i] = i == 0 ? 0x00400000u : 0;
  if (mxact_quantize_block(mxact_profile_id("torchao-floor"), mxact_block_format_id("mxfp8_e4m3"), f32, x, 32, NULL, &scale, codes) != MXACT_OK) return -1;
  out[n++] = scale;
  for (int i = 0; i < 32; ++i) out[n++] = codes[i];
  for (int i = 0; i < 32; ++i) x[i] = 0x3EAAAAABu + (uint32_t)i * 0x10001u;
  mxact_tensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.has_encode = 1;
  tensor.encode = 0x43280000u;
  if (mxact_quantize_block(mxact_profile_id("vllm-nvfp4"), mxact_block_format_id("nvfp4"), f32, x, 16, &tensor, &scale, codes) != MXACT_OK) return -1;
  out[n++] = scale;
  for (int i = 0; i < 16; ++i) out[n++] = codes[i];
  mxact_operand operand;
  memset(&operand, 0, sizeof operand);
  operand.format = f32;
  operand.scale_format = -1;
  operand.codes = x;
  uint32_t result = 0;
  if (mxact_dot(mxact_contract_id("exact"), &operand, &operand, 32, NULL, &result) != MXACT_OK) return -1;
  out[n++] = result;
  if (mxact_dot(mxact_contract_id("f32-sequential"), &operand, &operand, 32, NULL, &result) != MXACT_OK) return -1;
  out[n++] = result;
  return n;
}

int main(void) {
  uint32_t expected[kWords], found[kWords];
  const unsigned ordinary = _mm_getcsr();
  int failures = 0;
  if (answers(expected) < 0) {
    printf("the ordinary mode is refused\n");
    return 1;
  }
  for (size_t i = 0; i < sizeof kModes / sizeof *kModes; ++i) {
    const struct mode* mode = &kModes[i];
    unsigned short x87 = mode->x87, after87 = 0, was87 = 0;
    __asm__ volatile("fnstcw %0" : "=m"(was87));
    __asm__ volatile("fldcw %0" : : "m"(x87));
    _mm_setcsr((ordinary & ~0xE040u) | mode->bits);
    const int count = answers(found);
    const unsigned after = _mm_getcsr();
    __asm__ volatile("fnstcw %0" : "=m"(after87));
    _mm_setcsr(ordinary);
    __asm__ volatile("fldcw %0" : : "m"(was87));
    if (count < 0 || memcmp(expected, found, sizeof found) != 0) {
      printf("%s: other bits\n", mode->name);
      ++failures;
    }
    if ((after & 0xE040u) != mode->bits || after87 != mode->x87) {
      printf("%s: the host's mode is not given back\n", mode->name);
      ++failures;
    }
  }
  return failures == 0 ? 0 : 1;
}
#else
int main(void) { return 0; }
#endif
