/* The C model for simulators without DPI-C, as system functions of 32 bits:
 *
 *   $mxact_convert("PROFILE", "FROM", "TO", code)                 the code of `code` in TO
 *   $mxact_product("FORMAT", a, "FORMAT", b)                      fp32 bits of the exact product
 *   $mxact_address("LAYOUT", rows, columns, row, column)          where an element lies
 *   $mxact_activate("ACTIVATION", "TYPE", gate, up)               fp32 bits
 *
 * Icarus: iverilog-vpi -I. golden/sv/mxact_vpi.c -LDIRECTORY -lmxact, then vvp -M. -mmxact_vpi BENCH. What the model refuses, and a word with digits
 * x or z, ends the simulation with exit status 1. */

#include <string.h>
#include <vpi_user.h>

#include "golden/c/mxact.h"

enum { MOST_NAME = 64, MOST_NAMES = 3, MOST_WORDS = 4 };

/* The arguments of a call, names and words apart, each in their order. */
typedef struct arguments {
  char names[MOST_NAMES][MOST_NAME];
  uint32_t words[MOST_WORDS];
} arguments;

typedef struct function {
  const char* name;
  const char* form; /* of the arguments: n a name, w a word */
  int32_t (*call)(const arguments* given, uint32_t* result);
} function;

static int32_t convert(const arguments* given, uint32_t* result) {
  uint32_t flags;
  return mxact_convert(mxact_profile_id(given->names[0]), mxact_format_id(given->names[1]), mxact_format_id(given->names[2]), given->words[0], 0,
                       result, &flags);
}

static int32_t product(const arguments* given, uint32_t* result) {
  return mxact_product(mxact_format_id(given->names[0]), given->words[0], mxact_format_id(given->names[1]), given->words[1], result);
}

static int32_t address(const arguments* given, uint32_t* result) {
  uint64_t found = 0;
  const int32_t status =
      mxact_layout_address(mxact_layout_id(given->names[0]), given->words[0], given->words[1], given->words[2], given->words[3], &found);
  *result = (uint32_t)found;
  return status == MXACT_OK && found >> 32 != 0 ? MXACT_USAGE : status;
}

static int32_t activate(const arguments* given, uint32_t* result) {
  return mxact_activate(mxact_activation_id(given->names[0]), mxact_format_id(given->names[1]), given->words[0], given->words[1], result);
}

static const function functions[] = {
    {"$mxact_convert", "nnnw", convert},
    {"$mxact_product", "nwnw", product},
    {"$mxact_address", "nwwww", address},
    {"$mxact_activate", "nnww", activate},
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

/* Reads what the function's form says. Returns what is wrong, or null; `place` is the argument, counted from 1. */
static const char* read_arguments(const function* row, vpiHandle call, arguments* given, int* place) {
  vpiHandle iterator = vpi_iterate(vpiArgument, call);
  int names = 0, words = 0;
  for (*place = 1; row->form[*place - 1] != '\0'; ++*place) {
    vpiHandle argument = iterator == NULL ? NULL : vpi_scan(iterator);
    const char* wrong;
    if (argument == NULL) return "is missing";
    wrong = row->form[*place - 1] == 'n' ? read_name(argument, given->names[names++]) : read_word(argument, &given->words[words++]);
    if (wrong != NULL) return wrong;
  }
  return iterator != NULL && vpi_scan(iterator) != NULL ? "is one too many" : NULL;
}

static PLI_INT32 run(PLI_BYTE8* data) {
  const function* row = (const function*)data;
  vpiHandle call = vpi_handle(vpiSysTfCall, NULL);
  arguments given;
  s_vpi_value value;
  uint32_t result = 0;
  int place = 0;
  const char* wrong = read_arguments(row, call, &given, &place);
  if (wrong != NULL) {
    vpi_printf("%s: argument %d %s\n", row->name, place, wrong);
  } else {
    const int32_t status = row->call(&given, &result);
    if (status != MXACT_OK) {
      vpi_printf("%s(\"%s\", ...): %s\n", row->name, given.names[0], mxact_status_text(status));
      wrong = "refused";
    }
  }
  value.format = vpiIntVal;
  value.value.integer = (PLI_INT32)result;
  vpi_put_value(call, &value, NULL, vpiNoDelay);
  if (wrong != NULL) {
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
