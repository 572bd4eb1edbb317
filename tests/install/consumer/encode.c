#include <inttypes.h>
#include <mxact.h>
#include <stdio.h>

/* 450 in fp32 as E4M3: the finite maximum 448 under `ocp`. */
int main(void) {
  uint32_t code = 0;
  uint32_t flags = 0;
  const int32_t status = mxact_convert(mxact_profile_id("ocp"), mxact_format_id("f32"), mxact_format_id("e4m3fn"), 0x43E10000U, 0, &code, &flags);
  if (status != MXACT_OK) return 1;
  printf("%s 0x%02" PRIx32 "\n", mxact_version(), code);
  return 0;
}
