// mxact matrix: what the engine's oracles answer over models, schemes, platforms and parallelisms.

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/document.hpp"
#include "cli/engine_option.hpp"
#include "cli/env_option.hpp"
#include "cli/numbers.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "support/file.hpp"
#include "support/stopwatch.hpp"
#include "verbs/matrix/matrix_document.hpp"
#include "verbs/matrix/picture.hpp"

namespace mx::cli {
namespace {

struct MatrixOptions {
  verbs::MatrixRequest request;
  std::string engine;
  std::vector<std::string> variables;
  std::string output;  ///< .svg or .html
  int tp = 0;          ///< 0: not typed, as below
  int dp = 0;
  bool expert_parallel = false;
  bool explain = false;
  bool count = false;
  DocumentOptions out;
};

/// The picture that the ending of the file's name asks for.
std::string picture_of(const verbs::Matrix& matrix, const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (ending == ".svg") return verbs::matrix_svg(matrix);
  if (ending == ".html") return verbs::matrix_html(matrix);
  throw Error(ErrorCode::usage, fmt::format("-o takes a file that ends in .svg or .html, not '{}'", path.string()));
}

int run(const MatrixOptions& given) {
  MatrixOptions options = given;
  options.request.env = variables_of(given.variables);
  options.request.engine = deployment::engine_named(given.engine);
  options.request.release = deployment::release_named(given.engine);
  if (given.tp != 0 || given.dp != 0 || given.expert_parallel)
    options.request.spreads = {verbs::spread_name(std::max(given.tp, 1), std::max(given.dp, 1), given.expert_parallel)};
  if (!options.output.empty()) support::require_writable(options.output, options.out.force);
  const support::Stopwatch watch;
  const verbs::Matrix matrix = verbs::run_matrix(options.request, options.explain ? engine::Detail::texts : engine::Detail::codes);
  const double seconds = watch.seconds();
  if (!options.output.empty()) {
    const std::string picture = picture_of(matrix, options.output);
    support::write_file(options.output, {reinterpret_cast<const std::uint8_t*>(picture.data()), picture.size()}, options.out.force);
  }
  if (!options.count) return show(verbs::matrix_document(matrix, options.explain), options.out, options.output.empty());
  if (!options.out.json) fmt::print(stderr, "{} deployments in {:.3f} s\n", matrix.deployments(), seconds);
  return show(verbs::matrix_counts_document(matrix), options.out);
}

}  // namespace

void add_matrix(Verb app, Action& action) {
  const Verb verb = app.add_verb("matrix", "backend x platform x parallelism: chosen, possible, or refused and why");
  const auto options = std::make_shared<MatrixOptions>();
  const Option served = verb.add_option("MODEL", options->request.served, "a model's directory or config.json, in the place of --model and --scheme");
  verb.add_option("--model", options->request.models, "gpt-oss-120b, DeepSeek-V3, ...; repeat for several (default: every model of the table)")
      .excludes(served);
  const Option scheme = verb.add_option("--scheme", options->request.schemes,
                                        "mxfp4, nvfp4, fp8-block, ...; repeat for several (default: those of the model's published checkpoints)")
                            .excludes(served);
  verb.add_option("--oracle", options->request.oracles, "schemes of this oracle alone: mxfp4, mxfp4_deepseek_v4, nvfp4, fp8, mxfp8, w4a8")
      .excludes(served);
  add_engine_option(verb, options->engine);
  verb.add_option("--platform", options->request.platforms,
                  "SM100, gfx950, CPU, or a card (B200, MI355X), ...; repeat for several (default: every preset)");
  constexpr int kMostRanks = 4096;
  const Option parallel = verb.add_option("--parallel", options->request.spreads,
                                          "tp8, dp8-ep-deepep-ll, ... or tpN-dpM-ep; repeat for several (default: every row of the table)");
  verb.add_option("--tp", options->tp, "tensor parallel size, as --parallel tpN").check(whole_number_in(1, kMostRanks)).excludes(parallel);
  verb.add_option("--dp", options->dp, "data parallel size, as --parallel dpN").check(whole_number_in(1, kMostRanks)).excludes(parallel);
  verb.add_flag("--ep", options->expert_parallel, "ranks share the experts whole, as --parallel ..-ep").excludes(parallel);
  add_env_option(verb, options->variables);
  verb.add_flag("--full", options->request.every_scheme, "every model in every scheme, published or not").excludes(scheme).excludes(served);
  verb.add_flag("--explain", options->explain, "what was asked and what the class takes, for every refusal");
  verb.add_flag("--count", options->count, "how many deployments, choices and refusals; the time goes to stderr");
  verb.add_option("-o,--output", options->output, "writes a picture, FILE.svg or FILE.html, instead of the tables");
  verb.add_flag("--force", options->out.force, "overwrite the file");
  add_json_option(verb, options->out, "machine-readable output: every cell; with --count the sums alone");
  verb.callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace mx::cli
