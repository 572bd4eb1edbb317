/* The converter of the C model for simulators without DPI-C: $mxact_convert("PROFILE", "FROM", "TO", code) is the code of `code` in TO.
 * Icarus: iverilog-vpi golden/sv/mxact_vpi.c -I. -LDIRECTORY -lmxact; vvp -M. -mmxact_vpi BENCH. An unknown name ends the simulation. */

#include <vpi_user.h>

#include "golden/c/mxact.h"

enum { MOST_NAME = 64 };

/* The next argument as a string of at most MOST_NAME - 1 characters; "" where there is none. */
static void next_name(vpiHandle arguments, char* name) {
  s_vpi_value value;
  vpiHandle argument = vpi_scan(arguments);
  size_t i = 0;
  name[0] = '\0';
  if (argument == NULL) return;
  value.format = vpiStringVal;
  vpi_get_value(argument, &value);
  for (; value.value.str[i] != '\0' && i + 1 < MOST_NAME; ++i) name[i] = value.value.str[i];
  name[i] = '\0';
}

static PLI_INT32 convert(PLI_BYTE8* unused) {
  vpiHandle call = vpi_handle(vpiSysTfCall, NULL);
  vpiHandle arguments = vpi_iterate(vpiArgument, call);
  char profile[MOST_NAME] = "", from[MOST_NAME] = "", to[MOST_NAME] = "";
  vpiHandle code = NULL;
  s_vpi_value value;
  uint32_t result = 0, flags = 0;
  int32_t status = MXACT_USAGE;
  (void)unused;
  if (arguments != NULL) {
    next_name(arguments, profile);
    next_name(arguments, from);
    next_name(arguments, to);
    code = vpi_scan(arguments);
  }
  value.format = vpiIntVal;
  value.value.integer = 0;
  if (code != NULL) {
    vpi_get_value(code, &value);
    status = mxact_convert(mxact_profile_id(profile), mxact_format_id(from), mxact_format_id(to), (uint32_t)value.value.integer, 0, &result, &flags);
  }
  if (status != MXACT_OK) {
    vpi_printf("$mxact_convert: no conversion %s -> %s by %s\n", from, to, profile);
    vpi_control(vpiFinish, 1);
  }
  value.format = vpiIntVal;
  value.value.integer = (PLI_INT32)result;
  vpi_put_value(call, &value, NULL, vpiNoDelay);
  return 0;
}

static PLI_INT32 width(PLI_BYTE8* unused) {
  (void)unused;
  return 32;
}

static void enlist(void) {
  static PLI_BYTE8 name[] = "$mxact_convert";
  s_vpi_systf_data function = {vpiSysFunc, vpiSizedFunc, name, convert, NULL, width, NULL};
  vpi_register_systf(&function);
}

void (*vlog_startup_routines[])(void) = {enlist, NULL};
