/* Many threads make their first calls of the library at one moment, and all of them get what one thread gets alone. */

#define _POSIX_C_SOURCE 200112L
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "golden/c/mxact.h"

enum { THREADS = 8, ROUNDS = 200, ROWS = 200 };

static pthread_barrier_t start;

static uint32_t mixed(uint32_t hash, uint32_t word) { return (hash ^ word) * 0x9E3779B1u; }

/* A token of 32 through a layer of two experts, whose weights are drawn from the seed; what comes out, folded into the hash, or 0. */
static uint32_t layer(uint32_t seed, uint32_t hash) {
  enum { SIZE = 32, EXPERTS = 2 };
  uint32_t w13[EXPERTS * 2 * SIZE * SIZE], w2[EXPERTS * SIZE * SIZE], x[SIZE], out[SIZE], logits[EXPERTS], weights[EXPERTS], k;
  int32_t chosen[EXPERTS];
  const mxact_routing routing = {mxact_router_id("gpt-oss"), EXPERTS, EXPERTS, 1, 1, 0x3F800000u};
  mxact_operand token = {0, -1, 0, NULL, NULL};
  mxact_experts experts = {EXPERTS, SIZE, SIZE, {0, -1, 0, NULL, NULL}, {0, -1, 0, NULL, NULL}, NULL, NULL, NULL, NULL};
  mxact_layer_choices choices = {0, 0, NULL, 0, 0, 0, 0, 0, 0};
  for (k = 0; k < EXPERTS * 2 * SIZE * SIZE; ++k) w13[k] = mixed(seed, k) >> 28;
  for (k = 0; k < EXPERTS * SIZE * SIZE; ++k) w2[k] = mixed(seed + 1, k) >> 28;
  for (k = 0; k < SIZE; ++k) x[k] = 0x3F00u + (mixed(seed + 2, k) >> 24);
  for (k = 0; k < EXPERTS; ++k) logits[k] = 0x3F000000u + (mixed(seed + 3, k) >> 8);
  token.format = mxact_format_id("bf16");
  token.codes = x;
  experts.w13.format = experts.w2.format = mxact_format_id("e2m1");
  experts.w13.codes = w13;
  experts.w2.codes = w2;
  choices.contract = mxact_contract_id("f32-sequential");
  choices.activation = mxact_activation_id("swiglu_oai");
  if (mxact_route_logits(&routing, logits, NULL, chosen, weights) != MXACT_OK) return 0;
  if (mxact_moe_layer(&experts, &choices, 1, EXPERTS, &token, chosen, weights, NULL, out) != MXACT_OK) return 0;
  for (k = 0; k < SIZE; ++k) hash = mixed(hash, out[k]);
  return hash;
}

/* A layout of its own, whose elements' addresses are folded into the hash; a refusal's sentence is the thread's own. 0 when something is wrong. */
static uint32_t opened(uint32_t seed, uint32_t hash) {
  const uint32_t shape[3] = {1, 128 + seed % 64, 8};
  int64_t element[3] = {0, 0, 0}, address;
  char sentence[64];
  mxact_layout* layout = NULL;
  uint32_t i;
  if (mxact_layout_open("sf_128x4", shape, NULL, NULL, &layout) != MXACT_OK) return 0;
  for (i = 0; i < ROWS; ++i) {
    element[1] = i % shape[1];
    element[2] = i % 8;
    if (mxact_layout_map(layout, MXACT_TO_ADDRESSES, element, 1, &address) != MXACT_OK) return 0;
    hash = mixed(hash, (uint32_t)address);
    element[1] = (int64_t)shape[1] + i;
    sprintf(sentence, "index %d of axis rows is not in 0..%d", (int)element[1], (int)shape[1] - 1);
    if (mxact_layout_map(layout, MXACT_TO_ADDRESSES, element, 1, &address) != MXACT_USAGE || strstr(mxact_last_error(), sentence) == NULL) return 0;
  }
  mxact_layout_close(layout);
  return hash == 0 ? 1 : hash;
}

/* Answers of every kind of function, folded into one word; 0 when one of them refused. */
static uint32_t answers(uint32_t seed) {
  const int32_t ocp = mxact_profile_id("ocp"), f32 = mxact_format_id("f32"), mxfp4 = mxact_block_format_id("mxfp4");
  const int32_t e4m3 = mxact_format_id("e4m3fn"), layout = mxact_layout_id("sf_128x4"), exact = mxact_contract_id("exact");
  const int32_t swiglu = mxact_activation_id("swiglu_oai");
  uint32_t hash = seed, x[32], codes[32], scale, result, flags, row, column, padding, i;
  uint64_t address;
  for (i = 0; i < ROUNDS; ++i) {
    uint32_t k;
    for (k = 0; k < 32; ++k) x[k] = 0x3F000000u + (mixed(seed + i, k) & 0x00FFFFFFu);
    if (mxact_convert(ocp, f32, e4m3, x[0], 0, &result, &flags) != MXACT_OK) return 0;
    hash = mixed(mixed(hash, result), flags);
    if (mxact_quantize_block(ocp, mxfp4, f32, x, 32, NULL, &scale, codes) != MXACT_OK) return 0;
    for (k = 0; k < 32; ++k) hash = mixed(hash, codes[k]);
    if (mxact_dot_block(exact, mxfp4, scale, codes, mxfp4, scale, codes, 32, &result) != MXACT_OK) return 0;
    hash = mixed(hash, result);
    if (mxact_layout_address(layout, 256, 8, i, i % 8, &address) != MXACT_OK) return 0;
    if (mxact_layout_element(layout, 256, 8, address, &row, &column, &padding) != MXACT_OK || row != i || column != i % 8) return 0;
    hash = mixed(hash, (uint32_t)address);
    if (mxact_activate(swiglu, f32, x[1], x[2], &result) != MXACT_OK) return 0;
    hash = mixed(hash, result);
  }
  hash = layer(seed, hash == 0 ? 1 : hash);
  return opened(seed, hash == 0 ? 1 : hash);
}

static void* work(void* place) {
  uint32_t* hash = place;
  pthread_barrier_wait(&start);
  *hash = answers(*hash);
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  uint32_t hashes[THREADS];
  int i, failures = 0;
  if (pthread_barrier_init(&start, NULL, THREADS) != 0) return 1;
  /* Two threads each have the same work. */
  for (i = 0; i < THREADS; ++i) {
    hashes[i] = (uint32_t)(i / 2 + 1);
    if (pthread_create(&threads[i], NULL, work, &hashes[i]) != 0) return 1;
  }
  for (i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  for (i = 0; i < THREADS; ++i) {
    const uint32_t alone = answers((uint32_t)(i / 2 + 1));
    if (hashes[i] == alone && alone != 0) continue;
    ++failures;
    printf("thread %d: %08x, alone %08x\n", i, hashes[i], alone);
  }
  printf("%d threads, %d failed\n", THREADS, failures);
  return failures == 0 ? 0 : 1;
}
