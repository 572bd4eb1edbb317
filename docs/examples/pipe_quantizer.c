/* A quantizer of MXFP4 behind a pipe, for `python -m mxact laws quantizer mxfp4 --profile ocp -- ./pipe_quantizer`.
   A request is a line of JSON, then fp32 numbers; the answer a line of JSON, then codes, one a byte, and scales, one for each 32 numbers. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 32 };

static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* The nearest of 0, 0.5, 1, 1.5, 2, 3, 4, 6, of two equally near ones the even code; larger numbers become 6. */
static uint8_t nearest(double magnitude) {
  static const double border[] = {0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0};
  uint8_t code = 0;
  while (code < 7 && (magnitude > border[code] || (magnitude == border[code] && code % 2 == 1))) ++code;
  return code;
}

static void quantize(const float* x, uint8_t* codes, uint8_t* scale) {
  uint32_t amax = 0;
  for (int i = 0; i < BLOCK; ++i) {
    const uint32_t magnitude = bits_of(x[i]) & 0x7FFFFFFF;
    if (magnitude > amax) amax = magnitude;
  }
  if (amax >= 0x7F800000) { /* an infinity or a NaN: the block has no scale */
    *scale = 0xFF;
    memset(codes, 7, BLOCK); /* whatever they are: mxact's profile has the largest number */
    return;
  }
  const int exponent = (int)(amax >> 23) - 2; /* of 6 = 1.5 * 2^2 */
  *scale = (uint8_t)(exponent < 0 ? 0 : exponent);
  for (int i = 0; i < BLOCK; ++i) codes[i] = (uint8_t)(nearest(ldexp(fabs((double)x[i]), 127 - *scale)) | (signbit(x[i]) ? 8 : 0));
}

int main(void) {
  static char line[1 << 20];
  while (fgets(line, sizeof line, stdin) != NULL) {
    const char* const shape = strstr(line, "\"shape\": [");
    long rows, columns;
    if (shape == NULL || sscanf(shape, "\"shape\": [%ld, %ld]", &rows, &columns) != 2) return 1;
    const size_t count = (size_t)(rows * columns);
    float* const x = malloc(count * sizeof *x);
    uint8_t* const codes = malloc(count + count / BLOCK);
    if (x == NULL || codes == NULL || fread(x, sizeof *x, count, stdin) != count) return 1;
    for (size_t i = 0; i < count; i += BLOCK) quantize(x + i, codes + i, codes + count + i / BLOCK);
    printf("{\"arrays\": [{\"name\": \"codes\", \"dtype\": \"uint8\", \"shape\": [%ld, %ld]}, "
           "{\"name\": \"scales\", \"dtype\": \"uint8\", \"shape\": [%ld, %ld]}]}\n",
           rows, columns, rows, columns / BLOCK);
    fwrite(codes, 1, count + count / BLOCK, stdout);
    fflush(stdout);
    free(x);
    free(codes);
  }
  return 0;
}
