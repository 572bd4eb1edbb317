// mxact layer: one layer on given tokens in a backend's arithmetic, stage by stage.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/conversion_options.hpp"
#include "cli/document.hpp"
#include "cli/env_option.hpp"
#include "cli/interrupt.hpp"
#include "cli/layout_options.hpp"
#include "cli/numbers.hpp"
#include "cli/progress_line.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "model/numerics/contract.hpp"
#include "support/contract_file.hpp"
#include "support/memory.hpp"
#include "support/tuned_file.hpp"
#include "verbs/layer/layer_document.hpp"
#include "verbs/numbers/numbers.hpp"

namespace mx::cli {
namespace {

struct LayerOptions {
  ConversionChoice choice;
  verbs::LayerRequest request;
  std::string contract;
  std::vector<std::string> scales;
  std::string launch;
  int memory_gib = 0;  ///< 0: not typed
  std::string progress;
  DocumentOptions out;
};

std::string stage_names() {
  std::string names;
  for (const sim::StageRow& row : sim::stage_rows()) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

int layer(LayerOptions options) {
  require_outputs(options.out);
  verbs::LayerRequest& request = options.request;
  request.path = options.choice.checkpoint;
  request.force = options.out.force;
  request.choice.sums = options.choice.reference ? sim::SumsBy::model : sim::SumsBy::twins;
  request.most_memory = options.memory_gib == 0 ? support::physical_memory() : static_cast<std::uint64_t>(options.memory_gib) << 30U;
  if (!options.scales.empty()) {
    if (options.scales.size() != 2) throw Error(ErrorCode::usage, "is FIRST,SECOND: of x, and of what enters the second product", "--input-scale");
    request.choice.scales = sim::StaticScales{verbs::parse_code(options.scales[0], kF32), verbs::parse_code(options.scales[1], kF32)};
  }
  if (!options.contract.empty()) request.contract = contract_named(support::contract_word(options.contract));
  request.choice.launch = support::launch_of(options.launch);
  if (request.contract && !options.launch.empty())
    throw Error(ErrorCode::usage, "is of a backend's kernels: under a contract there are none", "--launch");
  if (request.contract && request.choice.scales)
    throw Error(ErrorCode::usage, "is of a backend's quantizers: under a contract nothing is quantized by a calibrated scale", "--input-scale");
  if (sim::is_packed(request.path)) {
    require_nothing_to_pack(options.choice);
  } else if (request.contract) {
    request.convert = reading_options_of(options.choice);
  } else {
    require_platform(options.choice);
    take_engines_choice(options.choice);
    for (const std::string& backend : options.choice.backends) require_layout(engine_of(options.choice), backend);
    request.convert = options_of(options.choice);
  }
  const InterruptWatch watch;
  request.convert.stop = [&watch] { return watch.interrupted(); };
  try {
    verbs::Document document = [&] {
      ProgressLine line(options.progress);
      request.begun = [&line](const std::string& what) { line.show(what); };
      return verbs::layer_document(request);
    }();
    document.about(request.path);
    if (!sim::is_packed(request.path)) note_variables(document, options.choice.variables, engine_of(options.choice));
    return show(document, options.out);
  } catch (const support::Stopped&) {
    fmt::print(stderr, "mxact: interrupted; nothing was written\n");
    return interrupted_status();
  }
}

}  // namespace

void add_layer(Verb app, Action& action) {
  const Verb verb = app.add_verb("layer", "one layer on given tokens as a backend computes it: any stage, from any stage, written or compared");
  const auto options = std::make_shared<LayerOptions>();
  verbs::LayerRequest& request = options->request;
  add_conversion_options(verb, options->choice, true);
  verb.add_option("--layer", request.choice.layer, "the number in the names of its tensors").required().check(whole_number_in(0, 1 << 20));
  verb.add_option("--x", request.x, "what enters: FILE.npy or FILE.safetensors[:NAME], [tokens, hidden], BF16, or F32 numbers that bf16 has");
  verb.add_option("--ids", request.ids, "likewise the expert of each slot: [tokens, top_k], I32 or I64; -1: none");
  verb.add_option("--weights", request.weights, "likewise the weight of each slot: [tokens, top_k], F32 or BF16");
  verb.add_flag("--router", request.choice.routes, "ids and weights by the layer's own router");
  verb.add_option("--input-scale", options->scales,
                  "FIRST,SECOND: calibrated scales of x and of what enters the second product, where they are quantized by one")
      .listed();
  verb.add_option(
      "--contract", options->contract,
      "both products under this contract, a name, a record or @FILE, on no device, all between them in fp32: by the fused kernels where they "
      "have it (bf16-chain, bf16-block, bf16-pair, int8-block)");
  add_launch_option(verb, options->launch);
  verb.add_option("--stages", request.stages,
                  fmt::format("of {}; several with commas (default: all behind the start). mxact help stages says what each is", stage_names()))
      .listed();
  verb.add_option("--from", request.from, "STAGE=FILE: start behind a stage of yours; of codes and scales both, several with commas").listed();
  const Option expect =
      verb.add_option("--expect", request.expect, "compare with these stages instead of writing: the first difference, and the rule that makes it");
  verb.add_option("-o,--output", request.output, "FILE.safetensors, or FILE.npy of one stage, to write").excludes(expect);
  verb.add_option("--memory", options->memory_gib, "GiB that a run may take (default: this machine's); what it takes is worked out before")
      .check(whole_number_in(1, 1 << 20));
  add_progress_option(verb, options->progress);
  add_check_options(verb, options->out);
  verb.callback([&action, options] { action = [options] { return layer(*options); }; });
}

}  // namespace mx::cli
