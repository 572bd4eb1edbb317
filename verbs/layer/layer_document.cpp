#include "verbs/layer/layer_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "model/error.hpp"
#include "model/families/fnuz.hpp"
#include "sim/layer/compare_stages.hpp"
#include "support/digest.hpp"
#include "support/file.hpp"
#include "verbs/convert/convert_document.hpp"
#include "verbs/layer/tensor_files.hpp"

namespace mx::verbs {
namespace {

using sim::LayerStage;
using sim::LayerTokens;
using sim::StageComparison;
using sim::StageValues;

[[noreturn]] void refuse(const std::string& text, const std::string& where) { throw Error(ErrorCode::usage, text, where); }

/// What --from gave.
std::vector<StageValues> read_start(const std::vector<std::string>& words) {
  std::vector<StageValues> start;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) refuse(fmt::format("'{}' is not STAGE=FILE", word), "--from");
    const sim::StageRow& row = sim::stage_named(word.substr(0, equals));
    if (std::ranges::find(start, row.stage, &StageValues::stage) != start.end()) refuse(fmt::format("{} is given twice", row.name), "--from");
    start.push_back(stage_of(read_tensor(word.substr(equals + 1), row.name), row.stage));
  }
  std::ranges::sort(start, {}, &StageValues::stage);
  return start;
}

std::vector<LayerStage> stages_named(const std::vector<std::string>& names) {
  std::vector<LayerStage> stages;
  for (const std::string& name : names) {
    const LayerStage stage = sim::stage_named(name).stage;
    if (std::ranges::find(stages, stage) == stages.end()) stages.push_back(stage);
  }
  return stages;
}

/// Of a matrix [tokens, `columns`] that has some of both.
std::int64_t columns_of(const FileTensor& tensor, std::string_view columns) {
  const bool is_matrix = tensor.shape.size() == 2;
  if (is_matrix && tensor.shape[0] > 0 && tensor.shape[1] > 0) return tensor.shape[1];
  const std::string shape = fmt::format("has shape [{}]", fmt::join(tensor.shape, ", "));
  if (is_matrix && tensor.shape[0] == 0) refuse(fmt::format("{}: no token, and a layer is run on one or more", shape), tensor.where);
  if (is_matrix) refuse(fmt::format("{}: {} is 0, must be 1 or more", shape, columns), tensor.where);
  refuse(fmt::format("{}, must be [tokens, {}]", shape, columns), tensor.where);
}

LayerTokens read_tokens(const LayerRequest& request, bool needs_x) {
  LayerTokens tokens;
  if (!request.x.empty()) {
    const FileTensor x = read_tensor(request.x, "x");
    tokens.columns = columns_of(x, "hidden");
    tokens.x = bf16_codes(x);
  }
  if (request.x.empty() && needs_x) refuse("is missing: [tokens, hidden] of bf16 numbers", "--x");
  if (request.choice.routes) {
    if (!request.ids.empty() || !request.weights.empty()) refuse("the router says what --ids and --weights say", "--router");
    if (request.x.empty()) refuse("the router reads --x", "--router");
    return tokens;
  }
  if (request.ids.empty()) refuse("is missing: [tokens, top_k] of expert numbers; or --router", "--ids");
  const FileTensor ids = read_tensor(request.ids, "ids");
  tokens.top_k = columns_of(ids, "top_k");
  tokens.ids = whole_numbers(ids);
  if (request.weights.empty()) return tokens;
  const FileTensor weights = read_tensor(request.weights, "weights");
  if (weights.shape != ids.shape)
    refuse(fmt::format("has shape [{}], ids have [{}]", fmt::join(weights.shape, ", "), fmt::join(ids.shape, ", ")), weights.where);
  tokens.weights = f32_bits(weights);
  return tokens;
}

int step_of(LayerStage stage) { return sim::row_of(stage).step; }

std::string summing(std::string_view twin) { return twin.empty() ? "the model, number by number" : std::string(twin); }

std::string_view engine_of(const sim::OpenedLayer& layer) { return deployment::name_of(layer.setting.engine); }
std::string_view engine_of(const sim::OpenedContractLayer& layer) { return deployment::name_of(layer.engine); }

/// Which layer of what, and of which rank.
void add_place(Document& document, int layer, const std::string& prefix, int rank, int ranks) {
  document.field("layer", "layer", layer, prefix + (ranks == 1 ? "" : fmt::format(", rank {} of {}", rank, ranks)));
  document.value("prefix", prefix);
  document.value("rank", rank);
}

void add_end(Document& document, const LayerTokens& tokens, std::span<const layout::Loss> losses) {
  document.field("tokens", "tokens", tokens.tokens(), fmt::format("{}, {} experts each", tokens.tokens(), tokens.top_k));
  document.value("top_k", tokens.top_k);
  for (const layout::Loss& loss : losses) {
    if (loss.destroyed() > 0)
      document.note(
          fmt::format("packing loses {} values of {}: {}; the run is of what is left", loss.destroyed(), layout::name_of(loss.role), loss.what));
  }
}

void add_layer(Document& document, const sim::OpenedLayer& layer, const LayerTokens& tokens) {
  const families::Setting& setting = layer.setting;
  add_place(document, layer.layer, layer.prefix, layer.rank, setting.tp_size);
  document.field("backend", "backend", layer.backend, fmt::format("{} on {}", layer.backend, families::name_of(setting.arch)));
  document.value("setting", setting_json(setting));
  const families::Operation operation = families::operation_of(setting);
  const std::string how = sim::how_text(layer.experts.execution, operation, setting.computes(), false);
  document.field("arithmetic", "arithmetic", how);
  document.field("sums by", "sums_by", summing(sim::twin_of(layer.experts.execution)));
  add_end(document, tokens, layer.losses);
  for (const families::KnownDifference& known : families::differences_of(*layer.experts.execution.row, operation, setting.engine,
                                                                         *layer.experts.execution.first, *layer.experts.execution.second))
    document.note(fmt::format("a real kernel was seen to compute otherwise: {} ({})", families::where_text(known), known.source));
}

void add_layer(Document& document, const sim::OpenedContractLayer& layer, const LayerTokens& tokens) {
  add_place(document, layer.layer, layer.prefix, layer.rank, layer.ranks);
  document.field("contract", "contract", name_of(layer.experts.choices.contract));
  document.field("arithmetic", "arithmetic", sim::how_text(layer.experts));
  document.field("sums by", "sums_by", summing(sim::twin_of(layer.experts)));
  if (layer.experts.panels) document.value("kernel", sim::kernel_of(layer.experts));
  add_end(document, tokens, layer.losses);
}

Table made_table(std::span<const StageValues> stages) {
  Table table{"stages", {{"stage", "stage"}, {"dtype", "dtype"}, {"shape", "shape"}, {"digest", "digest"}, {"what", "what"}}};
  for (const StageValues& stage : stages) {
    table.add({sim::row_of(stage.stage).name,
               stage.dtype,
               {Json(stage.shape), fmt::format("[{}]", fmt::join(stage.shape, ", "))},
               support::digest_of(sim::bytes_of(stage)),
               sim::row_of(stage.stage).what});
  }
  return table;
}

/// Elements whose sums have no fixed order.
void add_unsettled(Document& document, std::span<const StageValues> stages) {
  Json all = Json::array();
  for (const StageValues& stage : stages) {
    if (stage.possible.empty()) continue;
    const std::string_view name = sim::row_of(stage.stage).name;
    const std::size_t most = most_possible(stage);
    all.push_back(Json{{"stage", name}, {"elements", stage.possible.size()}, {"values", most}});
    document.line(fmt::format("{}: {} of {} elements have no fixed value: slices of k are added in any order, which gives up to {} values", name,
                              stage.possible.size(), stage.words.size(), most));
  }
  if (!all.empty()) document.value("unsettled", std::move(all));
}

struct Compared {
  StageComparison comparison;
  std::string rule;  ///< that makes the file's first differing rows; empty: none that is known, or nothing differs
};

/// The stages of the last step before a stage; of the first one the run's start.
std::vector<StageValues> stages_before(LayerStage stage, std::span<const StageValues> made, std::span<const StageValues> start) {
  int step = -1;
  for (const StageValues& one : made) {
    if (step_of(one.stage) < step_of(stage)) step = std::max(step, step_of(one.stage));
  }
  std::vector<StageValues> before;
  for (const StageValues& one : made) {
    if (step_of(one.stage) == step) before.push_back(one);
  }
  if (before.empty()) before.assign(start.begin(), start.end());
  return before;
}

/// The first stage that differs is explained: later ones follow from it.
template <class Opened>
std::vector<Compared> compare(const Opened& layer, const LayerTokens& tokens, std::span<const StageValues> start, std::span<const StageValues> made,
                              std::span<const StageValues> expected, const LayerRequest& request) {
  std::vector<Compared> all;
  bool is_explained = false;
  for (const StageValues& given : expected) {
    const StageValues& own = *std::ranges::find(made, given.stage, &StageValues::stage);
    all.push_back({sim::compare_stage(layer.experts, tokens, own, given), {}});
    if (all.back().comparison.differing == 0 || is_explained) continue;
    is_explained = true;
    if (request.begun) request.begun("looking for a rule");
    const std::vector<StageValues> before = stages_before(given.stage, made, start);
    all.back().rule = sim::explanation(layer.experts, tokens, before, own, given, all.back().comparison);
  }
  return all;
}

void add_comparison(Document& document, std::span<const Compared> all) {
  Table table{"compared",
              {{"stage", "stage"},
               {"compared", "compared"},
               {"differing", "differing"},
               in_json("first"),
               in_json("where"),
               in_json("values"),
               in_json("rule")}};
  std::vector<std::string> lines;
  bool differs = false, is_blind = false;
  for (const auto& [comparison, rule] : all) {
    const std::string_view name = sim::row_of(comparison.stage).name;
    support::JunitCase one{"mxact.layer", std::string(name), support::CheckEnd::passed, {}};
    if (comparison.differing == 0) {
      table.add({name, comparison.compared, 0, Cell::none(), Cell::none(), Cell::none(), Cell::none()});
      if (comparison.is_blind) {
        one.end = support::CheckEnd::mistrusted;
        one.message = "every element has the same bits: it could not have shown a wrong place";
        lines.push_back(fmt::format("{}: {}", name, one.message));
        is_blind = true;
      }
    } else {
      table.add({name, comparison.compared, comparison.differing, comparison.first, comparison.where, comparison.values,
                 rule.empty() ? Cell::none() : Cell(rule)});
      one.end = support::CheckEnd::failed;
      one.message = comparison.values;
      one.place = comparison.where;
      lines.push_back(fmt::format("first difference of {}: {}: {}", name, comparison.where, comparison.values));
      if (!rule.empty()) lines.push_back("explained by: " + rule);
      if (rule.empty() && !differs) lines.emplace_back("no rule that is known here makes that token's rows");
      differs = true;
    }
    document.cases.push_back(std::move(one));
  }
  document.line();
  document.table(std::move(table));
  for (std::string& line : lines) document.line(std::move(line));
  document.ended(differs ? 1 : is_blind ? 5 : 0);
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr double kMib = 1024.0 * 1024, kGib = 1024 * kMib;
  const auto count = static_cast<double>(bytes);
  return count < kGib ? fmt::format("{:.1f} MiB", count / kMib) : fmt::format("{:.1f} GiB", count / kGib);
}

/// Memory of a run, said before it is taken.
void say_memory(const LayerRequest& request, std::string_view what, std::uint64_t bytes) {
  const std::string text = fmt::format("{}: up to {} of memory", what, bytes_text(bytes));
  if (bytes > request.most_memory)
    throw Error(ErrorCode::resource, fmt::format("{}, more than the {} that it may take", text, bytes_text(request.most_memory)), "--memory");
  if (request.begun) request.begun(text);
}

std::map<std::string, std::string> metadata_of(const Document& document) { return {{"mxact.layer-stages", body_json(document).dump()}}; }

/// What was asked for, read.
struct Asked {
  std::vector<LayerStage> wanted;
  std::vector<StageValues> start;
  std::vector<StageValues> expected;
  LayerTokens tokens;
};

Asked read_asked(const LayerRequest& request) {
  Asked asked{stages_named(request.stages), read_start(request.from), {}, {}};
  if (!request.expect.empty()) asked.expected = read_stages(request.expect, asked.wanted);
  asked.tokens = read_tokens(request, asked.start.empty());
  return asked;
}

void launch(sim::OpenedLayer& layer, const LayerTokens& tokens) {
  layer.experts = sim::settled(std::move(layer.experts), tokens.tokens(), tokens.top_k);
}
void launch(sim::OpenedContractLayer&, const LayerTokens&) {}

/// Runs and compares an opened layer whose experts take so many bytes.
template <class Opened>
Document document_of(const LayerRequest& request, Asked asked, Opened layer, std::uint64_t experts, const support::StopPoint& stop) {
  auto& [wanted, start, expected, tokens] = asked;
  if (request.choice.routes) sim::take_router(layer, tokens);
  say_memory(request, "experts and tokens", experts + sim::run_bytes(layer.experts, tokens));
  launch(layer, tokens);
  const std::vector<LayerStage> all = sim::stages_behind(sim::stage_forms(layer.experts, tokens), tokens, start);
  for (const StageValues& given : expected) {
    if (std::ranges::find(wanted, given.stage) == wanted.end()) wanted.push_back(given.stage);
  }
  if (wanted.empty()) wanted = all;
  for (const LayerStage stage : wanted) {
    const bool lacks_weights = tokens.weights.empty() && step_of(stage) >= step_of(LayerStage::y);
    if (lacks_weights) refuse(fmt::format("are missing: {} takes them", sim::row_of(stage).name), "--weights");
  }
  // To explain a stage takes those before it.
  std::vector<LayerStage> run = expected.empty() ? wanted : all;
  for (const LayerStage stage : wanted) {
    if (std::ranges::find(run, stage) == run.end()) run.push_back(stage);
  }
  const std::vector<StageValues> made = sim::run_layer(layer.experts, tokens, start, run, stop, [&](std::string_view step) {
    if (request.begun) request.begun(std::string(step));
  });
  std::vector<StageValues> shown;
  for (const StageValues& stage : made) {
    if (std::ranges::find(wanted, stage.stage) != wanted.end()) shown.push_back(stage);
  }

  Document document{"layer", std::string(engine_of(layer))};
  document.value("path", request.path);
  add_layer(document, layer, tokens);
  document.line();
  document.table(made_table(shown));
  add_unsettled(document, shown);
  if (!request.output.empty()) {
    write_stages(request.output, shown, metadata_of(document), request.force);
    document.field("written", "output", request.output);
  }
  if (!expected.empty()) add_comparison(document, compare(layer, tokens, start, made, expected, request));
  return document;
}

}  // namespace

Document layer_document(const LayerRequest& request) {
  if (!request.output.empty()) {
    require_stage_file(request.output);
    support::require_writable(request.output, request.force);
  }
  const support::StopPoint stop(request.convert.stop);
  Asked asked = read_asked(request);
  std::uint64_t experts = 0;
  sim::LayerChoice choice = request.choice;
  choice.takes = [&](std::uint64_t bytes) { say_memory(request, "the layer's experts", experts = bytes); };
  if (request.contract)
    return document_of(request, std::move(asked), sim::open_contract_layer(request.path, request.convert, *request.contract, choice), experts, stop);
  sim::OpenedLayer layer =
      sim::is_packed(request.path) ? sim::open_packed_layer(request.path, choice, stop) : sim::open_layer(request.path, request.convert, choice);
  return document_of(request, std::move(asked), std::move(layer), experts, stop);
}

}  // namespace mx::verbs
