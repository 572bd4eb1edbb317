/* The mxact model for C, SystemVerilog (DPI-C) and Python: bits in, bits out.
 *
 * Integers only: no float, no libm, nothing to allocate or free, no state between calls. Every function may be called from any number of threads.
 * Functions return MXACT_OK or a status; nothing is written to the results unless they return MXACT_OK. Names are those of `mxact formats` and of
 * `mxact gen --list`; ids that the *_id functions give hold for one version of the library.
 */
#ifndef MXACT_H
#define MXACT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when a function changes its meaning or its arguments; functions may be added without. */
#define MXACT_ABI_VERSION 1

typedef enum mxact_status {
  MXACT_OK = 0,
  MXACT_USAGE = 2,       /* a name, id or combination that does not exist */
  MXACT_UNSUPPORTED = 4, /* known, but not possible on this machine */
  MXACT_RESOURCE = 6,    /* memory */
  MXACT_INTERNAL = 70
} mxact_status;

/* Exception flags, as the column "flags" of vectors has them. */
enum {
  MXACT_FLAG_INEXACT = 1,
  MXACT_FLAG_UNDERFLOW = 2,
  MXACT_FLAG_OVERFLOW = 4,
  MXACT_FLAG_INVALID = 16,
  MXACT_FLAG_SATURATED = 32,
  MXACT_FLAG_NAN = 64,
  MXACT_FLAG_FLUSHED = 128
};

/* What a code stands for. */
enum { MXACT_ZERO = 0, MXACT_FINITE = 1, MXACT_INFINITY = 2, MXACT_NAN = 3 };

/* Most elements of a block, of a dot product, and of one call of mxact_convert_many. */
#define MXACT_MOST_BLOCK 16384
#define MXACT_MOST_LENGTH 65536
#define MXACT_MOST_CODES 16777216

/* MXACT_ABI_VERSION of the library that is loaded; "0.1.0". */
uint32_t mxact_abi_version(void);
const char* mxact_version(void);
/* A sentence for a status. */
const char* mxact_status_text(int32_t status);

/* Ids of names, 0 or above; a negated status when the name is unknown or null. */
int32_t mxact_format_id(const char* name);       /* "e4m3fn" */
int32_t mxact_block_format_id(const char* name); /* "mxfp4" */
int32_t mxact_profile_id(const char* name);      /* "ocp" */
int32_t mxact_contract_id(const char* name);     /* "bf16-chain" */
int32_t mxact_layout_id(const char* name);       /* "sf_128x4" */
int32_t mxact_activation_id(const char* name);   /* "swiglu_oai" */

/* Bits of a code; 0 for an id that does not exist. */
int32_t mxact_format_width(int32_t format);
/* Elements that share a scale; 0 where the caller chooses. A negated status for an id that does not exist. */
int32_t mxact_block_size(int32_t block_format);

/* (-1)^negative * significand * 2^exponent of a finite code. */
int32_t mxact_decode(int32_t format, uint32_t code, int32_t* value_class, int32_t* negative, uint64_t* significand, int32_t* exponent);

/* Code of a code in another format. `random` holds the random bits of a stochastic rounding, right aligned, and must be 0 otherwise. */
int32_t mxact_convert(int32_t profile, int32_t from, int32_t to, uint32_t code, uint32_t random, uint32_t* result, uint32_t* flags);

/* `count` codes, each as mxact_convert has it with no random bits; `flags` may be null. Nothing is written unless all are converted. `results` may
 * be `codes`. */
int32_t mxact_convert_many(int32_t profile, int32_t from, int32_t to, const uint32_t* codes, size_t count, uint32_t* results, uint32_t* flags);

/* The numbers of a whole tensor that two-level and static recipes take: fp32 bits, each with whether it is given. */
typedef struct mxact_tensor {
  uint32_t encode; /* g */
  uint32_t decode; /* 1 / g, or a static scale */
  uint32_t has_encode;
  uint32_t has_decode;
} mxact_tensor;

/* Scale of one block of `count` codes of the format `source` (f32, bf16, fp16). `tensor` may be null. */
int32_t mxact_block_scale(int32_t profile, int32_t block_format, int32_t source, const uint32_t* x, size_t count, const mxact_tensor* tensor,
                          uint32_t* scale);
/* Scale and `count` codes, one in each element of `codes`. */
int32_t mxact_quantize_block(int32_t profile, int32_t block_format, int32_t source, const uint32_t* x, size_t count, const mxact_tensor* tensor,
                             uint32_t* scale, uint32_t* codes);
/* `count` codes under one scale into the format `target`. */
int32_t mxact_dequantize(int32_t profile, int32_t block_format, int32_t target, uint32_t scale, const uint32_t* codes, size_t count,
                         const mxact_tensor* tensor, uint32_t* result);

/* fp32 bits of the exact product of two codes, rounded to nearest even where fp32 cannot hold it; a NaN is 0x7FC00000. */
int32_t mxact_product(int32_t format_a, uint32_t a, int32_t format_b, uint32_t b, uint32_t* result);

/* One side of a dot product: codes along k, and scales of `block` elements each; scale_format -1 and null scales: none. */
typedef struct mxact_operand {
  int32_t format;
  int32_t scale_format;
  int32_t block;
  const uint32_t* codes;
  const uint32_t* scales;
} mxact_operand;

/* fp32 bits of sum(a[k] * b[k]) under the contract. `c` (fp32 bits) may be null. */
int32_t mxact_dot(int32_t contract, const mxact_operand* a, const mxact_operand* b, size_t length, const uint32_t* c, uint32_t* result);

/* The same of `count` codes under one scale on each side, in the formats of the block formats: flat arguments, for callers without structures. */
int32_t mxact_dot_block(int32_t contract, int32_t block_format_a, uint32_t scale_a, const uint32_t* a, int32_t block_format_b, uint32_t scale_b,
                        const uint32_t* b, size_t count, uint32_t* result);

/* Address of an element of a rows x columns matrix of 8-bit units (or of the layout's own), and what lies at an address: `padding` is 1 where no
 * element does. Addresses count units, or what the layout splits them into. */
int32_t mxact_layout_address(int32_t layout, uint32_t rows, uint32_t columns, uint32_t row, uint32_t column, uint64_t* address);
int32_t mxact_layout_element(int32_t layout, uint32_t rows, uint32_t columns, uint64_t address, uint32_t* row, uint32_t* column, uint32_t* padding);

/* fp32 bits of an activation of gate and up, which are values of the format `type` as fp32 bits, with the constants of its row. */
int32_t mxact_activate(int32_t activation, int32_t type, uint32_t gate, uint32_t up, uint32_t* result);

#ifdef __cplusplus
}
#endif

#endif
