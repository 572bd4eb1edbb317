/* A device inside a loop held against an operation of `mxact gen --list`, for C and SystemVerilog: what wrong answers are, and at the end the rules
 * that explain them, in the words of `mxact ver`. docs/vectors.md shows it.
 *
 * A library of its own, libmxact_score.so: it needs libgomp and zlib beside the C++ runtime. One scoreboard is for one thread at a time.
 * Functions return MXACT_SCORE_OK or a status, and write no result unless they return MXACT_SCORE_OK.
 */
#ifndef MXACT_SCORE_H
#define MXACT_SCORE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Those of the program's exit codes. */
typedef enum mxact_score_status {
  MXACT_SCORE_OK = 0,
  MXACT_SCORE_USAGE = 2, /* a name, choice or number of lanes that does not exist; operands that have no answer */
  MXACT_SCORE_INPUT = 3,
  MXACT_SCORE_UNSUPPORTED = 4,
  MXACT_SCORE_RESOURCE = 6, /* memory */
  MXACT_SCORE_INTERNAL = 70
} mxact_score_status;

/* What is wrong with an answer. */
enum {
  MXACT_SCORE_RIGHT = 0,
  MXACT_SCORE_VALUE = 1,        /* another number */
  MXACT_SCORE_NAN = 2,          /* a NaN for a number, a number for a NaN, another NaN */
  MXACT_SCORE_SIGN_OF_ZERO = 3, /* a zero with the other sign */
  MXACT_SCORE_FLAGS = 4,        /* the flags alone */
  MXACT_SCORE_UNRESOLVED = 5    /* bits that are x or z, of the answer or of an operand */
};

/* The verdict: the exit codes of `mxact ver`. */
enum { MXACT_SCORE_PASSED = 0, MXACT_SCORE_FAILED = 1, MXACT_SCORE_MISTRUSTED = 5 };

/* What was wrong with this thread's last call that returned another status than MXACT_SCORE_OK: one sentence. Empty before; valid until the next such
 * call. */
const char* mxact_score_error(void);

typedef struct mxact_score mxact_score;

/* operation: "f32_to_e4m3fn", or with rules of its own. options: "key=value key=value", as `mxact gen` has them: "flags=ieee nan=free"; or null. */
int32_t mxact_score_open(const char* operation, const char* options, mxact_score** opened);
/* Null is closed already. */
void mxact_score_close(mxact_score* score);

/* The next lane of an answer: operands, then the device's answer, then its flags where the operation has them, in the order of `mxact gen`'s columns,
 * a column's element 0 first. `unknown`: bits of it that are x or z. */
int32_t mxact_score_put(mxact_score* score, uint32_t lane, uint32_t unknown);
/* Checks the lanes since the last call, which are gone then. `place`: what says where, or null; `kind`: one of MXACT_SCORE_RIGHT to
 * MXACT_SCORE_UNRESOLVED. An answer that is refused is not counted. */
int32_t mxact_score_check(mxact_score* score, const char* place, int32_t* kind);

/* What came of all answers so far, as text with a line each: the first wrong answers, the rules that explain them, the verdict last. `expected`: how
 * many answers there should have been; 0: any number but none. The text is valid until the next call for this scoreboard. */
int32_t mxact_score_report(mxact_score* score, uint64_t expected, int32_t* verdict, const char** text);

#ifdef __cplusplus
}
#endif

#endif
