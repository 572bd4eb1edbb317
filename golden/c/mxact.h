/* The mxact model for C, SystemVerilog (DPI-C) and Python: bits in, bits out.
 *
 * Integers only: no float, no libm, nothing to allocate or free but an opened layout, no state between calls but the sentence of mxact_last_error
 * and the records of contracts that mxact_contract_id was given.
 * Every function may be called from any number of threads.
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
  MXACT_FLAG_DIVIDE_BY_ZERO = 8, /* of mxact_operate alone */
  MXACT_FLAG_INVALID = 16,
  MXACT_FLAG_SATURATED = 32,
  MXACT_FLAG_NAN = 64,
  MXACT_FLAG_FLUSHED = 128
};

/* What a code stands for. */
enum { MXACT_ZERO = 0, MXACT_FINITE = 1, MXACT_INFINITY = 2, MXACT_NAN = 3 };

/* Subnormals that become zero: of the source, of the target, or both. */
enum { MXACT_FLUSH_NONE = 0, MXACT_FLUSH_SOURCE = 1, MXACT_FLUSH_TARGET = 2, MXACT_FLUSH_BOTH = 3 };

/* Most elements of a block, of a dot product, and of one call of mxact_convert_many. */
#define MXACT_MOST_BLOCK 16384
#define MXACT_MOST_LENGTH 65536
#define MXACT_MOST_CODES 16777216

/* MXACT_ABI_VERSION of the library that is loaded; "0.1.0". */
uint32_t mxact_abi_version(void);
const char* mxact_version(void);
/* A sentence for a status. */
const char* mxact_status_text(int32_t status);
/* What was wrong with this thread's last call that returned a status other than MXACT_OK, or a negated one: one sentence, as the program says it,
 * which names the value and the rule. Empty before; valid until the thread's next such call. */
const char* mxact_last_error(void);

/* Ids of names, 0 or above; a negated status when the name is unknown or null. */
int32_t mxact_format_id(const char* name);       /* "e4m3fn", or what it is: "e4m3,bias=9,fn", with rules of its own if it has any */
int32_t mxact_block_format_id(const char* name); /* "mxfp4", or a shape: "block=8,element=e2m1,scale=ue5m3" */
int32_t mxact_profile_id(const char* name);      /* "ocp", or rules: "round=rtz,overflow=ieee,tininess=after", "block=8,element=(...),..." */
int32_t mxact_contract_id(const char* name);     /* "bf16-chain", or a record: "step=aligned:cast=bf16:group=8:align=24:keep=24" */
int32_t mxact_layout_id(const char* name);       /* "sf_128x4" */
int32_t mxact_activation_id(const char* name);   /* "swiglu_oai" */
int32_t mxact_router_id(const char* name);       /* "gpt-oss"; docs/vectors.md lists them */
int32_t mxact_operation_id(const char* name);    /* "fma" */
int32_t mxact_predicate_id(const char* name);    /* "quiet-less", "signalling-equal" */
int32_t mxact_integer_id(const char* name);      /* "i32", "uq0.16"; of a target with its rules: "i32,round=rtz,overflow=riscv" */
int32_t mxact_affine_id(const char* name);       /* "awq,block=32": integers with a scale and a zero point, which mxact formats --rules lists */

/* Bits of a code; 0 for an id that does not exist. */
int32_t mxact_format_width(int32_t format);
/* Elements that share a scale; 0 where the caller chooses. A negated status for an id that does not exist. */
int32_t mxact_block_size(int32_t block_format);

/* (-1)^negative * significand * 2^exponent of a finite code. */
int32_t mxact_decode(int32_t format, uint32_t code, int32_t* value_class, int32_t* negative, uint64_t* significand, int32_t* exponent);

/* Code of a code in another format. `random` holds the random bits of a stochastic rounding, right aligned, and must be 0 otherwise. */
int32_t mxact_convert(int32_t profile, int32_t from, int32_t to, uint32_t code, uint32_t random, uint32_t* result, uint32_t* flags);

/* The same for a device that flushes besides what the profile does: one of MXACT_FLUSH_*. */
int32_t mxact_convert_flushed(int32_t profile, int32_t from, int32_t to, int32_t flush, uint32_t code, uint32_t random, uint32_t* result,
                              uint32_t* flags);

/* `count` codes, each as mxact_convert has it with no random bits; `flags` may be null. Nothing is written unless all are converted. `results` may
 * be `codes`. */
int32_t mxact_convert_many(int32_t profile, int32_t from, int32_t to, const uint32_t* codes, size_t count, uint32_t* results, uint32_t* flags);

/* An operation of IEEE 754 on codes, each of its own format, rounded once into `to`; operands that the operation has not are format -1 and code 0.
 * `random` as mxact_convert has it. Flags here and below: the five of IEEE 754. */
int32_t mxact_operate(int32_t operation, int32_t profile, int32_t format_a, uint32_t a, int32_t format_b, uint32_t b, int32_t format_c, uint32_t c,
                      int32_t to, uint32_t random, uint32_t* result, uint32_t* flags);

/* Whether a predicate of IEEE 754 holds of two codes: 1 or 0. */
int32_t mxact_compare(int32_t predicate, int32_t format_a, uint32_t a, int32_t format_b, uint32_t b, uint32_t* result, uint32_t* flags);

/* A code as an integer or in fixed point, in the low bits; and such bits, of which none may be set above the integer's, as a code. */
int32_t mxact_to_integer(int32_t integer, int32_t from, uint32_t code, uint64_t* result, uint32_t* flags);
int32_t mxact_from_integer(int32_t profile, int32_t integer, int32_t to, uint64_t bits, uint32_t random, uint32_t* result, uint32_t* flags);

/* An operation of IEEE P3109 by the text of its specialization, "Add<Binary8p4se, Binary8p4se, Binary8p3se, (NearestTiesToEven, SatNone)>", on
 * numbers or blocks: codes in the order of the signature, a block's scale before its elements. `random`: of stochastic roundings one number for
 * each of the result, else none. Truths are 0 and 1. Every count has to be the specialization's. */
int32_t mxact_p3109(const char* specialization, const uint32_t* operands, size_t operand_count, const uint32_t* random, size_t random_count,
                    uint32_t* results, size_t result_count);

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

/* A matrix of rows x columns codes, row after row, quantized block by block: `codes` gets one for each, `scales` one for each block, row after row of
 * blocks. A format without a block size takes whole rows. Blocks as mxact_quantize_block has them. Results may be neither each other nor `x`. At most
 * MXACT_MOST_CODES elements; nothing is written unless all are quantized. */
int32_t mxact_quantize_many(int32_t profile, int32_t block_format, int32_t source, const uint32_t* x, size_t rows, size_t columns,
                            const mxact_tensor* tensor, uint32_t* scales, uint32_t* codes);
/* The way back, into codes of the format `target`. `result` may be `codes`. */
int32_t mxact_dequantize_many(int32_t profile, int32_t block_format, int32_t target, const uint32_t* scales, const uint32_t* codes, size_t rows,
                              size_t columns, const mxact_tensor* tensor, uint32_t* result);

/* Integers of an id with their scale and zero point: `count` fp32 numbers into the scale's code, the zero point and `count` codes, all in low
 * bits. Of rules that keep no zero point it is the middle code. A NaN or Inf is MXACT_USAGE. */
int32_t mxact_quantize_affine(int32_t affine, const uint32_t* x, size_t count, uint32_t* scale, uint32_t* zero, uint32_t* codes);
/* The way back into the format `target`, f32 or the scale's own. */
int32_t mxact_dequantize_affine(int32_t affine, int32_t target, uint32_t scale, uint32_t zero, const uint32_t* codes, size_t count,
                                  uint32_t* result);

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

/* The same with a bias (fp32 bits, may be null), which enters where the contract says. */
int32_t mxact_dot_biased(int32_t contract, const mxact_operand* a, const mxact_operand* b, size_t length, const uint32_t* c, const uint32_t* bias,
                         uint32_t* result);

/* The contract as one string of fields with its end, the same for equal arithmetic: mxact_contract_id takes it. `size` is the room of `text`, in bytes;
 * 1024 are enough. */
int32_t mxact_contract_record(int32_t contract, char* text, size_t size);

/* m x n dot products over one k: results[i * n + j] is that of row i of a and row j of b, which is the second matrix transposed, as a code of `output`
 * (f32, bf16 or fp16; one rounding, nearest even). Codes and scales lie row after row. `c` has m * n fp32 numbers, `bias` n; either may be null.
 * At most MXACT_MOST_CODES codes a side, and results; k at most MXACT_MOST_LENGTH. f32 under a contract of tf32 is a register: 13 bits are not read. */
int32_t mxact_tile(int32_t contract, size_t m, size_t n, size_t k, const mxact_operand* a, const mxact_operand* b, const uint32_t* c,
                   const uint32_t* bias, int32_t output, uint32_t* results);

/* mxact_dot of `count` codes under one scale on each side, in the formats of the block formats: flat arguments, for callers without structures. */
int32_t mxact_dot_block(int32_t contract, int32_t block_format_a, uint32_t scale_a, const uint32_t* a, int32_t block_format_b, uint32_t scale_b,
                        const uint32_t* b, size_t count, uint32_t* result);

/* How many addresses a layout of a rows x columns matrix has, padding included, and the bits that one address counts. */
int32_t mxact_layout_size(int32_t layout, uint32_t rows, uint32_t columns, uint64_t* size, int32_t* bits);
/* Address of an element of a rows x columns matrix of 8-bit units (or of the layout's own), and what lies at an address: `padding` is 1 where no
 * element does. Addresses count units, or what the layout splits them into. */
int32_t mxact_layout_address(int32_t layout, uint32_t rows, uint32_t columns, uint32_t row, uint32_t column, uint64_t* address);
int32_t mxact_layout_element(int32_t layout, uint32_t rows, uint32_t columns, uint64_t address, uint32_t* row, uint32_t* column, uint32_t* padding);

/* One tensor's way into memory, opened once for any number of questions. */
typedef struct mxact_layout mxact_layout;

/* Most axes of a layout's elements. */
#define MXACT_MOST_AXES 8

/* What an opened layout is. */
typedef struct mxact_layout_facts {
  uint32_t axes;                    /* of an element: the tensor's, then those of its parts where its bits go separate ways */
  int64_t extents[MXACT_MOST_AXES]; /* slowest first */
  int64_t size;                     /* addresses, padding included */
  uint32_t address_bits;            /* that one address counts */
  uint64_t tensor_bytes;            /* what mxact_layout_apply takes */
  uint64_t memory_bytes;            /* and gives */
} mxact_layout_facts;

/* Opens a layout. name: a building block ("sf_128x4"), or a backend's ("FLASHINFER_TRTLLM_MXFP4_BF16"), of which one tensor is meant. shape: three
 * sizes: batch, rows and columns; or experts, intermediate and hidden size. parameters: "key=value,key=value" or null: of a building block unit-bits,
 * version and its own; of a backend tensor ("w13_weight"), format, source-order, padded ("256x512"; without it as the shape), and the others of
 * `mxact layout where`. engine: a version for a backend, or null. The layout never changes; close it when no call uses it any more. */
int32_t mxact_layout_open(const char* name, const uint32_t* shape, const char* parameters, const char* engine, mxact_layout** layout);
int32_t mxact_layout_facts_of(const mxact_layout* layout, mxact_layout_facts* facts);
/* `count` elements to addresses: `from` has `axes` indexes for each, `to` gets an address each, -1 where the layout drops the element. */
#define MXACT_TO_ADDRESSES 0
/* `count` addresses to elements: `to` gets `axes` indexes for each; all the same negative number for padding: -1 zero, -2 never written, -3 the
 * neutral scale 0x7f. */
#define MXACT_TO_ELEMENTS 1
/* At most MXACT_MOST_CODES at once. `to` may not be `from`; where one is out of range, what has been written says nothing. */
int32_t mxact_layout_map(const mxact_layout* layout, int32_t direction, const int64_t* from, size_t count, int64_t* to);
/* The memory of a tensor, which is row-major, elements of 4 bits two in a byte, the even one low; and the tensor of a memory. Sizes are those of the
 * facts. A converter's cast is part of it. Nothing is written unless it succeeds; the two may not overlap. */
int32_t mxact_layout_apply(const mxact_layout* layout, const uint8_t* tensor, size_t tensor_bytes, uint8_t* memory, size_t memory_bytes);
int32_t mxact_layout_restore(const mxact_layout* layout, const uint8_t* memory, size_t memory_bytes, uint8_t* tensor, size_t tensor_bytes);
/* Null is closed already. */
void mxact_layout_close(mxact_layout* layout);

/* fp32 bits of an activation of gate and up, which are values of the format `type` as fp32 bits, with the constants of its row. */
int32_t mxact_activate(int32_t activation, int32_t type, uint32_t gate, uint32_t up, uint32_t* result);

/* Constants of an activation, fp32 bits; those that its row does not use are not read. */
typedef struct mxact_constants {
  uint32_t alpha;
  uint32_t beta;
  uint32_t limit;
  uint32_t linear_beta;
} mxact_constants;

/* The same with a model's own constants; null: those of the row. */
int32_t mxact_activate_with(int32_t activation, int32_t type, uint32_t gate, uint32_t up, const mxact_constants* constants, uint32_t* result);

/* One way to route a token: `top_k` of `experts`. Groups are equal and consecutive, `topk_groups` of them stay eligible; 1 and 1 where the router
 * has none. `factor` (fp32 bits) is multiplied into every weight at last; 0x3F800000 is 1. */
typedef struct mxact_routing {
  int32_t router;
  uint32_t experts;
  uint32_t top_k;
  uint32_t groups;
  uint32_t topk_groups;
  uint32_t factor;
} mxact_routing;

/* The `top_k` experts of a token and their weights (fp32 bits), by descending choice, from its `experts` logits (fp32 bits). `bias` is what the
 * choice adds, null where it adds none. */
int32_t mxact_route_logits(const mxact_routing* routing, const uint32_t* logits, const uint32_t* bias, int32_t* chosen, uint32_t* weights);

/* The same by the router "gpt-oss" from what enters it: x is one row of `hidden` codes, `weight` one for each expert, `bias` (fp32 bits, may be null)
 * is added to the logits. Logits are those of the contract; under "exact" they are compared and subtracted unrounded. */
int32_t mxact_route_token(int32_t contract, uint32_t experts, uint32_t hidden, uint32_t top_k, const mxact_operand* x, const mxact_operand* weight,
                          const uint32_t* bias, int32_t* chosen, uint32_t* weights);

/* Most codes of a matrix of a layer, and most numbers of one of its results. */
#define MXACT_MOST_LAYER 16777216

/* The experts of a layer. Rows of w13, each of `hidden` codes: of every expert its `intermediate` gate rows, then its `intermediate` up rows. Rows of
 * w2, each of `intermediate` codes: `hidden` of every expert. A row has ceil(codes / block) scales. A number is code times scale, times the expert's
 * `w13_scale` or `w2_scale` (fp32 bits, NVFP4's second level; null: none), exactly. Biases are fp32 bits, one for each row; null: none. */
typedef struct mxact_experts {
  uint32_t experts;
  uint32_t hidden;
  uint32_t intermediate;
  mxact_operand w13;
  mxact_operand w2;
  const uint32_t* w13_scale;
  const uint32_t* w2_scale;
  const uint32_t* w13_bias;
  const uint32_t* w2_bias;
} mxact_experts;

/* What a layer rounds (nearest even to bf16) and quantizes (blocks of 32, e4m3fn, scale 2^ceil(log2(amax / 448))) between its products. */
enum { MXACT_ROUND_NONE = 0, MXACT_ROUND_BF16 = 1 };
enum { MXACT_QUANTIZE_NONE = 0, MXACT_QUANTIZE_MXFP8_RCEIL = 1 };

/* How a layer computes. All zero but the two ids: products and activations in fp32, nothing rounded further. */
typedef struct mxact_layer_choices {
  int32_t contract;                 /* one that takes numbers rather than codes and scales */
  int32_t activation;               /* "swiglu_oai" or "silu_and_mul" */
  const mxact_constants* constants; /* null: those of the activation's row */
  int32_t quantize_x;               /* MXACT_QUANTIZE_* of what enters the first product */
  int32_t round_gate_up;            /* MXACT_ROUND_* of the products, with their bias */
  int32_t round_act;
  int32_t quantize_act; /* after round_act */
  int32_t round_expert_out;
  int32_t weight_on_input; /* 1: the weight is multiplied into x, as Llama 4 has it */
} mxact_layer_choices;

/* What a layer makes on the way, fp32 bits; null: not wanted. Rows stand in the order of tokens and slots. */
typedef struct mxact_layer_stages {
  uint32_t* gate_up;    /* [tokens][top_k][2 * intermediate]: gate, then up */
  uint32_t* act;        /* [tokens][top_k][intermediate], after rounding and quantization */
  uint32_t* expert_out; /* [tokens][top_k][hidden], without the weight */
} mxact_layer_stages;

/* A layer of experts: out[token][n] is the sum over the token's slots of weight * expert output, in their order: under "exact" the exact sum rounded
 * once, else one fp32 fused multiply-add each from +0. x has a row of `hidden` codes for each token; `chosen` and `weights` (fp32 bits) have `top_k`
 * of each token. A slot of expert -1 adds nothing, and its stages are zeros. `stages` may be null. While it runs, the call needs at most 64 bytes for
 * each of tokens * top_k * (hidden + 2 * intermediate) numbers, and gives them back. */
int32_t mxact_moe_layer(const mxact_experts* experts, const mxact_layer_choices* choices, uint32_t tokens, uint32_t top_k, const mxact_operand* x,
                        const int32_t* chosen, const uint32_t* weights, const mxact_layer_stages* stages, uint32_t* out);

#ifdef __cplusplus
}
#endif

#endif
