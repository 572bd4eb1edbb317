#include "cli/help_topics.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "sim/execute/stages.hpp"

namespace mx::cli {
namespace {

constexpr std::array kTopics{
    HelpTopic{"exit-status", "what a verb's exit status means",
              "0    passed\n"
              "1    a check failed: bits differ, a law broke, two profiles differ, the ledger disagrees\n"
              "2    usage: an unknown verb, option or name, a value out of its range\n"
              "3    an input file is not there, truncated, malformed or contradicts itself; an output file or\n"
              "     directory exists already, and --force is not given\n"
              "4    unsupported here: a backend refuses, a processor lacks a tier, an entry has no model,\n"
              "     a version of the engine is not known\n"
              "5    nothing ran, or the data could not have told right from wrong (MISTRUSTED): no proof;\n"
              "     of ver: vectors are missing or all answers are equal; of others: give more varied data\n"
              "6    resource: disk full, out of memory, a file that cannot be read or written\n"
              "70   a mistake of mxact itself: please report it\n"
              "130  interrupted (SIGINT), 143 ended from outside (SIGTERM); what was complete stays, what was not is gone"},
    HelpTopic{"verdicts", "the words that end a check",
              "PASSED      everything was compared, bit for bit, and is equal\n"
              "KNOWN TO DIFFER\n"
              "            so it is, but a real kernel was seen to compute otherwise, at the places that are named\n"
              "FAILED      the first difference follows, with its place, both values and a command that repeats it\n"
              "MISTRUSTED  equal, but the data (all zero, all equal) would have hidden the faults that it stands for\n"
              "REFUSED     the backend takes no such checkpoint; the rule and the value follow\n"
              "not yet modelled\n"
              "            counted and shown, never taken for a pass"},
    HelpTopic{"profiles", "whose dialect of a number format",
              "A profile names how one implementation rounds, overflows, treats NaN and chooses block scales.\n"
              "Nothing is implied: without --profile it is ocp, and every output names the one that was used.\n"
              "\n"
              "    mxact formats                                    # all of them\n"
              "    mxact encode e4m3fn 450 --profile hip-nosat\n"
              "    mxact compare ml_dtypes cuda-satfinite e4m3fn    # where two of them part"},
    HelpTopic{"contracts", "how a dot product is ordered and rounded",
              "A contract says in which order products are added, grouped, scaled and rounded, and on what\n"
              "grounds: run, read in its source, assumed, ... (the legend stands under the list). 'exact' is one rounding of the exact sum.\n"
              "\n"
              "    mxact formats                                    # all of them, with their grounds\n"
              "    mxact verify --contract exact,hopper-bf16"},
    HelpTopic{"layouts", "names, shapes and coordinates of packed tensors",
              "NAME is a backend (with --tensor) or a building block; `mxact layout list` has both.\n"
              "--shape of a layer is IxH or ExIxH: experts, intermediate, hidden; of a block RxC or BxRxC.\n"
              "--coord names axes: half=up,I=3,K=17; those that are not named are 0.\n"
              "--address counts as the layout does (layout show says in which bits), --byte counts bytes.\n"
              "\n"
              "    mxact layout show sf_128x4 --shape 100x6\n"
              "    mxact layout where TRITON --format mxfp4 --tensor w2_weight --shape 2x256x256 --coord E=1,N=4,K=3\n"
              "    mxact layout draw sf_128x4 --shape 128x8 -o scales.svg"},
    HelpTopic{"deployments", "a model, or the files that select and sim read",
              "A model is its directory or config.json; the card and the sizes are options, the rest the engine reads there.\n"
              "An INFO file says the hardware, the software, the parallelism and the layer. A misspelt key is an\n"
              "error with the nearest one, never ignored. docs/deployment.md lists every key.\n"
              "\n"
              "    mxact select MODEL --platform B200 --tp 8\n"
              "    mxact select docs/examples/gpt-oss-b200.info --explain\n"
              "    mxact sim docs/examples/sim-b200.info --compare"},
    HelpTopic{"checkpoints", "what is read, and what is written",
              "CHECKPOINT is a .safetensors file or a model directory with its index. The form (gpt-oss, standard,\n"
              "compressed-tensors, ModelOpt, FP8 blocks, Quark, DeepSeek-V4) is read from names, dtypes and\n"
              "config.json; one that is ambiguous is refused. Output appears whole or not at all, carries tags of\n"
              "its layout and what the way back needs, and never replaces files without --force.\n"
              "expected.safetensors beside a checkpoint has tokens for verify, and outputs that it is held to:\n"
              "layers.N.mlp.x and layers.N.mlp.out.f64 (docs/convert.md).\n"
              "\n"
              "    mxact convert MODEL --backend MARLIN --platform sm90 -o OUT\n"
              "    mxact restore OUT -o BACK"},
    HelpTopic{"jobs", "one conversion by many processes",
              "plan divides a conversion into jobs with names, run does one and is idempotent, merge checks that\n"
              "every job is there once and as it was written. Scripts: docs/examples/convert-*.sh.\n"
              "\n"
              "    mxact plan MODEL --backend MARLIN --platform sm90 --converted OUT -o plan.json\n"
              "    mxact run plan.json --job 0,1\n"
              "    mxact merge plan.json"},
    HelpTopic{"devices", "asking the model what a device should answer",
              "gen writes operands, one vector a line, in hex; the device appends its answer; ver checks and names\n"
              "the rule that would explain what it sees. Both take the same options.\n"
              "\n"
              "    mxact gen --list\n"
              "    mxact gen f32_to_e4m3fn --no-header | DEVICE | mxact ver f32_to_e4m3fn"},
    HelpTopic{"environment", "variables that are read",
              "MXACT_ISA        forces one tier of instruction sets (mxact --version lists them); unknown or\n"
              "                 unable here is an error, never another tier\n"
              "MXACT_PROGRESS   auto, always or never: what verbs say on stderr of how far they are\n"
              "OMP_NUM_THREADS  threads; results never depend on it\n"
              "RC_PARAMS        of the laws: seed=..., max_success=..., reproduce=... (refused where CI is set)\n"
              "CI               set by continuous integration: a replay is not a test"},
    HelpTopic{"json", "what --json prints",
              "One object. \"schema\" is mxact-VERB/N and changes its number when a meaning changes; \"mxact\" holds\n"
              "version, commit, command line, processor and time; \"exit_code\" is the exit status. The JSON Schema is\n"
              "docs/schema/mxact.json. Errors go to standard error in any case. `mxact report` takes such files, of\n"
              "any number of runs, and makes one page of them.\n"
              "\n"
              "    mxact verify --json > verify.json\n"
              "    mxact report verify.json -o report.html"},
    HelpTopic{"checks", "what continuous integration reads",
              "verify, witness, ver, sim and audit write every check that they make: --junit as JUnit's XML, --markdown\n"
              "as a summary for a page. A difference is a failure; what was compared on data that could not have told\n"
              "right from wrong is an error of type MISTRUSTED; what was not compared is skipped and says why. A run\n"
              "that does not end with 0 has a failing check of its own. Files are overwritten with --force alone.\n"
              "\n"
              "    mxact verify MODEL --junit checks.xml --markdown summary.md"},
};

/// The table of stages, each with its lines.
std::string stages_text() {
  std::string text =
      "T tokens, S = T * top_k slots: token by token, the experts of each in the order of its ids. H is the\n"
      "layer's hidden size, I the intermediate size that the kernel has, padded. Rows are row-major; a slot\n"
      "without an expert (id -1) has zeros.\n";
  for (const sim::StageRow& row : sim::stage_rows()) text += fmt::format("\n{:<11} {}, {}\n            {}", row.name, row.shape, row.dtype, row.what);
  return text +
         "\n\n    mxact layer MODEL --platform B200 --layer 0 --x x.npy --router --stages h13,out -o stages.safetensors\n"
         "    mxact layer MODEL --platform B200 --layer 0 --x x.npy --router --from h13=mine.npy --expect theirs.safetensors";
}

}  // namespace

std::span<const HelpTopic> help_topics() {
  static const std::string stages = stages_text();
  static const std::vector<HelpTopic> all = [] {
    std::vector<HelpTopic> topics(kTopics.begin(), kTopics.end());
    topics.push_back({"stages", "what a layer computes on its way from x to out", stages});
    return topics;
  }();
  return all;
}

}  // namespace mx::cli
