/* Arrays of any length for mxact_pkg.sv: what SystemVerilog hands over as open arrays, as the pointers that mxact.h takes. Compiled with the bench, beside
 * libmxact.a; a simulator may take it for C or for C++. An array that is shorter than what is asked of it is MXACT_USAGE.
 *
 * The numbers of a whole tensor are two words, g and its reciprocal as the recipe takes them: 0 is one that is not given. */

#include <stddef.h>
#include <svdpi.h>

#include "golden/c/mxact.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The words of an array, of which there must be so many; null where there are fewer, or where the simulator has no such array. */
static uint32_t* words(const svOpenArrayHandle array, uint64_t count) {
  if (svDimensions(array) != 1 || (uint64_t)svSize(array, 1) < count) return NULL;
  return (uint32_t*)svGetArrayPtr(array);
}

static mxact_tensor tensor_of(uint32_t encode, uint32_t decode) {
  const mxact_tensor tensor = {encode, decode, encode != 0, decode != 0};
  return tensor;
}

/* Blocks of so many elements in a matrix. */
static uint64_t blocks_of(int32_t block_format, uint64_t rows, uint64_t columns) {
  const int32_t size = mxact_block_size(block_format);
  return size > 0 ? rows * columns / (uint64_t)size : rows;
}

int mxact_sv_block_scale(int profile, int block_format, int source, const svOpenArrayHandle x, uint64_t count, uint32_t encode, uint32_t decode,
                         uint32_t* scale) {
  const mxact_tensor tensor = tensor_of(encode, decode);
  const uint32_t* from = words(x, count);
  return from == NULL ? MXACT_USAGE : mxact_block_scale(profile, block_format, source, from, (size_t)count, &tensor, scale);
}

int mxact_sv_quantize_block(int profile, int block_format, int source, const svOpenArrayHandle x, uint64_t count, uint32_t encode, uint32_t decode,
                            uint32_t* scale, const svOpenArrayHandle codes) {
  const mxact_tensor tensor = tensor_of(encode, decode);
  const uint32_t* from = words(x, count);
  uint32_t* to = words(codes, count);
  if (from == NULL || to == NULL) return MXACT_USAGE;
  return mxact_quantize_block(profile, block_format, source, from, (size_t)count, &tensor, scale, to);
}

int mxact_sv_p3109(const char* specialization, const svOpenArrayHandle operands, uint64_t operand_count, const svOpenArrayHandle random,
                   uint64_t random_count, const svOpenArrayHandle results, uint64_t result_count) {
  const uint32_t* from = words(operands, operand_count);
  const uint32_t* drawn = words(random, random_count);
  uint32_t* to = words(results, result_count);
  if (from == NULL || drawn == NULL || to == NULL) return MXACT_USAGE;
  return mxact_p3109(specialization, from, (size_t)operand_count, drawn, (size_t)random_count, to, (size_t)result_count);
}

int mxact_sv_quantize_affine(int affine, const svOpenArrayHandle x, uint64_t count, uint32_t* scale, uint32_t* zero,
                               const svOpenArrayHandle codes) {
  const uint32_t* from = words(x, count);
  uint32_t* to = words(codes, count);
  if (from == NULL || to == NULL) return MXACT_USAGE;
  return mxact_quantize_affine(affine, from, (size_t)count, scale, zero, to);
}

int mxact_sv_dequantize_affine(int affine, int target, uint32_t scale, uint32_t zero, const svOpenArrayHandle codes, uint64_t count,
                                 const svOpenArrayHandle result) {
  const uint32_t* from = words(codes, count);
  uint32_t* to = words(result, count);
  if (from == NULL || to == NULL) return MXACT_USAGE;
  return mxact_dequantize_affine(affine, target, scale, zero, from, (size_t)count, to);
}

int mxact_sv_dequantize(int profile, int block_format, int target, uint32_t scale, const svOpenArrayHandle codes, uint64_t count, uint32_t encode,
                        uint32_t decode, const svOpenArrayHandle result) {
  const mxact_tensor tensor = tensor_of(encode, decode);
  const uint32_t* from = words(codes, count);
  uint32_t* to = words(result, count);
  if (from == NULL || to == NULL) return MXACT_USAGE;
  return mxact_dequantize(profile, block_format, target, scale, from, (size_t)count, &tensor, to);
}

int mxact_sv_quantize_many(int profile, int block_format, int source, const svOpenArrayHandle x, uint64_t rows, uint64_t columns, uint32_t encode,
                           uint32_t decode, const svOpenArrayHandle scales, const svOpenArrayHandle codes) {
  const mxact_tensor tensor = tensor_of(encode, decode);
  const uint32_t* from = words(x, rows * columns);
  uint32_t* of_blocks = words(scales, blocks_of(block_format, rows, columns));
  uint32_t* to = words(codes, rows * columns);
  if (from == NULL || of_blocks == NULL || to == NULL) return MXACT_USAGE;
  return mxact_quantize_many(profile, block_format, source, from, (size_t)rows, (size_t)columns, &tensor, of_blocks, to);
}

int mxact_sv_dequantize_many(int profile, int block_format, int target, const svOpenArrayHandle scales, const svOpenArrayHandle codes, uint64_t rows,
                             uint64_t columns, uint32_t encode, uint32_t decode, const svOpenArrayHandle result) {
  const mxact_tensor tensor = tensor_of(encode, decode);
  const uint32_t* of_blocks = words(scales, blocks_of(block_format, rows, columns));
  const uint32_t* from = words(codes, rows * columns);
  uint32_t* to = words(result, rows * columns);
  if (of_blocks == NULL || from == NULL || to == NULL) return MXACT_USAGE;
  return mxact_dequantize_many(profile, block_format, target, of_blocks, from, (size_t)rows, (size_t)columns, &tensor, to);
}

int mxact_sv_convert_many(int profile, int from, int to, const svOpenArrayHandle codes, uint64_t count, const svOpenArrayHandle results,
                          const svOpenArrayHandle flags) {
  const uint32_t* given = words(codes, count);
  uint32_t* made = words(results, count);
  uint32_t* raised = words(flags, count);
  if (given == NULL || made == NULL || raised == NULL) return MXACT_USAGE;
  return mxact_convert_many(profile, from, to, given, (size_t)count, made, raised);
}

int mxact_sv_dot(int contract, int format_a, int scale_format_a, int block_a, const svOpenArrayHandle scales_a, const svOpenArrayHandle a, int format_b,
                 int scale_format_b, int block_b, const svOpenArrayHandle scales_b, const svOpenArrayHandle b, uint64_t length, svBit has_c, uint32_t c,
                 uint32_t* result) {
  mxact_operand first = {format_a, scale_format_a, block_a, words(a, length), NULL};
  mxact_operand second = {format_b, scale_format_b, block_b, words(b, length), NULL};
  if (first.codes == NULL || second.codes == NULL) return MXACT_USAGE;
  if (scale_format_a >= 0 && (block_a < 1 || (first.scales = words(scales_a, (length + (uint64_t)block_a - 1) / (uint64_t)block_a)) == NULL))
    return MXACT_USAGE;
  if (scale_format_b >= 0 && (block_b < 1 || (second.scales = words(scales_b, (length + (uint64_t)block_b - 1) / (uint64_t)block_b)) == NULL))
    return MXACT_USAGE;
  return mxact_dot(contract, &first, &second, (size_t)length, has_c ? &c : NULL, result);
}

int mxact_sv_dot_block(int contract, int block_format_a, uint32_t scale_a, const svOpenArrayHandle a, int block_format_b, uint32_t scale_b,
                       const svOpenArrayHandle b, uint64_t count, uint32_t* result) {
  const uint32_t* first = words(a, count);
  const uint32_t* second = words(b, count);
  if (first == NULL || second == NULL) return MXACT_USAGE;
  return mxact_dot_block(contract, block_format_a, scale_a, first, block_format_b, scale_b, second, (size_t)count, result);
}

#ifdef __cplusplus
}
#endif
