/* Every function of mxact.h, from C99. Expected values come from the documents named beside them. */

#include <stdio.h>
#include <string.h>

#include "golden/c/mxact.h"

static int failures;
static int checks;

static void check(int holds, const char* what, int line) {
  ++checks;
  if (holds) return;
  ++failures;
  printf("line %d: %s\n", line, what);
}
#define CHECK(expression) check((expression) != 0, #expression, __LINE__)

static void test_names(void) {
  CHECK(mxact_abi_version() == MXACT_ABI_VERSION);
  CHECK(strcmp(mxact_version(), "0.1.0") == 0);
  CHECK(strlen(mxact_status_text(MXACT_USAGE)) > 0);
  CHECK(mxact_format_id("e4m3fn") >= 0);
  CHECK(mxact_format_id("e4m3") == mxact_format_id("E4M3FN"));
  CHECK(mxact_format_id("e4m3x") == -MXACT_USAGE);
  CHECK(mxact_format_id(NULL) == -MXACT_USAGE);
  CHECK(mxact_block_format_id("mxfp4") >= 0 && mxact_profile_id("ocp") >= 0 && mxact_contract_id("exact") >= 0);
  CHECK(mxact_layout_id("sf_128x4") >= 0 && mxact_activation_id("swiglu_oai") >= 0);
  CHECK(mxact_format_width(mxact_format_id("e2m1")) == 4);
  CHECK(mxact_format_width(1000) == 0);
  /* MX 1.0 section 5.2: 32 elements; NVFP4: 16. */
  CHECK(mxact_block_size(mxact_block_format_id("mxfp4")) == 32);
  CHECK(mxact_block_size(mxact_block_format_id("nvfp4")) == 16);
  CHECK(mxact_block_size(-1) == -MXACT_USAGE);
}

static void test_codes(void) {
  const int32_t f32 = mxact_format_id("f32");
  const int32_t e4m3 = mxact_format_id("e4m3fn");
  const int32_t ocp = mxact_profile_id("ocp");
  int32_t cls, negative, exponent;
  uint64_t significand;
  uint32_t code, flags;
  /* OFP8 1.0 table 1: 0x7E is 448 = 7 * 2^6, 0x7F is NaN. */
  CHECK(mxact_decode(e4m3, 0xFE, &cls, &negative, &significand, &exponent) == MXACT_OK);
  CHECK(cls == MXACT_FINITE && negative == 1);
  while (significand % 2 == 0) {
    significand /= 2;
    ++exponent;
  }
  CHECK(significand == 7 && exponent == 6);
  CHECK(mxact_decode(e4m3, 0x7F, &cls, &negative, &significand, &exponent) == MXACT_OK && cls == MXACT_NAN);
  CHECK(mxact_decode(e4m3, 0x100, &cls, &negative, &significand, &exponent) == MXACT_USAGE);
  CHECK(mxact_decode(e4m3, 0, NULL, &negative, &significand, &exponent) == MXACT_USAGE);
  /* 1000 saturates at 448; 464 is the tie above it, which is even and stays. */
  CHECK(mxact_convert(ocp, f32, e4m3, 0x447A0000u, 0, &code, &flags) == MXACT_OK);
  CHECK(code == 0x7E && flags == (MXACT_FLAG_INEXACT | MXACT_FLAG_OVERFLOW | MXACT_FLAG_SATURATED));
  CHECK(mxact_convert(ocp, f32, e4m3, 0x43E80000u, 0, &code, &flags) == MXACT_OK && code == 0x7E && flags == MXACT_FLAG_INEXACT);
  CHECK(mxact_convert(mxact_profile_id("ocp-nosat"), f32, e4m3, 0x447A0000u, 0, &code, &flags) == MXACT_OK && code == 0x7F);
  code = 77;
  CHECK(mxact_convert(ocp, f32, e4m3, 0, 1, &code, &flags) == MXACT_USAGE && code == 77);
  CHECK(mxact_convert(ocp, f32, 1000, 0, 0, &code, &flags) == MXACT_USAGE);
  CHECK(mxact_convert(mxact_profile_id("gfloat-stochastic-fastest"), f32, e4m3, 0x3F840000u, 255, &code, &flags) == MXACT_OK && code == 0x39);
  CHECK(mxact_convert(mxact_profile_id("gfloat-stochastic-fastest"), f32, e4m3, 0x3F840000u, 0, &code, &flags) == MXACT_OK && code == 0x38);
}

static void test_many(void) {
  const int32_t f32 = mxact_format_id("f32");
  const int32_t e4m3 = mxact_format_id("e4m3fn");
  const int32_t ocp = mxact_profile_id("ocp");
  uint32_t codes[3] = {0x43E00000u, 0x447A0000u, 0x3F800000u}; /* 448, 1000, 1 */
  uint32_t results[3] = {9, 9, 9}, flags[3];
  CHECK(mxact_convert_many(ocp, f32, e4m3, codes, 3, results, flags) == MXACT_OK);
  CHECK(results[0] == 0x7E && results[1] == 0x7E && results[2] == 0x38);
  CHECK(flags[0] == 0 && flags[1] == (MXACT_FLAG_INEXACT | MXACT_FLAG_OVERFLOW | MXACT_FLAG_SATURATED) && flags[2] == 0);
  CHECK(mxact_convert_many(ocp, f32, e4m3, codes, 3, codes, NULL) == MXACT_OK && codes[1] == 0x7E);
  codes[2] = 0x100;
  results[0] = 9;
  CHECK(mxact_convert_many(ocp, e4m3, f32, codes, 3, results, flags) == MXACT_USAGE && results[0] == 9);
  CHECK(mxact_convert_many(ocp, f32, e4m3, codes, 0, results, flags) == MXACT_USAGE);
  CHECK(mxact_convert_many(ocp, f32, e4m3, NULL, 3, results, flags) == MXACT_USAGE);
  CHECK(mxact_convert_many(mxact_profile_id("gfloat-stochastic-fastest"), f32, e4m3, codes, 3, results, flags) == MXACT_USAGE);
}

static void test_blocks(void) {
  const int32_t f32 = mxact_format_id("f32");
  const int32_t mxfp4 = mxact_block_format_id("mxfp4");
  const int32_t ocp = mxact_profile_id("ocp");
  uint32_t x[32] = {0x41400000u, 0xC0400000u, 0x3F000000u}; /* 12, -3, 0.5 */
  uint32_t codes[32], values[32], scale;
  /* MX 1.0 section 6.3: 12 = 1.5 * 2^3 and emax 2 make the scale 2^1: 6, -1.5, 0.25 (a tie, to zero). */
  CHECK(mxact_block_scale(ocp, mxfp4, f32, x, 32, NULL, &scale) == MXACT_OK && scale == 128);
  CHECK(mxact_quantize_block(ocp, mxfp4, f32, x, 32, NULL, &scale, codes) == MXACT_OK);
  CHECK(scale == 128 && codes[0] == 7 && codes[1] == 0xB && codes[2] == 0 && codes[31] == 0);
  CHECK(mxact_dequantize(ocp, mxfp4, f32, scale, codes, 32, NULL, values) == MXACT_OK);
  CHECK(values[0] == 0x41400000u && values[1] == 0xC0400000u && values[2] == 0);
  CHECK(mxact_quantize_block(ocp, mxfp4, f32, x, 31, NULL, &scale, codes) == MXACT_USAGE);
  CHECK(mxact_quantize_block(ocp, mxfp4, f32, NULL, 32, NULL, &scale, codes) == MXACT_USAGE);
  CHECK(mxact_dequantize(ocp, mxfp4, f32, 256, codes, 32, NULL, values) == MXACT_USAGE);
  {
    /* NVFP4 with g = 1: amax 6 gives the scale 1, which is 0x38 in E4M3. */
    const mxact_tensor tensor = {0x3F800000u, 0, 1, 0};
    uint32_t y[16] = {0x40C00000u, 0xBF800000u};
    const int32_t vllm = mxact_profile_id("vllm-nvfp4");
    CHECK(mxact_quantize_block(vllm, mxact_block_format_id("nvfp4"), f32, y, 16, &tensor, &scale, codes) == MXACT_OK);
    CHECK(scale == 0x38 && codes[0] == 7 && codes[1] == 0xA);
    CHECK(mxact_quantize_block(vllm, mxact_block_format_id("nvfp4"), f32, y, 16, NULL, &scale, codes) == MXACT_USAGE);
  }
}

static void test_arithmetic(void) {
  const int32_t e2m1 = mxact_format_id("e2m1");
  const uint32_t a[32] = {2, 2, 2, 7}, b[32] = {2, 2, 2, 7}; /* 1 + 1 + 1 + 36 */
  const uint32_t scales[1] = {128};                          /* 2 */
  mxact_operand first = {0, -1, 0, NULL, NULL}, second = {0, -1, 0, NULL, NULL};
  const uint32_t c = 0x3F800000u;
  uint32_t result;
  first.format = second.format = e2m1;
  first.codes = a;
  second.codes = b;
  CHECK(mxact_product(e2m1, 3, e2m1, 0xF, &result) == MXACT_OK && result == 0xC1100000u); /* 1.5 * -6 = -9 */
  CHECK(mxact_product(e2m1, 16, e2m1, 0, &result) == MXACT_USAGE);
  CHECK(mxact_dot(mxact_contract_id("exact"), &first, &second, 32, NULL, &result) == MXACT_OK && result == 0x421C0000u); /* 39 */
  CHECK(mxact_dot(mxact_contract_id("f32-sequential"), &first, &second, 32, &c, &result) == MXACT_OK && result == 0x42200000u);
  second.scale_format = mxact_format_id("e8m0");
  second.scales = scales;
  second.block = 32;
  CHECK(mxact_dot(mxact_contract_id("exact"), &first, &second, 32, NULL, &result) == MXACT_OK && result == 0x429C0000u); /* 78 */
  second.block = 0;
  CHECK(mxact_dot(mxact_contract_id("exact"), &first, &second, 32, NULL, &result) == MXACT_USAGE);
  CHECK(mxact_dot(mxact_contract_id("exact"), NULL, &second, 32, NULL, &result) == MXACT_USAGE);
  {
    /* The same 39 with the scales 2 and 1/2, then 2 and 2; a code of five bits and a scale of nine are none. */
    const int32_t exact = mxact_contract_id("exact"), mxfp4 = mxact_block_format_id("mxfp4");
    const uint32_t wide[32] = {16};
    CHECK(mxact_dot_block(exact, mxfp4, 128, a, mxfp4, 126, b, 32, &result) == MXACT_OK && result == 0x421C0000u);
    CHECK(mxact_dot_block(exact, mxfp4, 128, a, mxfp4, 128, b, 32, &result) == MXACT_OK && result == 0x431C0000u);
    CHECK(mxact_dot_block(exact, mxfp4, 128, wide, mxfp4, 128, b, 32, &result) == MXACT_USAGE);
    CHECK(mxact_dot_block(exact, mxfp4, 256, a, mxfp4, 128, b, 32, &result) == MXACT_USAGE);
    CHECK(mxact_dot_block(exact, -1, 128, a, mxfp4, 128, b, 32, &result) == MXACT_USAGE);
    CHECK(mxact_dot_block(exact, mxfp4, 128, a, mxfp4, 128, b, 0, &result) == MXACT_USAGE);
  }
  /* min(8, 7) / (1 + exp(-1.702 * 7)) * (0 + 1), a little below 7. */
  CHECK(mxact_activate(mxact_activation_id("swiglu_oai"), mxact_format_id("f32"), 0x41000000u, 0, &result) == MXACT_OK);
  CHECK(result > 0x40DFF000u && result < 0x40E00000u);
  CHECK(mxact_activate(-1, 0, 0, 0, &result) == MXACT_USAGE);
}

static void test_layouts(void) {
  const int32_t layout = mxact_layout_id("sf_128x4");
  uint64_t address;
  uint32_t row, column, padding;
  /* Tile (r / 128, c / 4); within it (r % 32) * 16 + (r / 32) * 4 + c % 4. */
  CHECK(mxact_layout_address(layout, 256, 8, 33, 5, &address) == MXACT_OK && address == 512 + 16 + 4 + 1);
  CHECK(mxact_layout_element(layout, 256, 8, 512 + 16 + 4 + 1, &row, &column, &padding) == MXACT_OK);
  CHECK(row == 33 && column == 5 && padding == 0);
  CHECK(mxact_layout_element(layout, 100, 6, 1023, &row, &column, &padding) == MXACT_OK && padding == 1);
  CHECK(mxact_layout_address(layout, 256, 8, 256, 0, &address) == MXACT_USAGE);
  CHECK(mxact_layout_element(layout, 256, 8, 2048, &row, &column, &padding) == MXACT_USAGE);
}

int main(void) {
  test_names();
  test_codes();
  test_many();
  test_blocks();
  test_arithmetic();
  test_layouts();
  printf("%d checks, %d failed\n", checks, failures);
  return failures == 0 && checks >= 69 ? 0 : 1;
}
