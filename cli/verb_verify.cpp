// mxact verify: a checkpoint through every backend on every platform.

#include <fmt/core.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/engine_option.hpp"
#include "cli/interrupt.hpp"
#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/pace.hpp"
#include "cli/picture_file.hpp"
#include "cli/verbs.hpp"
#include "model/error.hpp"
#include "model/families/memory.hpp"
#include "sim/verify/verify.hpp"
#include "verbs/layout/subject.hpp"

namespace mx::cli {
namespace {

using sim::Cell;
using sim::ConversionResult;
using sim::Verdict;
using sim::VerifyReport;

struct Options {
  std::optional<std::string> checkpoint;  ///< none: generate one
  std::vector<std::string> platforms;
  std::vector<std::string> backends;
  std::string engine;
  std::vector<int> tp{1, 2};
  std::vector<std::string> contracts;
  int layers = 0;
  std::int64_t tokens = 4;
  std::int64_t seed = 1;
  std::string output;
  std::string progress;
  bool reference = false;
  bool force = false;
  bool json = false;
};

/// A directory that is gone when the run ends; its files stay readable as long as they are mapped.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mxact-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw Error(ErrorCode::resource, "no temporary directory can be made", pattern);
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string sizes_text(std::int64_t from, std::int64_t to) { return from == to ? std::to_string(from) : fmt::format("{} -> {}", from, to); }

std::string how_text(const Cell& cell) { return cell.request == "auto" ? "chosen" : "as " + cell.request; }

/// What was compared, or why nothing was.
std::string evidence(const ConversionResult& result) {
  switch (result.verdict) {
    case Verdict::passed:
      return fmt::format("{} units, {} outputs{}{}{}{}", result.units_compared, result.outputs_compared, result.execution.empty() ? "" : ": ",
                         result.execution, result.detail.empty() ? "" : "; ", result.detail);
    case Verdict::failed:
      return fmt::format("{} of {} units, {} of {} outputs differ", result.units_differing, result.units_compared, result.outputs_differing,
                         result.outputs_compared);
    case Verdict::mistrusted:
    case Verdict::refused:
    case Verdict::not_modelled: return result.detail;
  }
  return "";
}

void print_cells(const VerifyReport& report) {
  std::vector<std::vector<std::string>> rows{{"platform", "TP", "backend", "how", "hidden", "intermediate", "verdict", "compared"}};
  std::string last;
  for (const Cell& cell : report.cells) {
    const std::string group = cell.platform + std::to_string(cell.tp);
    const bool first = group != last;
    last = group;
    std::vector<std::string> row{first ? cell.platform : "", first ? std::to_string(cell.tp) : ""};
    if (cell.conversion) {
      const ConversionResult& result = report.conversions[*cell.conversion];
      for (const std::string& text :
           {result.backend, how_text(cell), sizes_text(result.sizes.hidden, result.padded.hidden),
            sizes_text(result.sizes.intermediate, result.padded.intermediate), std::string(name_of(result.verdict)), evidence(result)}) {
        row.push_back(text);
      }
    } else {
      for (const std::string& text : {std::string("-"), how_text(cell), std::string(), std::string(), std::string(name_of(Verdict::refused)),
                                      cell.decision.refusal->error_type + ": " + cell.decision.refusal->text}) {
        row.push_back(text);
      }
    }
    rows.push_back(row);
  }
  print_table(rows);
}

std::string contracts_text(const VerifyReport& report) {
  if (report.contracts.empty()) return "each backend's own, at most 128 rows and columns of each product: quantizers x contract, and on what grounds";
  std::string text;
  for (Contract contract : report.contracts) text += (text.empty() ? "" : ", ") + std::string(name_of(contract));
  return text;
}

/// One line that runs the same check again.
std::string replay(const Options& options, Engine engine, const Cell& cell) {
  std::string path;
  for (char c : options.checkpoint.value_or("")) path += c == '\'' ? std::string("'\\''") : std::string(1, c);
  std::string line = options.checkpoint ? fmt::format("mxact verify '{}'", path) : "mxact verify";
  line += fmt::format(" --platform {} --backend {} --tp {} --tokens {} --seed {}", cell.platform, cell.decision.choice->backend, cell.tp,
                      options.tokens, options.seed);
  if (engine != kDefaultEngine) line += fmt::format(" --engine {}", name_of(engine));
  for (const std::string& contract : options.contracts) line += " --contract " + contract;
  if (options.layers > 0) line += fmt::format(" --layers {}", options.layers);
  if (options.reference) line += " --reference";
  return line;
}

void print_text(const VerifyReport& report, const Options& options) {
  const layout::Sizes& sizes = report.sizes;
  fmt::print("checkpoint  {} ({})\n", report.checkpoint, report.form);
  fmt::print("layers      {} of {}: {} experts, hidden {}, intermediate {}, top {}\n", report.layers_verified, report.layers, sizes.experts,
             sizes.hidden, sizes.intermediate, report.top_k);
  fmt::print("tokens      {} a layer, {}; router: {}\n", report.tokens, report.token_source, report.router_source);
  fmt::print("contracts   {}\n", contracts_text(report));
  fmt::print("engine      {}\n\n", name_of(report.engine));
  print_cells(report);
  fmt::print("\n");
  for (const ConversionResult& result : report.conversions) {
    if (result.verdict == Verdict::failed) fmt::print("FAILED {} TP={}: {}\n", result.backend, result.tp, result.detail);
  }
  for (const sim::ExpectedResult& expected : report.expected) {
    fmt::print(
        "{} layer {}: exact execution is within {:.3f} ulp of the recorded float64 output (limit {}; {} values; worst at token {}, column {})\n",
        name_of(expected.verdict), expected.layer, expected.worst_ulp, sim::kExpectedUlps, expected.values, expected.token, expected.column);
  }
  fmt::print("{} cells: {} passed, {} failed, {} mistrusted, {} refused, {} not yet modelled\n", report.cells.size(), report.count(Verdict::passed),
             report.count(Verdict::failed), report.count(Verdict::mistrusted), report.count(Verdict::refused), report.count(Verdict::not_modelled));
  if (report.broken_choices() > 0) {
    fmt::print("{} cells in which the engine itself chooses a backend whose converter then refuses this checkpoint\n", report.broken_choices());
  }
  if (report.count(Verdict::passed) == 0 && report.count(Verdict::failed) == 0) fmt::print("nothing passed: nothing was verified\n");
  for (const Cell& cell : report.cells) {
    if (report.verdict(cell) != Verdict::failed) continue;
    fmt::print("replay: {}\n", replay(options, report.engine, cell));
    break;
  }
}

/// What the layout verbs and reports take for the scales of w2; null where the backend is not modelled.
Json layout_json(const ConversionResult& result) {
  const layout::BackendLayout* row = sim::backend_of(result);
  if (row == nullptr) return nullptr;
  return golden::spec_of(golden::BackendChoice{row, layout::Role::w2_weight_scale, sim::setting_of(result)});
}

Json conversion_json(const ConversionResult& result) {
  return {{"backend", result.backend},
          {"tp", result.tp},
          {"hidden", result.sizes.hidden},
          {"rounded_hidden", result.padded.hidden},
          {"intermediate", result.sizes.intermediate},
          {"rounded_intermediate", result.padded.intermediate},
          {"layout", layout_json(result)},
          {"verdict", name_of(result.verdict)},
          {"detail", result.detail},
          {"execution", result.execution},
          {"units_compared", result.units_compared},
          {"units_differing", result.units_differing},
          {"outputs_compared", result.outputs_compared},
          {"outputs_differing", result.outputs_differing}};
}

Json as_json(const VerifyReport& report, const Options& options) {
  Json json = json_head("verify");
  json["engine"] = name_of(report.engine);
  json["checkpoint"] = {{"path", report.checkpoint},
                        {"form", report.form},
                        {"layers", report.layers},
                        {"layers_verified", report.layers_verified},
                        {"experts", report.sizes.experts},
                        {"hidden", report.sizes.hidden},
                        {"intermediate", report.sizes.intermediate},
                        {"top_k", report.top_k}};
  json["tokens"] = {{"count", report.tokens}, {"source", report.token_source}, {"router", report.router_source}, {"seed", options.seed}};
  json["contracts"] = Json::array();
  for (Contract contract : report.contracts) json["contracts"].push_back(name_of(contract));
  json["conversions"] = Json::array();
  for (const ConversionResult& result : report.conversions) json["conversions"].push_back(conversion_json(result));
  json["cells"] = Json::array();
  for (const Cell& cell : report.cells) {
    Json row{{"platform", cell.platform}, {"tp", cell.tp}, {"request", cell.request}, {"verdict", name_of(report.verdict(cell))}};
    if (cell.conversion) {
      row["backend"] = cell.decision.choice->backend;
      row["kernel_class"] = cell.decision.choice->kernel_class;
      row["conversion"] = *cell.conversion;
    } else {
      row["refusal"] = {{"error_type", cell.decision.refusal->error_type}, {"text", cell.decision.refusal->text}};
    }
    json["cells"].push_back(row);
  }
  json["expected"] = Json::array();
  for (const sim::ExpectedResult& expected : report.expected) {
    json["expected"].push_back({{"layer", expected.layer},
                                {"values", expected.values},
                                {"worst_ulp", expected.worst_ulp},
                                {"limit_ulp", sim::kExpectedUlps},
                                {"verdict", name_of(expected.verdict)}});
  }
  json["totals"] = {{"cells", report.cells.size()},
                    {"passed", report.count(Verdict::passed)},
                    {"failed", report.count(Verdict::failed)},
                    {"mistrusted", report.count(Verdict::mistrusted)},
                    {"refused", report.count(Verdict::refused)},
                    {"not_modelled", report.count(Verdict::not_modelled)}};
  json["exit_code"] = report.exit_code();
  return json;
}

/// Its files are gone once it is open: mapped, they stay readable, and an interrupted run leaves nothing behind.
sim::Checkpoint generated_checkpoint(std::uint64_t seed) {
  const TemporaryDirectory temporary;
  sim::SyntheticShape shape;
  shape.seed = seed;
  sim::write_synthetic_checkpoint(temporary.path() / "gpt-oss-generated", shape);
  return sim::Checkpoint(temporary.path() / "gpt-oss-generated");
}

int verify(const Options& options) {
  if (!options.output.empty()) require_svg(options.output, options.force);
  sim::VerifyOptions how;
  how.platforms = options.platforms;
  how.backends = options.backends;
  how.engine = engine_named(options.engine);
  how.tp = options.tp;
  how.tokens = options.tokens;
  how.by = options.reference ? sim::MoveBy::model : sim::MoveBy::plans;
  how.seed = static_cast<std::uint64_t>(options.seed);
  if (options.layers > 0) how.max_layers = options.layers;
  if (!options.contracts.empty()) {
    how.contracts.clear();
    for (const std::string& name : options.contracts) how.contracts.push_back(contract_named(name));
  }
  if (options.checkpoint && options.checkpoint->empty()) throw Error(ErrorCode::usage, "the path is empty", "CHECKPOINT");
  const sim::Checkpoint checkpoint = options.checkpoint ? sim::Checkpoint(*options.checkpoint) : generated_checkpoint(how.seed);
  VerifyReport report;
  try {
    const InterruptWatch watch;
    PaceLine line(options.progress);
    how.progress = [&line](const std::string& text, std::uint64_t done, std::uint64_t total) { line.show(text, done, total); };
    how.stop = [&watch] { return watch.interrupted(); };
    report = sim::verify(checkpoint, how);
  } catch (const sim::Stopped&) {
    fmt::print(stderr, "mxact: interrupted; not every layer was verified, and no verdict stands\n");
    return kInterrupted;
  }
  if (!options.checkpoint) report.checkpoint = fmt::format("generated, seed {}", options.seed);
  if (!options.output.empty()) write_picture(options.output, as_json(report, options), options.force);
  if (options.json)
    print_json(as_json(report, options));
  else
    print_text(report, options);
  return report.exit_code();
}

}  // namespace

void add_verify(Verb app, Action& action) {
  const Verb verb = app.add_verb("verify", "the main job: select, round, convert, restore, execute, compare bits, for every backend and platform");
  const auto options = std::make_shared<Options>();
  verb.add_option("CHECKPOINT", options->checkpoint,
                  "a .safetensors file or a model directory (default: a small gpt-oss-shaped one made from the seed)");
  const auto list = [verb](const std::string& name, auto& values, const std::string& help) {
    // One value an option, or several with commas: the next word may be the checkpoint.
    return verb.add_option(name, values, help).listed();
  };
  list("--platform", options->platforms, "only these platforms: SM75 .. SM121, gfx90a .. gfx1250, XPU, CPU");
  list("--backend", options->backends, "only these backends");
  add_engine_option(verb, options->engine);
  list("--tp", options->tp, "tensor parallel sizes (default 1,2)");
  list("--contract", options->contracts, "arithmetic contracts (default exact,f32-sequential)");
  verb.add_option("--layers", options->layers, "verify the first N layers only").check(whole_number_in(1, 1 << 20));
  verb.add_option("--tokens", options->tokens, "tokens to generate when the checkpoint brings none (default 4)").check(whole_number_in(1, 65536));
  verb.add_option("--seed", options->seed, "seed of everything generated (default 1)").check(whole_number_in(0, INT64_MAX));
  verb.add_option("-o,--output", options->output, "writes the verdicts as a picture too, FILE.svg");
  add_progress_option(verb, options->progress);
  verb.add_flag("--reference", options->reference, "convert by the model alone instead of the fast twin");
  verb.add_flag("--force", options->force, "overwrite the picture");
  verb.add_flag("--json", options->json, "machine-readable output");
  verb.callback([&action, options] { action = [options] { return verify(*options); }; });
}

}  // namespace mx::cli
