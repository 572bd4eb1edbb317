/* c_layer CHECKPOINT X IDS WEIGHTS DIRECTORY: a layer through libmxact_layer.so, from C99. Writes the stages of a backend and of a contract into
 * DIRECTORY as raw bytes, which c_layer_test.sh holds against those of the program; and checks what is refused. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/c/mxact_layer.h"

static int failures;

static void check(int holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  printf("line %d: %s (%s)\n", line, what, mxact_layer_error());
}
#define CHECK(expression) check((expression) != 0, #expression, __LINE__)

enum { TOKENS = 4, TOP_K = 2, MOST_STAGES = 8 };

/* All bytes of a file; ends the program where there are others. */
static void* read_all(const char* path, size_t bytes) {
  FILE* file = fopen(path, "rb");
  void* memory = malloc(bytes + 1);
  if (file == NULL || memory == NULL || fread(memory, 1, bytes + 1, file) != bytes) {
    printf("%s does not have %lu bytes\n", path, (unsigned long)bytes);
    exit(1);
  }
  fclose(file);
  return memory;
}

static void write_all(const char* directory, const char* set, const mxact_layer_stage* stage) {
  char path[4096];
  FILE* file;
  snprintf(path, sizeof path, "%s/%s.%s", directory, set, stage->stage);
  file = fopen(path, "wb");
  CHECK(file != NULL);
  if (file == NULL) return;
  CHECK(fwrite(stage->memory, 1, stage->bytes, file) == stage->bytes);
  CHECK(fclose(file) == 0);
}

struct input {
  const uint16_t* x;
  const int32_t* ids;
  const uint32_t* weights;
};

static mxact_layer_stage memory_of(const mxact_layer* layer, const char* name) {
  mxact_layer_stage stage = {NULL, NULL, 0};
  mxact_layer_form form;
  CHECK(mxact_layer_form_of(layer, name, TOKENS, TOP_K, &form) == MXACT_LAYER_OK);
  stage.stage = name;
  stage.bytes = (size_t)(form.width * form.rows * form.columns);
  stage.memory = calloc(stage.bytes, 1);
  return stage;
}

/* Runs all named stages, writes them, and runs the last one anew from the first. */
static void run(const char* path, const char* choices, const char* set, const char* const* names, size_t count, const struct input* input, const char* directory) {
  mxact_layer* layer = NULL;
  mxact_layer_facts facts;
  mxact_layer_stage stages[MOST_STAGES], again;
  size_t i;
  CHECK(mxact_layer_open(path, 0, choices, &layer) == MXACT_LAYER_OK);
  if (layer == NULL) return;
  CHECK(mxact_layer_facts_of(layer, &facts) == MXACT_LAYER_OK);
  CHECK(facts.experts == 8 && facts.hidden == 256 && facts.intermediate == 256);
  CHECK(strlen(facts.arithmetic) > 0 && strlen(facts.sums_by) > 0);
  for (i = 0; i < count; ++i) stages[i] = memory_of(layer, names[i]);
  CHECK(mxact_layer_run(layer, TOKENS, TOP_K, input->x, input->ids, input->weights, NULL, 0, stages, count) == MXACT_LAYER_OK);
  for (i = 0; i < count; ++i) write_all(directory, set, &stages[i]);
  again = memory_of(layer, names[count - 1]);
  CHECK(mxact_layer_run(layer, TOKENS, TOP_K, NULL, input->ids, input->weights, stages, 1, &again, 1) == MXACT_LAYER_OK);
  CHECK(memcmp(again.memory, stages[count - 1].memory, again.bytes) == 0);

  /* What is refused leaves the results alone. */
  memset(again.memory, 0x5A, again.bytes);
  --again.bytes;
  CHECK(mxact_layer_run(layer, TOKENS, TOP_K, input->x, input->ids, input->weights, NULL, 0, &again, 1) == MXACT_LAYER_USAGE);
  CHECK(strstr(mxact_layer_error(), "bytes, must have") != NULL);
  ++again.bytes;
  CHECK(mxact_layer_run(layer, TOKENS, TOP_K, NULL, input->ids, input->weights, NULL, 0, &again, 1) == MXACT_LAYER_USAGE);
  CHECK(mxact_layer_run(layer, TOKENS, TOP_K, input->x, input->ids, NULL, NULL, 0, &again, 1) == MXACT_LAYER_USAGE);
  CHECK(((const unsigned char*)again.memory)[0] == 0x5A);
  CHECK(mxact_layer_run(layer, TOKENS, 0, input->x, input->ids, input->weights, NULL, 0, &again, 1) == MXACT_LAYER_USAGE);
  CHECK(mxact_layer_run(NULL, TOKENS, TOP_K, input->x, input->ids, input->weights, NULL, 0, &again, 1) == MXACT_LAYER_USAGE);
  {
    mxact_layer_form form;
    CHECK(mxact_layer_form_of(layer, "h14", TOKENS, TOP_K, &form) == MXACT_LAYER_USAGE);
    CHECK(strstr(mxact_layer_error(), "did you mean h13?") != NULL);
  }
  free(again.memory);
  for (i = 0; i < count; ++i) free(stages[i].memory);
  mxact_layer_close(layer);
}

int main(int argc, char** argv) {
  static const char* const kBackend[] = {"h13", "act", "y", "out"};
  static const char* const kContract[] = {"h13", "act", "act_codes", "act_scales", "y", "out"};
  struct input input;
  mxact_layer* layer = NULL;
  if (argc != 6) return 2;
  input.x = read_all(argv[2], TOKENS * 256 * 2);
  input.ids = read_all(argv[3], TOKENS * TOP_K * 4);
  input.weights = read_all(argv[4], TOKENS * TOP_K * 4);
  run(argv[1], "backend=TRITON,platform=SM90,engine=2026-05", "backend", kBackend, 4, &input, argv[5]);
  run(argv[1], "backend=MARLIN,platform=SM90,launch.blocks=3,launch.w2.blocks=5", "launched", kBackend, 4, &input, argv[5]);
  run(argv[1], "contract=int8-block", "contract", kContract, 6, &input, argv[5]);

  CHECK(mxact_layer_open(argv[1], 0, "backend=MARLINE,platform=SM90", &layer) == MXACT_LAYER_USAGE && layer == NULL);
  CHECK(strstr(mxact_layer_error(), "MARLIN") != NULL);
  CHECK(mxact_layer_open(argv[1], 7, "backend=MARLIN,platform=SM90", &layer) == MXACT_LAYER_USAGE);
  CHECK(mxact_layer_open(argv[1], 0, "platform=SM90", &layer) == MXACT_LAYER_USAGE);
  CHECK(mxact_layer_open(argv[1], 0, "backend=MARLIN,platform=SM90,tp=2", &layer) == MXACT_LAYER_USAGE);
  CHECK(strstr(mxact_layer_error(), "which of the 2 ranks is run?") != NULL);
  CHECK(mxact_layer_open(argv[1], 0, "backend=MARLIN,platform=SM90,backend=TRITON", &layer) == MXACT_LAYER_USAGE);
  CHECK(strstr(mxact_layer_error(), "backend: is given twice") != NULL);
  CHECK(mxact_layer_open(argv[1], 0, "contract=int8-block,platform=SM90", &layer) == MXACT_LAYER_USAGE);
  CHECK(strcmp(mxact_layer_error(), "platform: is of a backend's kernels, and a contract is of none") == 0);
  CHECK(mxact_layer_open(argv[1], 0, "backend=MARLIN,platform=SM90,launch.block=3", &layer) == MXACT_LAYER_USAGE);
  CHECK(strstr(mxact_layer_error(), "did you mean block_m?") != NULL);
  CHECK(mxact_layer_open(argv[1], 0, "backend=MARLIN,platform=SM90,launch.blocks=0", &layer) == MXACT_LAYER_USAGE);
  CHECK(mxact_layer_open(argv[1], 0, "backend=MARLIN,platform=SM90,launch.tuned=none.json", &layer) == MXACT_LAYER_INPUT);
  CHECK(strstr(mxact_layer_error(), "none.json") != NULL);
  /* A tile that the kernel has not: the launch reaches it. */
  CHECK(mxact_layer_open(argv[1], 0, "backend=MARLIN,platform=SM90,launch.tile_k=48", &layer) == MXACT_LAYER_OK);
  {
    unsigned char memory[4 * 256 * 2];
    const mxact_layer_stage out = {"out", memory, sizeof memory};
    CHECK(mxact_layer_run(layer, TOKENS, TOP_K, input.x, input.ids, input.weights, NULL, 0, &out, 1) == MXACT_LAYER_USAGE);
    CHECK(strstr(mxact_layer_error(), "launch of MARLIN") != NULL);
    mxact_layer_close(layer);
    layer = NULL;
  }
  CHECK(mxact_layer_open(argv[1], 0, "contract=int8-block,launch.blocks=3", &layer) == MXACT_LAYER_USAGE);
  CHECK(strcmp(mxact_layer_error(), "launch: is of a backend's kernels, and a contract is of none") == 0);
  CHECK(mxact_layer_open(argv[1], 0, "colour=blue", &layer) == MXACT_LAYER_USAGE);
  CHECK(mxact_layer_open("/nowhere", 0, "contract=int8-block", &layer) == MXACT_LAYER_INPUT);
  CHECK(mxact_layer_open(NULL, 0, NULL, &layer) == MXACT_LAYER_USAGE && layer == NULL);
  mxact_layer_close(NULL);
  free((void*)input.x);
  free((void*)input.ids);
  free((void*)input.weights);
  if (failures == 0) printf("all checks passed\n");
  return failures != 0;
}
