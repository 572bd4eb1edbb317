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
  CHECK(mxact_format_id("e4m3,bias=7,fn") == mxact_format_id("e4m3fn"));
  CHECK(mxact_block_format_id("mxfp4") >= 0 && mxact_profile_id("ocp") >= 0 && mxact_contract_id("exact") >= 0);
  CHECK(mxact_layout_id("sf_128x4") >= 0 && mxact_activation_id("swiglu_oai") >= 0 && mxact_router_id("gpt-oss") >= 0);
  CHECK(mxact_router_id("gpt_osx") == -MXACT_USAGE);
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
  /* Rules in the place of a name: downward, 1000 becomes the largest number (IEEE 754 section 7.4), and a format of no table. */
  const int32_t down = mxact_profile_id("round=rdn, overflow=ieee");
  CHECK(down >= 0 && down == mxact_profile_id("overflow=ieee,round=rdn"));
  CHECK(mxact_convert(down, f32, e4m3, 0x447A0000u, 0, &code, &flags) == MXACT_OK && code == 0x7E);
  CHECK(mxact_convert(mxact_profile_id("riscv"), f32, mxact_format_id("e5m2"), 0x7FC00000u, 0, &code, &flags) == MXACT_OK && code == 0x7F);
  const int32_t own = mxact_format_id("e3m3,bias=5,finite,round=odd,overflow=ieee,nan=3f");
  CHECK(mxact_format_width(own) == 7 && mxact_format_width(mxact_format_id("e3m4")) == 8);
  CHECK(mxact_convert(ocp, f32, own, 0x3E99999Au, 0, &code, &flags) == MXACT_OK && code == 0x19);
  CHECK(mxact_profile_id("round=rn,overflow=ieee") == -MXACT_USAGE && strstr(mxact_last_error(), "did you mean rne?") != NULL);
  CHECK(mxact_format_width((1 << 20) + 100000) == 0);
  /* A block of one's own: 12 / 6 = 2 is 0x80 in UE5M3; 12, 7, 7, 1 over 2 are 6, 3.5 (a tie: 4) and 0.5. */
  const int32_t shape = mxact_block_format_id("block=4,element=e2m1,scale=ue5m3");
  const int32_t rules = mxact_profile_id("block=4,element=(e2m1,round=rne,overflow=saturate,nan=7),scale=ue5m3,rule=quotient,factor=quotient");
  const uint32_t x[4] = {0x41400000u, 0x40E00000u, 0x40E00000u, 0x3F800000u};
  uint32_t scale, codes[4];
  CHECK(mxact_block_size(shape) == 4);
  CHECK(mxact_quantize_block(rules, shape, f32, x, 4, NULL, &scale, codes) == MXACT_OK && scale == 0x80);
  CHECK(codes[0] == 7 && codes[1] == 6 && codes[2] == 6 && codes[3] == 1);
  CHECK(mxact_quantize_block(ocp, shape, f32, x, 4, NULL, &scale, codes) == MXACT_USAGE);
  code = 77;
  CHECK(mxact_convert(ocp, f32, e4m3, 0, 1, &code, &flags) == MXACT_USAGE && code == 77);
  CHECK(mxact_convert(ocp, f32, 1000, 0, 0, &code, &flags) == MXACT_USAGE);
  CHECK(mxact_convert(mxact_profile_id("gfloat-stochastic-fastest"), f32, e4m3, 0x3F840000u, 255, &code, &flags) == MXACT_OK && code == 0x39);
  CHECK(mxact_convert(mxact_profile_id("gfloat-stochastic-fastest"), f32, e4m3, 0x3F840000u, 0, &code, &flags) == MXACT_OK && code == 0x38);
}

/* 3 * 2^-9 is a subnormal of E4M3, 2^-127 one of fp32 and of bf16. */
static void test_flushing(void) {
  const int32_t f32 = mxact_format_id("f32"), e4m3 = mxact_format_id("e4m3fn"), bf16 = mxact_format_id("bf16"), ocp = mxact_profile_id("ocp");
  uint32_t code, flags;
  CHECK(mxact_convert_flushed(ocp, f32, e4m3, MXACT_FLUSH_NONE, 0x3BC00000u, 0, &code, &flags) == MXACT_OK && code == 3 && flags == 0);
  CHECK(mxact_convert_flushed(ocp, f32, e4m3, MXACT_FLUSH_TARGET, 0xBBC00000u, 0, &code, &flags) == MXACT_OK && code == 0x80);
  CHECK((flags & MXACT_FLAG_FLUSHED) != 0);
  CHECK(mxact_convert_flushed(ocp, f32, e4m3, MXACT_FLUSH_SOURCE, 0x3BC00000u, 0, &code, &flags) == MXACT_OK && code == 3);
  CHECK(mxact_convert_flushed(ocp, f32, bf16, MXACT_FLUSH_SOURCE, 0x00400000u, 0, &code, &flags) == MXACT_OK && code == 0);
  CHECK(mxact_convert_flushed(ocp, f32, bf16, MXACT_FLUSH_BOTH, 0x00400000u, 0, &code, &flags) == MXACT_OK && code == 0);
  CHECK(mxact_convert_flushed(ocp, f32, bf16, MXACT_FLUSH_NONE, 0x00400000u, 0, &code, &flags) == MXACT_OK && code == 0x40);
  CHECK(mxact_convert_flushed(ocp, f32, bf16, 4, 0, 0, &code, &flags) == MXACT_USAGE);
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
  /* A bias of 1; it and C are terms of the exact sum: 39 + 1 + 1. */
  CHECK(mxact_dot_biased(mxact_contract_id("exact"), &first, &second, 32, &c, &c, &result) == MXACT_OK && result == 0x42240000u);
  CHECK(mxact_dot_biased(mxact_contract_id("exact"), &first, &second, 32, NULL, &c, &result) == MXACT_OK && result == 0x42200000u);
  second.scale_format = mxact_format_id("e8m0");
  second.scales = scales;
  second.block = 32;
  CHECK(mxact_dot(mxact_contract_id("exact"), &first, &second, 32, NULL, &result) == MXACT_OK && result == 0x429C0000u); /* 78 */
  second.block = 0;
  CHECK(mxact_dot(mxact_contract_id("exact"), &first, &second, 32, NULL, &result) == MXACT_USAGE);
  {
    /* Two rows by three columns of e4m3fn, k = 2: 1, 2; 0.5, -1 by 1, 1; 2, 0; -1, 1. Scales: one for each row. */
    const uint32_t left[4] = {0x38, 0x40, 0x30, 0xB8}, right[6] = {0x38, 0x38, 0x40, 0x00, 0xB8, 0x38};
    const uint32_t scales[2] = {0x3F800000u, 0xC0000000u}, c[6] = {0, 0, 0x3F800000u, 0, 0, 0}, bias[3] = {0, 0x3F800000u, 0};
    const int32_t e4m3 = mxact_format_id("e4m3fn"), f32 = mxact_format_id("f32"), fp16 = mxact_format_id("fp16");
    const mxact_operand rows = {e4m3, f32, 2, left, scales}, columns = {e4m3, -1, 0, right, NULL};
    const int32_t fp8 = mxact_contract_id("hopper-fp8");
    uint32_t tile[6];
    /* Sums 3, 2, 1; -0.5, 1, -1.5, the third of them with C; then the row's scale, then the bias. */
    const uint32_t wanted[6] = {0x4200, 0x4200, 0x4000, 0x3C00, 0xBC00, 0x4200};
    CHECK(mxact_tile(fp8, 2, 3, 2, &rows, &columns, c, bias, fp16, tile) == MXACT_OK && memcmp(tile, wanted, sizeof tile) == 0);
    CHECK(mxact_tile(fp8, 2, 3, 2, &rows, &columns, NULL, NULL, f32, tile) == MXACT_OK && tile[0] == 0x40400000u && tile[3] == 0x3F800000u);
    CHECK(mxact_tile(fp8, 0, 3, 2, &rows, &columns, c, bias, fp16, tile) == MXACT_USAGE);
    CHECK(mxact_tile(fp8, 2, 3, 2, NULL, &columns, c, bias, fp16, tile) == MXACT_USAGE);
    CHECK(mxact_tile(fp8, 2, 3, 2, &rows, &columns, c, bias, e4m3, tile) == MXACT_USAGE);
    CHECK(mxact_tile(-1, 2, 3, 2, &rows, &columns, c, bias, fp16, tile) == MXACT_USAGE);
    CHECK(mxact_tile(mxact_contract_id("blackwell-nvf4"), 2, 3, 2, &rows, &columns, c, bias, fp16, tile) == MXACT_USAGE);
  }
  {
    /* A record is a contract, and has one text. */
    char text[1024];
    const int32_t own = mxact_contract_id("step=aligned:cast=bf16:keep=20:align=20:group=8");
    CHECK(own >= 0 && mxact_contract_id("step=aligned:cast=bf16:group=8:align=20:keep=20") == own);
    CHECK(mxact_contract_record(own, text, sizeof text) == MXACT_OK && strcmp(text, "step=aligned:cast=bf16:group=8:align=20:keep=20") == 0);
    CHECK(mxact_contract_record(own, text, 10) == MXACT_USAGE && mxact_contract_record(own, NULL, 10) == MXACT_USAGE);
    CHECK(mxact_contract_record(1 << 30, text, sizeof text) == MXACT_USAGE);
    CHECK(mxact_contract_id("step=aligned:cast=bf16:group=8") == -MXACT_USAGE);
  }
  {
    /* tf32: 1.5 * 2 + 1 * -4 = -1; a code of twenty bits is none. */
    const int32_t tf32 = mxact_format_id("tf32"), contract = mxact_contract_id("hopper-tf32");
    const uint32_t left[2] = {0x1FE00u, 0x1FC00u}, right[2] = {0x20000u, 0x60400u}, wide[2] = {0x80000u, 0};
    const mxact_operand x = {tf32, -1, 0, left, NULL}, y = {tf32, -1, 0, right, NULL}, none = {tf32, -1, 0, wide, NULL};
    uint32_t tile[1], flags;
    CHECK(mxact_format_width(tf32) == 19 && mxact_format_id("TF32") == tf32);
    CHECK(mxact_dot(contract, &x, &y, 2, NULL, &result) == MXACT_OK && result == 0xBF800000u);
    CHECK(mxact_tile(contract, 1, 1, 2, &x, &y, NULL, NULL, mxact_format_id("f32"), tile) == MXACT_OK && tile[0] == 0xBF800000u);
    CHECK(mxact_dot(contract, &none, &y, 2, NULL, &result) == MXACT_USAGE);
    CHECK(mxact_tile(contract, 1, 1, 2, &none, &y, NULL, NULL, mxact_format_id("f32"), tile) == MXACT_USAGE);
    CHECK(mxact_convert(mxact_profile_id("ocp"), mxact_format_id("f32"), tf32, 0, 0, &result, &flags) == MXACT_USAGE);
  }
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
  {
    /* alpha = 0 makes the curve g / 2, beta = 0 leaves up: min(8, 4) / 2 * clamp(-8, 4) = -8. */
    const mxact_constants constants = {0, 0, 0x40800000u, 0}, none = {0, 0, 0, 0};
    const int32_t swiglu = mxact_activation_id("swiglu_oai"), f32 = mxact_format_id("f32");
    CHECK(mxact_activate_with(swiglu, f32, 0x41000000u, 0xC1000000u, &constants, &result) == MXACT_OK && result == 0xC1000000u);
    CHECK(mxact_activate_with(swiglu, f32, 0x41000000u, 0, NULL, &result) == MXACT_OK && result > 0x40DFF000u && result < 0x40E00000u);
    CHECK(mxact_activate_with(swiglu, f32, 0x41000000u, 0, &none, &result) == MXACT_USAGE);
  }
}

/* Operands of three formats; comparisons; integers of the widths and rules that documents have. */
static void test_operations(void) {
  const int32_t e4m3 = mxact_format_id("e4m3fn"), e5m2 = mxact_format_id("e5m2"), f32 = mxact_format_id("f32");
  const int32_t riscv = mxact_profile_id("riscv"), fma = mxact_operation_id("fma"), divide = mxact_operation_id("div");
  uint32_t result, flags;
  uint64_t whole;
  /* 1.5 * 2 + 2^-24 in fp32 is 3. */
  CHECK(mxact_operate(fma, riscv, e4m3, 0x3C, e5m2, 0x40, f32, 0x33800000u, f32, 0, &result, &flags) == MXACT_OK);
  CHECK(result == 0x40400000u && flags == MXACT_FLAG_INEXACT);
  CHECK(mxact_operate(divide, riscv, e5m2, 0x3C, e5m2, 0x80, -1, 0, e5m2, 0, &result, &flags) == MXACT_OK);
  CHECK(result == 0xFC && flags == MXACT_FLAG_DIVIDE_BY_ZERO);
  CHECK(mxact_operate(divide, riscv, e5m2, 0x3C, e5m2, 0x80, e5m2, 0, e5m2, 0, &result, &flags) == MXACT_USAGE);
  CHECK(mxact_operate(fma, riscv, e5m2, 0x3C, e5m2, 0x80, -1, 0, e5m2, 0, &result, &flags) == MXACT_USAGE);
  CHECK(mxact_operate(divide, riscv, e5m2, 0x100, e5m2, 0x80, -1, 0, e5m2, 0, &result, &flags) == MXACT_USAGE);
  CHECK(mxact_operate(divide, riscv, e5m2, 0x3C, e5m2, 0x80, -1, 0, e5m2, 1, &result, &flags) == MXACT_USAGE);
  CHECK(mxact_operate(-1, riscv, e5m2, 0x3C, e5m2, 0x80, -1, 0, e5m2, 0, &result, &flags) == MXACT_USAGE);
  CHECK(mxact_operate(divide, riscv, e5m2, 0x3C, e5m2, 0x80, -1, 0, e5m2, 0, NULL, &flags) == MXACT_USAGE);
  CHECK(mxact_operation_id("quiet-less") == -MXACT_USAGE);
  /* 448 is below Inf; a quiet NaN is invalid for the signalling predicate alone. */
  CHECK(mxact_compare(mxact_predicate_id("quiet-less"), e4m3, 0x7E, f32, 0x7F800000u, &result, &flags) == MXACT_OK && result == 1 && flags == 0);
  CHECK(mxact_compare(mxact_predicate_id("quiet-not-less"), e4m3, 0x7F, f32, 0, &result, &flags) == MXACT_OK && result == 1 && flags == 0);
  CHECK(mxact_compare(mxact_predicate_id("signalling-less"), e4m3, 0x7F, f32, 0, &result, &flags) == MXACT_OK && result == 0 &&
        flags == MXACT_FLAG_INVALID);
  CHECK(mxact_compare(22, e4m3, 0x7F, f32, 0, &result, &flags) == MXACT_USAGE && mxact_predicate_id(NULL) == -MXACT_USAGE);
  CHECK(mxact_compare(0, e4m3, 0x7F, f32, 0, &result, NULL) == MXACT_USAGE && mxact_compare(0, e4m3, 0x100, f32, 0, &result, &flags) == MXACT_USAGE);
  /* -2.5 toward zero; 2^31 and a NaN by the rules of RISC-V and x86. */
  CHECK(mxact_to_integer(mxact_integer_id("i8,round=rtz,overflow=saturate"), f32, 0xC0200000u, &whole, &flags) == MXACT_OK && whole == 0xFE &&
        flags == MXACT_FLAG_INEXACT);
  CHECK(mxact_to_integer(mxact_integer_id("i32,round=rne,overflow=riscv"), f32, 0x4F000000u, &whole, &flags) == MXACT_OK && whole == 0x7FFFFFFFu &&
        flags == MXACT_FLAG_INVALID);
  CHECK(mxact_to_integer(mxact_integer_id("i64,round=rne,overflow=x86"), f32, 0x7FC00000u, &whole, &flags) == MXACT_OK &&
        whole == UINT64_C(1) << 63 && flags == MXACT_FLAG_INVALID);
  CHECK(mxact_to_integer(mxact_integer_id("i64"), f32, 0, &whole, &flags) == MXACT_USAGE);
  CHECK(mxact_to_integer(-1, f32, 0, &whole, &flags) == MXACT_USAGE && mxact_to_integer(0x7FFFFFFF, f32, 0, &whole, &flags) == MXACT_USAGE);
  CHECK(mxact_to_integer(mxact_integer_id("i8,round=rtz,overflow=saturate"), f32, 0, NULL, &flags) == MXACT_USAGE);
  CHECK(mxact_integer_id("i65") == -MXACT_USAGE && mxact_integer_id("i8,round=rtz") == -MXACT_USAGE);
  /* 65535 / 65536 is 1 in bf16; 2^64 - 1 without a sign is 2^64. */
  CHECK(mxact_from_integer(riscv, mxact_integer_id("uq0.16"), mxact_format_id("bf16"), 0xFFFF, 0, &result, &flags) == MXACT_OK && result == 0x3F80 &&
        flags == MXACT_FLAG_INEXACT);
  CHECK(mxact_from_integer(riscv, mxact_integer_id("u64"), f32, UINT64_MAX, 0, &result, &flags) == MXACT_OK && result == 0x5F800000u);
  CHECK(mxact_from_integer(riscv, mxact_integer_id("i8"), f32, 0x100, 0, &result, &flags) == MXACT_USAGE);
  CHECK(mxact_from_integer(riscv, mxact_integer_id("i8"), f32, 1, 0, &result, NULL) == MXACT_USAGE);
}

/* -1, 0, 2 and 1 span 3: fifteen steps of 0.2, of which 5 lie below 0; the middle of four bits without a sign is 8. */
static void test_groups(void) {
  const uint32_t x[4] = {0xBF800000u, 0, 0x40000000u, 0x3F800000u};
  const uint32_t bad[4] = {0x7F800000u, 0, 0, 0};
  uint32_t scale, zero, codes[4], back[4];
  const int32_t awq = mxact_affine_id("awq,block=4"), sym = mxact_affine_id("gptq-sym,block=4"), f32 = mxact_format_id("f32");
  CHECK(awq >= 0 && sym > awq && mxact_affine_id("AWQ, block=4") == awq && mxact_affine_id("awq,block") == -MXACT_USAGE);
  CHECK(mxact_quantize_affine(awq, x, 4, &scale, &zero, codes) == MXACT_OK && scale == 0x3E4CCCCDu && zero == 5);
  CHECK(codes[0] == 0 && codes[1] == 5 && codes[2] == 15 && codes[3] == 10);
  CHECK(mxact_dequantize_affine(awq, f32, scale, zero, codes, 4, back) == MXACT_OK && back[0] == x[0] && back[1] == 0 && back[2] == x[2]);
  CHECK(mxact_quantize_affine(sym, x, 4, &scale, &zero, codes) == MXACT_OK && zero == 8 && codes[1] == 8);
  CHECK(mxact_dequantize_affine(sym, f32, scale, 7, codes, 4, back) == MXACT_USAGE);
  CHECK(mxact_dequantize_affine(awq, mxact_format_id("bf16"), scale, 5, codes, 4, back) == MXACT_USAGE);
  CHECK(mxact_quantize_affine(awq, x, 3, &scale, &zero, codes) == MXACT_USAGE &&
        mxact_quantize_affine(awq, bad, 4, &scale, &zero, codes) == MXACT_USAGE);
  CHECK(mxact_quantize_affine(1 << 19, x, 4, &scale, &zero, codes) == MXACT_USAGE &&
        mxact_quantize_affine(awq, x, 4, NULL, &zero, codes) == MXACT_USAGE);
}

/* Binary8p4se: bias 8, so 1 is 0x40 and 2 is 0x48; 0x80 is the NaN that 1 / 0 is, 0x7F Inf. */
static void test_p3109(void) {
  const uint32_t x[2] = {0x40, 0x48}, by_zero[2] = {0x40, 0};
  const char* divide = "Divide<Binary8p4se, Binary8p4se, Binary8p4se, (NearestTiesToEven, SatFinite)>";
  uint32_t result = 0;
  CHECK(mxact_p3109(divide, x, 2, NULL, 0, &result, 1) == MXACT_OK && result == 0x38);
  CHECK(mxact_p3109(divide, by_zero, 2, NULL, 0, &result, 1) == MXACT_OK && result == 0x80);
  CHECK(mxact_p3109("CompareLess<Binary8p4se, Binary8p4se>", x, 2, NULL, 0, &result, 1) == MXACT_OK && result == 1);
  CHECK(mxact_p3109(divide, x, 1, NULL, 0, &result, 1) == MXACT_USAGE && mxact_p3109(divide, x, 2, NULL, 0, &result, 2) == MXACT_USAGE);
  CHECK(mxact_p3109("Divid<Binary8p4se>", x, 2, NULL, 0, &result, 1) == MXACT_USAGE && mxact_p3109(NULL, x, 2, NULL, 0, &result, 1) == MXACT_USAGE);
  CHECK(mxact_p3109(divide, x, 2, NULL, 1, &result, 1) == MXACT_USAGE && mxact_p3109(divide, x, 2, NULL, 0, NULL, 1) == MXACT_USAGE);
}

static void test_layouts(void) {
  const int32_t layout = mxact_layout_id("sf_128x4");
  uint64_t address;
  uint32_t row, column, padding;
  int32_t bits;
  /* 100 x 6 fills one tile of 128 rows in height and two of 4 columns in width, a byte each. */
  CHECK(mxact_layout_size(layout, 100, 6, &address, &bits) == MXACT_OK && address == 1024 && bits == 8);
  CHECK(mxact_layout_size(layout, 0, 6, &address, &bits) == MXACT_USAGE);
  /* Tile (r / 128, c / 4); within it (r % 32) * 16 + (r / 32) * 4 + c % 4. */
  CHECK(mxact_layout_address(layout, 256, 8, 33, 5, &address) == MXACT_OK && address == 512 + 16 + 4 + 1);
  CHECK(mxact_layout_element(layout, 256, 8, 512 + 16 + 4 + 1, &row, &column, &padding) == MXACT_OK);
  CHECK(row == 33 && column == 5 && padding == 0);
  CHECK(mxact_layout_element(layout, 100, 6, 1023, &row, &column, &padding) == MXACT_OK && padding == 1);
  CHECK(mxact_layout_address(layout, 256, 8, 256, 0, &address) == MXACT_USAGE);
  CHECK(mxact_layout_element(layout, 256, 8, 2048, &row, &column, &padding) == MXACT_USAGE);
}

/* Sigmoid of logits 0 is 1/2; the router "llama4" takes the one of the largest logit, "gpt-oss" the softmax of the two largest. */
static void test_routers(void) {
  const uint32_t logits[4] = {0xBF800000u, 0, 0, 0xC0000000u};
  mxact_routing routing = {0, 4, 2, 1, 1, 0x3F800000u};
  int32_t chosen[4];
  uint32_t weights[4];
  routing.router = mxact_router_id("gpt-oss");
  CHECK(mxact_route_logits(&routing, logits, NULL, chosen, weights) == MXACT_OK);
  CHECK(chosen[0] == 1 && chosen[1] == 2 && weights[0] == 0x3F000000u && weights[1] == 0x3F000000u);
  routing.factor = 0x40000000u; /* 2 */
  CHECK(mxact_route_logits(&routing, logits, NULL, chosen, weights) == MXACT_OK && weights[1] == 0x3F800000u);
  routing.router = mxact_router_id("llama4");
  routing.factor = 0x3F800000u;
  routing.top_k = 1;
  CHECK(mxact_route_logits(&routing, logits, NULL, chosen, weights) == MXACT_OK && chosen[0] == 1 && weights[0] == 0x3F000000u);
  {
    /* Two groups of two; the score of expert 3 with its bias makes its group the better one, its weight is the score without: 1/2 of 1/2 and 1/2. */
    const uint32_t zeros[4] = {0, 0, 0, 0}, bias[4] = {0, 0, 0x3F800000u, 0x40000000u};
    routing.router = mxact_router_id("deepseek-v3-vllm");
    routing.top_k = routing.groups = 2;
    CHECK(mxact_route_logits(&routing, zeros, bias, chosen, weights) == MXACT_OK);
    CHECK(chosen[0] == 3 && chosen[1] == 2 && weights[0] == 0x3F000000u && weights[1] == 0x3F000000u);
    CHECK(mxact_route_logits(&routing, zeros, NULL, chosen, weights) == MXACT_USAGE);
    routing.groups = 0;
    CHECK(mxact_route_logits(&routing, zeros, bias, chosen, weights) == MXACT_USAGE);
    routing.groups = 3;
    CHECK(mxact_route_logits(&routing, zeros, bias, chosen, weights) == MXACT_USAGE);
  }
  routing.groups = 1;
  routing.top_k = 5;
  chosen[0] = 77;
  CHECK(mxact_route_logits(&routing, logits, logits, chosen, weights) == MXACT_USAGE && chosen[0] == 77);
  routing.experts = 0;
  CHECK(mxact_route_logits(&routing, logits, logits, chosen, weights) == MXACT_USAGE);
  CHECK(mxact_route_logits(NULL, logits, NULL, chosen, weights) == MXACT_USAGE);
}

enum { TOKENS = 2, TOP_K = 2, HIDDEN = 2, INNER = 2, EXPERTS = 2 };

/* A layer that is computed in the head. Weights are E2M1 codes: 2 is 1, 4 is 2, 6 is 4. Gates of 128 and more leave silu as they are (1 + exp(-128)
 * is 1 in fp32), so that the activation is gate * up. */
static void test_layer(void) {
  /* Expert 0: gates 64 x0 and 64 x1 (16 * 4), ups x0 and x1. Expert 1: gates 128 x0 and 128 x0, ups 2 x1 and x0, by a scale of 32 on its rows. */
  const uint32_t w13[EXPERTS * 2 * INNER * HIDDEN] = {6, 0, 0, 6, 2, 0, 0, 2, 6, 0, 6, 0, 0, 4, 2, 0};
  const uint32_t w13_scales[EXPERTS * 2 * INNER] = {131, 131, 127, 127, 132, 132, 127, 127};
  const uint32_t w2[EXPERTS * HIDDEN * INNER] = {2, 0, 0, 2, 2, 2, 0, 4};
  const uint32_t w2_scales[EXPERTS * HIDDEN] = {127, 127, 127, 127};
  const uint32_t w2_bias[EXPERTS * HIDDEN] = {0x3F800000u, 0, 0, 0};    /* 1 */
  const uint32_t halved[EXPERTS] = {0x3F800000u, 0x3F000000u};          /* 1, 1/2 */
  const uint32_t x[TOKENS * HIDDEN] = {0x4000, 0x4000, 0x4000, 0x4080}; /* 2, 2; 2, 4 */
  const int32_t chosen[TOKENS * TOP_K] = {0, 1, 1, -1};
  const uint32_t weights[TOKENS * TOP_K] = {0x3F000000u, 0x3E800000u, 0x3F800000u, 0x3F800000u}; /* 1/2, 1/4; 1, not used */
  uint32_t gate_up[TOKENS * TOP_K * 2 * INNER], act[TOKENS * TOP_K * INNER], expert_out[TOKENS * TOP_K * HIDDEN], out[TOKENS * HIDDEN];
  /* Token 0, expert 0: gates 128, 128, ups 2, 2, activations 256, 256, out 257, 256. Expert 1: gates 256, 256, ups 4, 2, activations 1024, 512, out
   * 1536, 1024. Sum: 128.5 + 384 = 512.5, 128 + 256 = 384. Token 1, expert 1: gates 256, 256, ups 8, 2, activations 2048, 512, out 2560, 1024. */
  const uint32_t right_gates[TOKENS * TOP_K * 2 * INNER] = {0x43000000u, 0x43000000u, 0x40000000u, 0x40000000u, 0x43800000u, 0x43800000u,
                                                            0x40800000u, 0x40000000u, 0x43800000u, 0x43800000u, 0x41000000u, 0x40000000u};
  const uint32_t right_act[TOKENS * TOP_K * INNER] = {0x43800000u, 0x43800000u, 0x44800000u, 0x44000000u, 0x45000000u, 0x44000000u};
  const uint32_t right_expert_out[TOKENS * TOP_K * HIDDEN] = {0x43808000u, 0x43800000u, 0x44C00000u, 0x44800000u, 0x45200000u, 0x44800000u};
  const uint32_t right_out[TOKENS * HIDDEN] = {0x44002000u, 0x43C00000u, 0x45200000u, 0x44800000u};
  const mxact_layer_stages stages = {gate_up, act, expert_out}, one_stage = {NULL, act, NULL};
  mxact_operand tokens = {0, -1, 0, NULL, NULL};
  mxact_experts experts = {EXPERTS, HIDDEN, INNER, {0, 0, HIDDEN, NULL, NULL}, {0, 0, INNER, NULL, NULL}, NULL, NULL, NULL, NULL};
  mxact_layer_choices choices = {0, 0, NULL, 0, 0, 0, 0, 0, 0};
  tokens.format = mxact_format_id("bf16");
  tokens.codes = x;
  experts.w13.format = experts.w2.format = mxact_format_id("e2m1");
  experts.w13.scale_format = experts.w2.scale_format = mxact_format_id("e8m0");
  experts.w13.codes = w13;
  experts.w13.scales = w13_scales;
  experts.w2.codes = w2;
  experts.w2.scales = w2_scales;
  experts.w2_bias = w2_bias;
  choices.contract = mxact_contract_id("exact");
  choices.activation = mxact_activation_id("silu_and_mul");
  CHECK(mxact_moe_layer(&experts, &choices, TOKENS, TOP_K, &tokens, chosen, weights, &stages, out) == MXACT_OK);
  CHECK(memcmp(gate_up, right_gates, sizeof gate_up) == 0);
  CHECK(memcmp(act, right_act, sizeof act) == 0);
  CHECK(memcmp(expert_out, right_expert_out, sizeof expert_out) == 0);
  CHECK(memcmp(out, right_out, sizeof out) == 0);
  /* All of it is exact, so that an order of sums changes nothing. 257 is no bf16 number: it becomes 256 (a tie, to even). */
  choices.contract = mxact_contract_id("f32-sequential");
  CHECK(mxact_moe_layer(&experts, &choices, TOKENS, TOP_K, &tokens, chosen, weights, NULL, out) == MXACT_OK && out[0] == 0x44002000u);
  choices.round_expert_out = MXACT_ROUND_BF16;
  CHECK(mxact_moe_layer(&experts, &choices, TOKENS, TOP_K, &tokens, chosen, weights, NULL, out) == MXACT_OK && out[0] == 0x44000000u);
  /* The weight on the input: token 0 has 1 and 1/2 before the product, token 1 the same as before. Expert 1 of 1/2, 1/2: gates 64, ups 1, 1/2. */
  choices.weight_on_input = 1;
  CHECK(mxact_moe_layer(&experts, &choices, TOKENS, TOP_K, &tokens, chosen, weights, &one_stage, out) == MXACT_OK);
  CHECK(act[0] == 0x42800000u && act[2] == 0x42800000u && act[3] == 0x42000000u && act[6] == 0 && out[2] == 0x45200000u);
  choices.weight_on_input = choices.round_expert_out = 0;
  /* NVFP4's second level on w2: expert 1 gives half. */
  experts.w2_scale = halved;
  CHECK(mxact_moe_layer(&experts, &choices, TOKENS, TOP_K, &tokens, chosen, weights, NULL, out) == MXACT_OK);
  CHECK(out[0] == 0x43A04000u && out[2] == 0x44A00000u); /* 128.5 + 192, 1280 */
  {
    /* alpha 0, beta 0, limit 16: min(gate, 16) / 2 * min(up, 16). Token 1: 8 * 8 and 8 * 2 through w2 of expert 1, halved: 40. */
    const mxact_constants constants = {0, 0, 0x41800000u, 0};
    choices.activation = mxact_activation_id("swiglu_oai");
    choices.constants = &constants;
    CHECK(mxact_moe_layer(&experts, &choices, TOKENS, TOP_K, &tokens, chosen, weights, NULL, out) == MXACT_OK && out[2] == 0x42200000u);
  }
  choices.constants = NULL;
  choices.activation = mxact_activation_id("gelu_and_mul");
  out[0] = 77;
  CHECK(mxact_moe_layer(&experts, &choices, TOKENS, TOP_K, &tokens, chosen, weights, NULL, out) == MXACT_USAGE && out[0] == 77);
  choices.activation = mxact_activation_id("silu_and_mul");
  choices.quantize_x = MXACT_QUANTIZE_MXFP8_RCEIL; /* 2 is no block of 32 */
  CHECK(mxact_moe_layer(&experts, &choices, TOKENS, TOP_K, &tokens, chosen, weights, NULL, out) == MXACT_USAGE);
  choices.quantize_x = 2;
  CHECK(mxact_moe_layer(&experts, &choices, TOKENS, TOP_K, &tokens, chosen, weights, NULL, out) == MXACT_USAGE);
  choices.quantize_x = 0;
  choices.round_act = 2;
  CHECK(mxact_moe_layer(&experts, &choices, TOKENS, TOP_K, &tokens, chosen, weights, NULL, out) == MXACT_USAGE);
  choices.round_act = 0;
  choices.contract = mxact_contract_id("int8-block"); /* takes codes and scales apart */
  CHECK(mxact_moe_layer(&experts, &choices, TOKENS, TOP_K, &tokens, chosen, weights, NULL, out) == MXACT_USAGE);
  choices.contract = mxact_contract_id("exact");
  CHECK(mxact_moe_layer(&experts, &choices, 0, TOP_K, &tokens, chosen, weights, NULL, out) == MXACT_USAGE);
  CHECK(mxact_moe_layer(&experts, &choices, TOKENS, TOP_K, &tokens, NULL, weights, NULL, out) == MXACT_USAGE);
  CHECK(mxact_moe_layer(NULL, &choices, TOKENS, TOP_K, &tokens, chosen, weights, NULL, out) == MXACT_USAGE);
  experts.experts = 1; /* slots name expert 1 */
  CHECK(mxact_moe_layer(&experts, &choices, TOKENS, TOP_K, &tokens, chosen, weights, NULL, out) == MXACT_USAGE);
  experts.experts = 0xFFFFFFFFu;
  CHECK(mxact_moe_layer(&experts, &choices, TOKENS, TOP_K, &tokens, chosen, weights, NULL, out) == MXACT_USAGE && out[0] == 77);
}

/* A token that is routed from its own numbers: logits 2, 3 + 1, 2. */
static void test_token(void) {
  const int32_t exact = mxact_contract_id("exact");
  const uint32_t x[2] = {0x3F80, 0x4000}, router[6] = {0x0000, 0x3F80, 0x3F80, 0x3F80, 0x4000, 0x0000}; /* 1, 2; 0, 1; 1, 1; 2, 0 */
  const uint32_t bias[3] = {0, 0x3F800000u, 0};
  mxact_operand token = {0, -1, 0, NULL, NULL}, weight = {0, -1, 0, NULL, NULL};
  int32_t chosen[3];
  uint32_t weights[3];
  token.format = weight.format = mxact_format_id("bf16");
  token.codes = x;
  weight.codes = router;
  CHECK(mxact_route_token(exact, 3, 2, 1, &token, &weight, bias, chosen, weights) == MXACT_OK && chosen[0] == 1 && weights[0] == 0x3F800000u);
  CHECK(mxact_route_token(exact, 3, 2, 3, &token, &weight, bias, chosen, weights) == MXACT_OK);
  CHECK(chosen[0] == 1 && chosen[1] == 0 && chosen[2] == 2 && weights[1] == weights[2] && weights[0] > weights[1]);
  /* Without the bias expert 1 leads by one: e / (e + 2) = 0.576117 and 1 / (e + 2) = 0.211942. */
  CHECK(mxact_route_token(exact, 3, 2, 3, &token, &weight, NULL, chosen, weights) == MXACT_OK);
  CHECK(weights[0] >> 8 == 0x3F137Cu && weights[1] >> 8 == 0x3E5907u);
  CHECK(mxact_route_token(exact, 3, 2, 4, &token, &weight, bias, chosen, weights) == MXACT_USAGE);
  CHECK(mxact_route_token(exact, 0, 2, 1, &token, &weight, bias, chosen, weights) == MXACT_USAGE);
  CHECK(mxact_route_token(-1, 3, 2, 1, &token, &weight, bias, chosen, weights) == MXACT_USAGE);
  CHECK(mxact_route_token(exact, 3, 2, 1, &token, NULL, bias, chosen, weights) == MXACT_USAGE);
}

/* Blocks of a matrix are what mxact_quantize_block makes of each, squares too. */
static void test_many_blocks(void) {
  enum { ROWS = 128, COLUMNS = 256 };
  static uint32_t x[ROWS * COLUMNS], codes[ROWS * COLUMNS], scales[ROWS * COLUMNS / 32], back[ROWS * COLUMNS], block[128 * 128], one[128 * 128],
      numbers[32];
  const int32_t ocp = mxact_profile_id("ocp"), deepgemm = mxact_profile_id("deepgemm"), f32 = mxact_format_id("f32"),
                mxfp4 = mxact_block_format_id("mxfp4");
  const int32_t square = mxact_block_format_id("fp8_e4m3_128x128"), fp8 = mxact_block_format_id("fp8_e4m3"),
                torchao = mxact_profile_id("torchao-fp8");
  uint32_t scale, i, b, wrong = 0;
  for (i = 0; i < ROWS * COLUMNS; ++i) x[i] = 0x3F000000u + (i * 2654435761u >> 8) % 0x01000000u;
  CHECK(mxact_quantize_many(ocp, mxfp4, f32, x, ROWS, COLUMNS, NULL, scales, codes) == MXACT_OK);
  CHECK(mxact_dequantize_many(ocp, mxfp4, f32, scales, codes, ROWS, COLUMNS, NULL, back) == MXACT_OK);
  for (b = 0; b < ROWS * COLUMNS / 32; ++b) {
    CHECK(mxact_quantize_block(ocp, mxfp4, f32, x + 32 * b, 32, NULL, &scale, block) == MXACT_OK);
    CHECK(mxact_dequantize(ocp, mxfp4, f32, scale, block, 32, NULL, numbers) == MXACT_OK);
    wrong += scale != scales[b];
    for (i = 0; i < 32; ++i) wrong += (block[i] != codes[32 * b + i]) + (numbers[i] != back[32 * b + i]);
  }
  CHECK(wrong == 0);
  /* The second square. */
  CHECK(mxact_quantize_many(deepgemm, square, f32, x, ROWS, COLUMNS, NULL, scales, codes) == MXACT_OK);
  for (i = 0; i < 128 * 128; ++i) block[i] = x[i / 128 * COLUMNS + 128 + i % 128];
  CHECK(mxact_quantize_block(deepgemm, square, f32, block, 128 * 128, NULL, &scale, one) == MXACT_OK);
  for (i = 0; i < 128 * 128; ++i) wrong += one[i] != codes[i / 128 * COLUMNS + 128 + i % 128];
  CHECK(wrong == 0 && scale == scales[1]);
  /* A row each, in the place of the codes. */
  CHECK(mxact_quantize_many(torchao, fp8, f32, x, ROWS, COLUMNS, NULL, scales, codes) == MXACT_OK);
  CHECK(mxact_quantize_block(torchao, fp8, f32, x + COLUMNS, COLUMNS, NULL, &scale, one) == MXACT_OK && scale == scales[1] &&
        one[7] == codes[COLUMNS + 7]);
  CHECK(mxact_dequantize_many(torchao, fp8, f32, scales, codes, ROWS, COLUMNS, NULL, codes) == MXACT_OK);
  CHECK(mxact_quantize_many(ocp, mxfp4, f32, x, ROWS, 33, NULL, scales, codes) == MXACT_USAGE);
  CHECK(strcmp(mxact_last_error(), "rows that are no whole blocks") == 0);
  CHECK(mxact_quantize_many(deepgemm, square, f32, x, 64, COLUMNS, NULL, scales, codes) == MXACT_USAGE);
  CHECK(mxact_quantize_many(ocp, mxfp4, f32, x, 0, COLUMNS, NULL, scales, codes) == MXACT_USAGE);
  CHECK(mxact_quantize_many(ocp, mxfp4, f32, x, (size_t)-1, 32, NULL, scales, codes) == MXACT_USAGE);
  CHECK(mxact_quantize_many(ocp, mxfp4, f32, NULL, ROWS, COLUMNS, NULL, scales, codes) == MXACT_USAGE);
  CHECK(mxact_quantize_many(ocp, mxfp4, f32, x, ROWS, COLUMNS, NULL, NULL, codes) == MXACT_USAGE);
  CHECK(mxact_dequantize_many(ocp, mxfp4, f32, scales, x, ROWS, COLUMNS, NULL, back) == MXACT_USAGE);
  CHECK(strcmp(mxact_last_error(), "a code with bits above its format's width") == 0);
  CHECK(mxact_quantize_many(ocp, mxact_block_format_id("nvfp4"), f32, x, ROWS, COLUMNS, NULL, scales, codes) == MXACT_USAGE);
  CHECK(strstr(mxact_last_error(), "profile 'ocp'") != NULL);
}

static void test_opened_layouts(void) {
  static const uint32_t shape[3] = {2, 96, 6}, layer[3] = {2, 256, 512};
  static uint8_t tensor[4 * 96 * 6], memory[4096], back[4 * 96 * 6];
  static int64_t elements[3 * 96 * 6], addresses[96 * 6], found[3 * 96 * 6];
  mxact_layout* layout = NULL;
  mxact_layout_facts facts;
  uint64_t address;
  uint32_t i, wrong = 0;
  CHECK(mxact_layout_open("sf_128x4", shape, NULL, NULL, &layout) == MXACT_OK && layout != NULL);
  CHECK(mxact_layout_facts_of(layout, &facts) == MXACT_OK && facts.axes == 3 && facts.extents[0] == 2 && facts.extents[1] == 96 &&
        facts.extents[2] == 6);
  CHECK(facts.size == 2 * 128 * 8 && facts.address_bits == 8 && facts.tensor_bytes == 2 * 96 * 6 && facts.memory_bytes == 2 * 128 * 8);
  for (i = 0; i < 96 * 6; ++i) {
    elements[3 * i] = 0;
    elements[3 * i + 1] = i / 6;
    elements[3 * i + 2] = i % 6;
  }
  CHECK(mxact_layout_map(layout, MXACT_TO_ADDRESSES, elements, 96 * 6, addresses) == MXACT_OK);
  for (i = 0; i < 96 * 6; ++i) {
    wrong += mxact_layout_address(mxact_layout_id("sf_128x4"), 96, 6, i / 6, i % 6, &address) != MXACT_OK || (int64_t)address != addresses[i];
  }
  CHECK(wrong == 0);
  CHECK(mxact_layout_map(layout, MXACT_TO_ELEMENTS, addresses, 96 * 6, found) == MXACT_OK && memcmp(found, elements, sizeof found) == 0);
  addresses[0] = 128 * 8 - 1;
  CHECK(mxact_layout_map(layout, MXACT_TO_ELEMENTS, addresses, 1, found) == MXACT_OK && found[0] == -1 && found[1] == -1 && found[2] == -1);
  for (i = 0; i < 2 * 96 * 6; ++i) tensor[i] = (uint8_t)(i * 7 + 1);
  CHECK(mxact_layout_apply(layout, tensor, 2 * 96 * 6, memory, 2 * 128 * 8) == MXACT_OK && memory[addresses[1]] == tensor[1] && memory[1023] == 0);
  CHECK(mxact_layout_restore(layout, memory, 2 * 128 * 8, back, 2 * 96 * 6) == MXACT_OK && memcmp(back, tensor, 2 * 96 * 6) == 0);
  CHECK(mxact_layout_apply(layout, tensor, 5, memory, 2 * 128 * 8) == MXACT_USAGE);
  CHECK(strcmp(mxact_last_error(), "what is moved has 5 bytes, the layout needs 1152") == 0);
  CHECK(mxact_layout_apply(layout, tensor, 2 * 96 * 6, memory, 7) == MXACT_USAGE &&
        mxact_layout_apply(layout, NULL, 2 * 96 * 6, memory, 2048) == MXACT_USAGE);
  elements[1] = 96;
  CHECK(mxact_layout_map(layout, MXACT_TO_ADDRESSES, elements, 1, addresses) == MXACT_USAGE);
  CHECK(strcmp(mxact_last_error(), "layout: index 96 of axis rows is not in 0..95") == 0);
  addresses[0] = 2048;
  CHECK(mxact_layout_map(layout, MXACT_TO_ELEMENTS, addresses, 1, found) == MXACT_USAGE &&
        mxact_layout_map(layout, 2, addresses, 1, found) == MXACT_USAGE);
  CHECK(mxact_layout_map(layout, MXACT_TO_ELEMENTS, addresses, 0, found) == MXACT_USAGE &&
        mxact_layout_map(NULL, 0, addresses, 1, found) == MXACT_USAGE);
  CHECK(mxact_layout_map(layout, MXACT_TO_ELEMENTS, NULL, 1, found) == MXACT_USAGE &&
        mxact_layout_map(layout, MXACT_TO_ELEMENTS, addresses, 1, NULL) == MXACT_USAGE);
  CHECK(mxact_layout_facts_of(layout, NULL) == MXACT_USAGE);
  mxact_layout_close(layout);
  mxact_layout_close(NULL);
  layout = NULL;
  CHECK(mxact_layout_open("FLASHINFER_TRTLLM_MXFP4_BF16", layer, "tensor=w13_weight,format=mxfp4,source-order=standard", "2026-08", &layout) ==
        MXACT_OK);
  CHECK(mxact_layout_facts_of(layout, &facts) == MXACT_OK && facts.axes == 4 && facts.extents[1] == 2 && facts.extents[3] == 512 &&
        facts.address_bits == 4);
  mxact_layout_close(layout);
  layout = NULL;
  CHECK(mxact_layout_open("sf_128x5", shape, NULL, NULL, &layout) == MXACT_USAGE && strstr(mxact_last_error(), "(did you mean sf_128x4?)") != NULL);
  CHECK(mxact_layout_open("sf_128x4", shape, "tiles=3", NULL, &layout) == MXACT_USAGE &&
        strstr(mxact_last_error(), "unknown choice 'tiles'") != NULL);
  CHECK(mxact_layout_open("sf_128x4", shape, "tiles", NULL, &layout) == MXACT_USAGE &&
        strstr(mxact_last_error(), "'tiles' is not key=value") != NULL);
  CHECK(mxact_layout_open("sf_128x4", shape, NULL, "2026-08", &layout) == MXACT_USAGE &&
        mxact_layout_open(NULL, shape, NULL, NULL, &layout) == MXACT_USAGE);
  CHECK(mxact_layout_open("sf_128x4", NULL, NULL, NULL, &layout) == MXACT_USAGE &&
        mxact_layout_open("sf_128x4", shape, NULL, NULL, NULL) == MXACT_USAGE);
  CHECK(mxact_layout_open("MARLIN", layer, "format=mxfp4", "2026-08", &layout) == MXACT_USAGE &&
        strstr(mxact_last_error(), "tensor is missing") != NULL);
  CHECK(mxact_layout_open("MARLIN", layer, "tensor=w13_weight", "2026-99", &layout) != MXACT_OK && layout == NULL);
}

int main(void) {
  test_many_blocks();
  test_opened_layouts();
  test_names();
  test_codes();
  test_flushing();
  test_many();
  test_blocks();
  test_arithmetic();
  test_operations();
  test_groups();
  test_p3109();
  test_layouts();
  test_routers();
  test_token();
  test_layer();
  printf("%d checks, %d failed\n", checks, failures);
  return failures == 0 && checks >= 128 ? 0 : 1;
}
