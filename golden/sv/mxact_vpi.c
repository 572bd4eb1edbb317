/* The C model for simulators without DPI-C, as system functions of 32 bits:
 *
 *   $mxact_convert("PROFILE", "FROM", "TO", code)                 the code of `code` in TO
 *   $mxact_product("FORMAT", a, "FORMAT", b)                      fp32 bits of the exact product
 *   $mxact_address("LAYOUT", rows, columns, row, column)          where an element lies
 *   $mxact_activate("ACTIVATION", "TYPE", gate, up)               fp32 bits
 *
 * and of vectors of any width, with element 0 in the lowest bits, as the files of vectors have them:
 *
 *   $mxact_dot("CONTRACT", "FORMAT", a, "FORMAT", b, c)           fp32 bits; c is operand C, fp32 bits
 *   $mxact_dot_scaled("CONTRACT", "FORMAT", "SCALE", scales, a, "FORMAT", "SCALE", scales, b, c)
 *   $mxact_convert_many("PROFILE", "FROM", "TO", codes, results)  writes the variable `results`
 *   $mxact_quantize("PROFILE", "BLOCKFORMAT", "SOURCE", x, encode, decode, scales, codes)    writes the variables `scales` and `codes`
 *   $mxact_dequantize("PROFILE", "BLOCKFORMAT", "TARGET", scales, codes, encode, decode, result)    writes the variable `result`
 *
 * The last three return how many elements there were: a row of as many blocks as fill it. Their elements are as wide as the variables divided by their
 * number. `encode` and `decode` are the numbers of the whole tensor, g and its reciprocal as the recipe takes them, fp32 bits; 0: not given.
 *
 * Icarus: iverilog-vpi -I. golden/sv/mxact_vpi.c -LDIRECTORY -lmxact, then vvp -M. -mmxact_vpi BENCH. What the model refuses, and a word with digits
 * x or z, ends the simulation with exit status 1. */

#include <stdlib.h>
#include <string.h>
#include <sv_vpi_user.h>
#include <vpi_user.h>

#include "golden/c/mxact.h"

enum { MOST_NAME = 64, MOST_NAMES = 5, MOST_WORDS = 4, MOST_VECTORS = 4 };

/* A vector as the simulator has it: 32 bits in each word; of a result, the variable that takes it. */
typedef struct vector {
  vpiHandle variable;
  uint32_t width;
  uint32_t* words;
} vector;

/* The arguments of a call, each kind in its order. */
typedef struct arguments {
  char names[MOST_NAMES][MOST_NAME];
  uint32_t words[MOST_WORDS];
  vector vectors[MOST_VECTORS];
  const char* wrong; /* what is wrong with the call beyond what the model says, or null */
} arguments;

typedef struct function {
  const char* name;
  const char* form; /* of the arguments: n a name, w a word, v a vector, r a variable for a vector */
  int32_t (*call)(arguments* given, uint32_t* result);
} function;

/* Element i of a vector of elements of so many bits. */
static uint32_t element(const vector* from, uint32_t bits, uint32_t i) {
  uint32_t value = 0, bit;
  for (bit = 0; bit < bits; ++bit) {
    const uint32_t at = i * bits + bit;
    value |= (from->words[at / 32] >> at % 32 & 1u) << bit;
  }
  return value;
}

static void set_element(vector* to, uint32_t bits, uint32_t i, uint32_t value) {
  uint32_t bit;
  for (bit = 0; bit < bits; ++bit) {
    const uint32_t at = i * bits + bit;
    to->words[at / 32] |= (value >> bit & 1u) << at % 32;
  }
}

/* Bits of each of `count` elements that fill a vector; 0 where they do not. */
static uint32_t bits_in(const vector* of, uint32_t count) {
  const uint32_t bits = count == 0 ? 0 : of->width / count;
  return bits * count == of->width && bits <= 32 ? bits : 0;
}

/* The elements of a vector, one in each word: the caller frees them. Null where they do not fill it. */
static uint32_t* elements(arguments* given, const vector* of, uint32_t count) {
  const uint32_t bits = bits_in(of, count);
  uint32_t* made = bits == 0 ? NULL : (uint32_t*)malloc(count * sizeof *made);
  uint32_t i;
  if (made == NULL) given->wrong = "has vectors whose widths do not fit together";
  for (i = 0; made != NULL && i < count; ++i) made[i] = element(of, bits, i);
  return made;
}

/* Puts elements into a variable's words, each of which has to fit. */
static void put(arguments* given, vector* into, const uint32_t* from, uint32_t count) {
  const uint32_t bits = bits_in(into, count);
  uint32_t i;
  for (i = 0; i < count; ++i) {
    if (bits == 0 || (bits < 32 && from[i] >> bits != 0)) given->wrong = "has a variable that is too narrow for its result";
    if (bits != 0) set_element(into, bits, i, from[i]);
  }
}

/* How many codes of a format a vector holds. */
static uint32_t lanes(const vector* of, int32_t format) {
  const int32_t bits = mxact_format_width(format);
  return bits > 0 && of->width % (uint32_t)bits == 0 ? of->width / (uint32_t)bits : 0;
}

static mxact_tensor tensor_of(uint32_t encode, uint32_t decode) {
  const mxact_tensor tensor = {encode, decode, encode != 0, decode != 0};
  return tensor;
}

static int32_t convert(arguments* given, uint32_t* result) {
  uint32_t flags;
  return mxact_convert(mxact_profile_id(given->names[0]), mxact_format_id(given->names[1]), mxact_format_id(given->names[2]), given->words[0], 0,
                       result, &flags);
}

static int32_t product(arguments* given, uint32_t* result) {
  return mxact_product(mxact_format_id(given->names[0]), given->words[0], mxact_format_id(given->names[1]), given->words[1], result);
}

static int32_t address(arguments* given, uint32_t* result) {
  uint64_t found = 0;
  const int32_t status =
      mxact_layout_address(mxact_layout_id(given->names[0]), given->words[0], given->words[1], given->words[2], given->words[3], &found);
  *result = (uint32_t)found;
  return status == MXACT_OK && found >> 32 != 0 ? MXACT_USAGE : status;
}

static int32_t activate(arguments* given, uint32_t* result) {
  return mxact_activate(mxact_activation_id(given->names[0]), mxact_format_id(given->names[1]), given->words[0], given->words[1], result);
}

/* One side of a dot product; scales where `scales` is not null. */
static mxact_operand operand(arguments* given, const char* format, const vector* codes, const char* scale, const vector* scales) {
  mxact_operand side = {mxact_format_id(format), -1, 0, NULL, NULL};
  const uint32_t count = lanes(codes, side.format);
  uint32_t blocks;
  side.codes = elements(given, codes, count);
  if (scales == NULL) return side;
  side.scale_format = mxact_format_id(scale);
  blocks = lanes(scales, side.scale_format);
  side.scales = elements(given, scales, blocks);
  if (blocks != 0) side.block = (int32_t)(count / blocks);
  if (blocks == 0 || count % blocks != 0) given->wrong = "has vectors whose widths do not fit together";
  return side;
}

static int32_t sum(arguments* given, const mxact_operand* a, const mxact_operand* b, uint32_t length, uint32_t length_b, uint32_t* result) {
  int32_t status = MXACT_USAGE;
  if (length != length_b) given->wrong = "has sides of unlike lengths";
  if (given->wrong == NULL) status = mxact_dot(mxact_contract_id(given->names[0]), a, b, length, &given->words[0], result);
  free((void*)a->codes);
  free((void*)a->scales);
  free((void*)b->codes);
  free((void*)b->scales);
  return status;
}

static int32_t dot(arguments* given, uint32_t* result) {
  const mxact_operand a = operand(given, given->names[1], &given->vectors[0], NULL, NULL);
  const mxact_operand b = operand(given, given->names[2], &given->vectors[1], NULL, NULL);
  return sum(given, &a, &b, lanes(&given->vectors[0], a.format), lanes(&given->vectors[1], b.format), result);
}

static int32_t dot_scaled(arguments* given, uint32_t* result) {
  const mxact_operand a = operand(given, given->names[1], &given->vectors[1], given->names[2], &given->vectors[0]);
  const mxact_operand b = operand(given, given->names[3], &given->vectors[3], given->names[4], &given->vectors[2]);
  return sum(given, &a, &b, lanes(&given->vectors[1], a.format), lanes(&given->vectors[3], b.format), result);
}

static int32_t convert_many(arguments* given, uint32_t* result) {
  const int32_t from = mxact_format_id(given->names[1]);
  uint32_t* codes;
  int32_t status = MXACT_USAGE;
  *result = lanes(&given->vectors[0], from);
  codes = elements(given, &given->vectors[0], *result);
  if (codes != NULL) status = mxact_convert_many(mxact_profile_id(given->names[0]), from, mxact_format_id(given->names[2]), codes, *result, codes, NULL);
  if (status == MXACT_OK) put(given, &given->vectors[1], codes, *result);
  free(codes);
  return status;
}

/* Blocks in a row of so many elements. */
static uint32_t blocks_of(int32_t block_format, uint32_t count) {
  const int32_t size = mxact_block_size(block_format);
  return size > 0 ? count / (uint32_t)size : 1;
}

static int32_t quantize(arguments* given, uint32_t* result) {
  const int32_t block_format = mxact_block_format_id(given->names[1]);
  const int32_t source = mxact_format_id(given->names[2]);
  const mxact_tensor tensor = tensor_of(given->words[0], given->words[1]);
  const uint32_t count = lanes(&given->vectors[0], source);
  const uint32_t blocks = blocks_of(block_format, count);
  uint32_t* x = elements(given, &given->vectors[0], count);
  uint32_t* scales = (uint32_t*)malloc((blocks + 1) * sizeof *scales);
  int32_t status = MXACT_USAGE;
  if (x != NULL && scales != NULL)
    status = mxact_quantize_many(mxact_profile_id(given->names[0]), block_format, source, x, 1, count, &tensor, scales, x);
  if (status == MXACT_OK) {
    put(given, &given->vectors[1], scales, blocks);
    put(given, &given->vectors[2], x, count);
  }
  free(x);
  free(scales);
  *result = count;
  return status;
}

static int32_t dequantize(arguments* given, uint32_t* result) {
  const int32_t block_format = mxact_block_format_id(given->names[1]);
  const int32_t target = mxact_format_id(given->names[2]);
  const mxact_tensor tensor = tensor_of(given->words[0], given->words[1]);
  const uint32_t count = lanes(&given->vectors[2], target);
  uint32_t* scales = elements(given, &given->vectors[0], blocks_of(block_format, count));
  uint32_t* codes = elements(given, &given->vectors[1], count);
  int32_t status = MXACT_USAGE;
  if (scales != NULL && codes != NULL)
    status = mxact_dequantize_many(mxact_profile_id(given->names[0]), block_format, target, scales, codes, 1, count, &tensor, codes);
  if (status == MXACT_OK) put(given, &given->vectors[2], codes, count);
  free(scales);
  free(codes);
  *result = count;
  return status;
}

static const function functions[] = {
    {"$mxact_convert", "nnnw", convert},
    {"$mxact_product", "nwnw", product},
    {"$mxact_address", "nwwww", address},
    {"$mxact_activate", "nnww", activate},
    {"$mxact_dot", "nnvnvw", dot},
    {"$mxact_dot_scaled", "nnnvvnnvvw", dot_scaled},
    {"$mxact_convert_many", "nnnvr", convert_many},
    {"$mxact_quantize", "nnnvwwrr", quantize},
    {"$mxact_dequantize", "nnnvvwwr", dequantize},
};

/* Reads one argument. Returns what is wrong with it, or null. */
static const char* read_name(vpiHandle argument, char* name) {
  s_vpi_value value;
  value.format = vpiStringVal;
  vpi_get_value(argument, &value);
  if (value.format != vpiStringVal || value.value.str == NULL || strlen(value.value.str) >= MOST_NAME) return "is no name";
  strcpy(name, value.value.str);
  return NULL;
}

static const char* read_word(vpiHandle argument, uint32_t* word) {
  s_vpi_value value;
  const PLI_INT32 width = vpi_get(vpiSize, argument);
  PLI_INT32 i;
  value.format = vpiVectorVal;
  vpi_get_value(argument, &value);
  if (value.format != vpiVectorVal) return "is no number";
  for (i = 0; i < (width + 31) / 32; ++i) {
    if (value.value.vector[i].bval != 0) return "has digits x or z";
    if (i > 0 && value.value.vector[i].aval != 0) return "has more than 32 bits";
  }
  *word = (uint32_t)value.value.vector[0].aval;
  return NULL;
}

/* A vector, or, where nothing is read, the variable for one. */
static const char* read_vector(vpiHandle argument, vector* into, int is_result) {
  s_vpi_value value;
  uint32_t i;
  const PLI_INT32 kind = vpi_get(vpiType, argument);
  const int is_variable =
      kind == vpiReg || kind == vpiIntegerVar || kind == vpiByteVar || kind == vpiShortIntVar || kind == vpiIntVar || kind == vpiLongIntVar || kind == vpiBitVar;
  if (is_result && !is_variable) return "is no variable";
  into->variable = argument;
  into->width = (uint32_t)vpi_get(vpiSize, argument);
  into->words = (uint32_t*)calloc(into->width / 32 + 1, sizeof *into->words);
  if (into->words == NULL) return "needs more memory than there is";
  if (is_result) return NULL;
  value.format = vpiVectorVal;
  vpi_get_value(argument, &value);
  if (value.format != vpiVectorVal) return "is no number";
  for (i = 0; i < (into->width + 31) / 32; ++i) {
    if (value.value.vector[i].bval != 0) return "has digits x or z";
    into->words[i] = (uint32_t)value.value.vector[i].aval;
  }
  return NULL;
}

/* Reads what the function's form says. Returns what is wrong, or null; `place` is the argument, counted from 1. */
static const char* read_arguments(const function* row, vpiHandle call, arguments* given, int* place) {
  vpiHandle iterator = vpi_iterate(vpiArgument, call);
  int names = 0, words = 0, vectors = 0;
  for (*place = 1; row->form[*place - 1] != '\0'; ++*place) {
    vpiHandle argument = iterator == NULL ? NULL : vpi_scan(iterator);
    const char* wrong = NULL;
    if (argument == NULL) return "is missing";
    switch (row->form[*place - 1]) {
      case 'n': wrong = read_name(argument, given->names[names++]); break;
      case 'w': wrong = read_word(argument, &given->words[words++]); break;
      default: wrong = read_vector(argument, &given->vectors[vectors++], row->form[*place - 1] == 'r'); break;
    }
    if (wrong != NULL) return wrong;
  }
  return iterator != NULL && vpi_scan(iterator) != NULL ? "is one too many" : NULL;
}

/* Hands the variables what they get. */
static void write_results(const function* row, arguments* given) {
  int vectors = 0;
  const char* form;
  for (form = row->form; *form != '\0'; ++form) {
    vector* to = &given->vectors[vectors];
    const uint32_t words = to->width / 32 + 1;
    s_vpi_value value;
    uint32_t i;
    vectors += *form == 'v' || *form == 'r';
    if (*form != 'r') continue;
    value.format = vpiVectorVal;
    value.value.vector = (s_vpi_vecval*)calloc(words, sizeof *value.value.vector);
    if (value.value.vector == NULL) continue;
    for (i = 0; i < words; ++i) value.value.vector[i].aval = (PLI_INT32)to->words[i];
    vpi_put_value(to->variable, &value, NULL, vpiNoDelay);
    free(value.value.vector);
  }
}

/* Calls the model. Prints what was refused, and returns whether. */
static int is_refused(const function* row, arguments* given, uint32_t* result) {
  const int32_t status = row->call(given, result);
  if (given->wrong != NULL) {
    vpi_printf("%s(\"%s\", ...) %s\n", row->name, given->names[0], given->wrong);
  } else if (status != MXACT_OK) {
    const char* sentence = mxact_last_error();
    vpi_printf("%s(\"%s\", ...): %s\n", row->name, given->names[0], *sentence != '\0' ? sentence : mxact_status_text(status));
  }
  return given->wrong != NULL || status != MXACT_OK;
}

static PLI_INT32 run(PLI_BYTE8* data) {
  const function* row = (const function*)data;
  vpiHandle call = vpi_handle(vpiSysTfCall, NULL);
  arguments given;
  s_vpi_value value;
  uint32_t result = 0;
  int place = 0, refused = 1, i;
  const char* wrong;
  memset(&given, 0, sizeof given);
  wrong = read_arguments(row, call, &given, &place);
  if (wrong != NULL)
    vpi_printf("%s: argument %d %s\n", row->name, place, wrong);
  else
    refused = is_refused(row, &given, &result);
  if (!refused) write_results(row, &given);
  for (i = 0; i < MOST_VECTORS; ++i) free(given.vectors[i].words);
  value.format = vpiIntVal;
  value.value.integer = (PLI_INT32)result;
  vpi_put_value(call, &value, NULL, vpiNoDelay);
  if (refused) {
    vpip_set_return_value(1);
    vpi_control(vpiFinish, 1);
  }
  return 0;
}

static PLI_INT32 width(PLI_BYTE8* unused) {
  (void)unused;
  return 32;
}

static void enlist(void) {
  size_t i;
  for (i = 0; i < sizeof functions / sizeof functions[0]; ++i) {
    s_vpi_systf_data entry = {vpiSysFunc, vpiSizedFunc, functions[i].name, run, NULL, width, (PLI_BYTE8*)&functions[i]};
    vpi_register_systf(&entry);
  }
}

void (*vlog_startup_routines[])(void) = {enlist, NULL};
