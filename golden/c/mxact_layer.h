/* One layer of experts of a checkpoint for C: the stages that a backend's kernels compute, or a contract of sums, from any stage to any later ones,
 * bit for bit, at a real layer's size. What `mxact layer` does; docs/layer.md says what a stage is.
 *
 * A library of its own, libmxact_layer.so: it reads checkpoints and runs on all threads (OMP_NUM_THREADS), so that it needs libgomp, libfmt and zlib
 * beside the C++ runtime. An opened layer never changes: any number of threads may run it.
 * Functions return MXACT_LAYER_OK or a status, and write no result unless they return MXACT_LAYER_OK.
 */
#ifndef MXACT_LAYER_H
#define MXACT_LAYER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Those of the program's exit codes. */
typedef enum mxact_layer_status {
  MXACT_LAYER_OK = 0,
  MXACT_LAYER_USAGE = 2,       /* a name, size or combination that does not exist */
  MXACT_LAYER_INPUT = 3,       /* a file that is not what it should be */
  MXACT_LAYER_UNSUPPORTED = 4, /* arithmetic that is not known here */
  MXACT_LAYER_RESOURCE = 6,    /* memory */
  MXACT_LAYER_INTERNAL = 70
} mxact_layer_status;

/* What was wrong with this thread's last call that returned another status than MXACT_LAYER_OK: one sentence, as the program says it. Empty before;
 * valid until the thread's next such call. */
const char* mxact_layer_error(void);

typedef struct mxact_layer mxact_layer;

/* Opens a layer. path: a .safetensors file, a model's directory, or what `mxact convert` wrote. layer: the number in its tensors' names. choices:
 * "key=value,key=value" of backend, platform and what else `mxact layer` takes for packing (engine, tp, rank, layer-group, ...), or contract alone;
 * input-scale=HEX:HEX are fp32 bits of the calibrated scales of x and of what enters the second product. launch.KEY=N, launch.w2.KEY=N: a number of the
 * kernels' launch, launch.tuned=FILE: the engine's tiles, as --launch has them. Of a packed layer these two alone, or null. */
int32_t mxact_layer_open(const char* path, uint32_t layer, const char* choices, mxact_layer** opened);
/* Null is closed already. */
void mxact_layer_close(mxact_layer* layer);

typedef struct mxact_layer_facts {
  uint32_t experts;       /* ids are 0 .. experts - 1, or -1 for none */
  uint32_t hidden;        /* columns of x, y and out */
  uint32_t intermediate;  /* that the kernel has, padded */
  const char* arithmetic; /* "none x hopper-bf16, run": quantizers, contract, grounds; valid until the layer is closed, as the next */
  const char* sums_by;    /* what sums the products: "fused kernels", "panels", "tiles", "quick rows", "the model" */
} mxact_layer_facts;
int32_t mxact_layer_facts_of(const mxact_layer* layer, mxact_layer_facts* facts);

/* A stage of `tokens` tokens of `top_k` experts each: bytes of an element (1: a code or scale of a byte, 2: bf16, 4: fp32), rows and columns; the
 * scale of a whole tensor is 1 x 1. MXACT_LAYER_USAGE where the layer has no such stage. */
typedef struct mxact_layer_form {
  uint32_t width;
  uint64_t rows;
  uint64_t columns;
} mxact_layer_form;
int32_t mxact_layer_form_of(const mxact_layer* layer, const char* stage, uint32_t tokens, uint32_t top_k, mxact_layer_form* form);

/* A stage in a caller's memory, row-major, little-endian: `bytes` is width * rows * columns of its form. */
typedef struct mxact_layer_stage {
  const char* stage;
  void* memory;
  size_t bytes;
} mxact_layer_stage;

/* Runs the tokens. x: bf16 codes [tokens][hidden], null behind a start. ids: [tokens][top_k]; weights: fp32 bits of the same shape, null where
 * neither y nor out is wanted. from: all stages of one step, which the run starts behind; a count of 0: it starts from x. wanted: where later stages
 * go; their memory may not overlap. */
int32_t mxact_layer_run(const mxact_layer* layer, uint32_t tokens, uint32_t top_k, const uint16_t* x, const int32_t* ids, const uint32_t* weights,
                        const mxact_layer_stage* from, size_t from_count, const mxact_layer_stage* wanted, size_t wanted_count);

#ifdef __cplusplus
}
#endif

#endif
