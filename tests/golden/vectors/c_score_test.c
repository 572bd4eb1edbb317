/* A scoreboard through libmxact_score.so, from C99: a converter whose ties go away from zero is told by name, and nothing passes unchecked. */

#include <stdio.h>
#include <string.h>

#include "golden/c/mxact_score.h"

static int failures;

static void check(int holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  printf("line %d: %s (%s)\n", line, what, mxact_score_error());
}
#define CHECK(expression) check((expression) != 0, #expression, __LINE__)

/* One answer of a converter; what is wrong with it. */
static int32_t answer(mxact_score* score, uint32_t a, uint32_t r, uint32_t unknown) {
  int32_t kind = -1;
  CHECK(mxact_score_put(score, a, 0) == MXACT_SCORE_OK);
  CHECK(mxact_score_put(score, r, unknown) == MXACT_SCORE_OK);
  CHECK(mxact_score_check(score, NULL, &kind) == MXACT_SCORE_OK);
  return kind;
}

/* fp32 of (units + 1/2) * 2^-3, for units from 8 to 15: a middle between two numbers of E4M3 of the binade from 1 on, whose codes follow 0x38. */
static uint32_t middle(uint32_t units) { return 0x3F800000U + ((units - 8U) << 20U) + 0x80000U; }

int main(void) {
  mxact_score* score = NULL;
  const char* text = NULL;
  int32_t verdict = -1, kind = -1;
  uint32_t units;
  CHECK(mxact_score_open("f32_to_e4m3fn", NULL, &score) == MXACT_SCORE_OK);
  CHECK(mxact_score_report(score, 0, &verdict, &text) == MXACT_SCORE_OK);
  CHECK(verdict == MXACT_SCORE_MISTRUSTED);
  CHECK(strcmp(text, "MISTRUSTED: 0 of 0 vectors checked, 0 wrong; no vector came\n") == 0);
  /* An even number of units is wrong: the middle above it goes to it. */
  for (units = 8; units < 16; ++units) {
    CHECK(answer(score, middle(units), 0x38 + units - 7, 0) == (units % 2 == 0 ? MXACT_SCORE_VALUE : MXACT_SCORE_RIGHT));
    CHECK(answer(score, middle(units) - 1, 0x38 + units - 8, 0) == MXACT_SCORE_RIGHT);
  }
  CHECK(mxact_score_report(score, 16, &verdict, &text) == MXACT_SCORE_OK);
  CHECK(verdict == MXACT_SCORE_FAILED);
  CHECK(strstr(text, "exact 1.0625; the device is 0.5 ulp off, the right answer 0.5 ulp\n") != NULL);
  CHECK(strstr(text, "rounding: matches rounding nearest_away: 4 of 4 wrong answers, and all of 12 right ones\n") != NULL);
  CHECK(strstr(text, "FAILED: 16 of 16 vectors checked, 4 wrong\n") != NULL);
  CHECK(answer(score, 0x3F800000, 0x30, 0x08) == MXACT_SCORE_UNRESOLVED);
  CHECK(answer(score, 0x7FC00000, 0, 0) == MXACT_SCORE_NAN);
  CHECK(answer(score, 0x80000000, 0, 0) == MXACT_SCORE_SIGN_OF_ZERO);

  CHECK(mxact_score_check(score, "cycle 3", &kind) == MXACT_SCORE_USAGE);
  CHECK(mxact_score_put(score, 1, 0) == MXACT_SCORE_OK && mxact_score_put(score, 1, 0) == MXACT_SCORE_OK);
  CHECK(mxact_score_put(score, 1, 0) == MXACT_SCORE_USAGE);
  CHECK(mxact_score_check(NULL, NULL, &kind) == MXACT_SCORE_USAGE);
  CHECK(mxact_score_check(score, NULL, NULL) == MXACT_SCORE_USAGE);
  CHECK(mxact_score_report(score, 0, NULL, &text) == MXACT_SCORE_USAGE);
  mxact_score_close(score);
  mxact_score_close(NULL);

  CHECK(mxact_score_open("f32_to_e4m3fx", NULL, &score) == MXACT_SCORE_USAGE);
  CHECK(strstr(mxact_score_error(), "e4m3fn") != NULL);
  CHECK(mxact_score_open("f32_to_e4m3fn", "flags", &score) == MXACT_SCORE_USAGE);
  CHECK(mxact_score_open("f32_to_e4m3fn", "flags=yes flags=no", &score) == MXACT_SCORE_USAGE);
  CHECK(strstr(mxact_score_error(), "flags is given twice") != NULL);
  CHECK(mxact_score_open("f32_to_e4m3fn", "flag=yes", &score) == MXACT_SCORE_USAGE);
  CHECK(mxact_score_open("f32_to_e4m3fn", "flags=ieee nan=free", &score) == MXACT_SCORE_OK);
  CHECK(mxact_score_put(score, 0x3F800001, 0) == MXACT_SCORE_OK && mxact_score_put(score, 0x38, 0) == MXACT_SCORE_OK);
  CHECK(mxact_score_put(score, 0, 0) == MXACT_SCORE_OK && mxact_score_check(score, "cycle 1", &kind) == MXACT_SCORE_OK);
  CHECK(kind == MXACT_SCORE_FLAGS);
  mxact_score_close(score);
  if (failures == 0) printf("a scoreboard in C\n");
  return failures != 0;
}
