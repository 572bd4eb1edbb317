/* An address by an opened layout beside one by mxact_layout_address, in one run: a million elements of a matrix of scales, ten thousand by the other.
   cc -O2 -I. bench/layout_addresses.c build/release/golden/c/libmxact.so -Wl,-rpath,build/release/golden/c -o addresses && ./addresses */
#define _POSIX_C_SOURCE 200112L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "golden/c/mxact.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(void) {
  enum { ROWS = 8192, COLUMNS = 128, MANY = ROWS * COLUMNS, FEW = 10000 };
  static const char* const names[] = {"sf_128x4", "sf_8x4", "trtllm.shuffle_matrix_a"};
  int64_t* const elements = malloc(sizeof(int64_t) * 3 * MANY);
  int64_t* const addresses = malloc(sizeof(int64_t) * MANY);
  size_t n, i;
  if (elements == NULL || addresses == NULL) return 1;
  puts("| layout | an address of an opened one | by mxact_layout_address | times |\n| --- | --- | --- | --- |");
  for (n = 0; n < sizeof names / sizeof *names; ++n) {
    const uint32_t shape[3] = {1, ROWS, COLUMNS};
    const int32_t id = mxact_layout_id(names[n]);
    mxact_layout* layout = NULL;
    double opened, single, begin = now();
    for (i = 0; i < MANY; ++i) elements[3 * i] = 0, elements[3 * i + 1] = (int64_t)(i * 7919 % ROWS), elements[3 * i + 2] = (int64_t)(i % COLUMNS);
    if (id < 0) continue;
    begin = now();
    if (mxact_layout_open(names[n], shape, NULL, NULL, &layout) != MXACT_OK) return 1;
    if (mxact_layout_map(layout, MXACT_TO_ADDRESSES, elements, MANY, addresses) != MXACT_OK) return 1;
    opened = (now() - begin) / MANY;
    begin = now();
    for (i = 0; i < FEW; ++i) {
      uint64_t address;
      if (mxact_layout_address(id, ROWS, COLUMNS, (uint32_t)elements[3 * i + 1], (uint32_t)elements[3 * i + 2], &address) != MXACT_OK) return 1;
      if ((int64_t)address != addresses[i]) return 1;
    }
    single = (now() - begin) / FEW;
    printf("| `%s`, %d x %d | %.3g ns | %.4g ns | %.0f |\n", names[n], ROWS, COLUMNS, opened, single, single / opened);
    mxact_layout_close(layout);
  }
  free(elements);
  free(addresses);
  return 0;
}
