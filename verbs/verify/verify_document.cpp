#include "verbs/verify/verify_document.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/families/memory.hpp"
#include "model/grounds.hpp"
#include "sim/execute/run_backend.hpp"
#include "support/quote.hpp"
#include "verbs/convert/convert_document.hpp"
#include "verbs/layout/subject.hpp"
#include "verbs/select/engine_notes.hpp"
#include "verbs/select/row_words.hpp"
#include "verbs/verify/legend.hpp"

namespace mx::verbs {
namespace {

using sim::ConversionResult;
using sim::Verdict;
using sim::VerifyReport;
using support::CheckEnd;

constexpr std::string_view kSuite = "mxact.verify";

std::string sizes_text(std::int64_t from, std::int64_t to) { return from == to ? std::to_string(from) : fmt::format("{} -> {}", from, to); }

/// "; lost: w13_weight 12 codes made anew, w2_weight ..": numbers by tensor; empty where nothing is.
std::string losses_text(const ConversionResult& result) {
  std::string text;
  for (const layout::Loss& loss : result.losses)
    text += fmt::format("{} {} {} {}", text.empty() ? "; lost:" : ",", layout::name_of(loss.role), loss.units, loss.what);
  return text;
}

Json losses_json(const ConversionResult& result) {
  Json losses = Json::array();
  for (const layout::Loss& loss : result.losses)
    losses.push_back({{"tensor", layout::name_of(loss.role)}, {"units", loss.units}, {"what", loss.what}});
  return losses;
}

/// What was compared, or why nothing was.
std::string evidence(const ConversionResult& result) {
  switch (result.verdict) {
    case Verdict::passed:
    case Verdict::known_to_differ:
      return fmt::format("{} units, {} outputs{}{}{}{}{}", result.units_compared, result.outputs_compared, result.execution.empty() ? "" : ": ",
                         result.execution, result.detail.empty() ? "" : "; ", result.detail, losses_text(result));
    case Verdict::failed:
      return fmt::format("{} of {} units, {} of {} outputs differ", result.units_differing, result.units_compared, result.outputs_differing,
                         result.outputs_compared);
    case Verdict::mistrusted:
    case Verdict::refused:
    case Verdict::not_modelled: return result.detail;
  }
  return "";
}

std::string experts_text(const VerifyReport& report) {
  const std::int64_t all = report.sizes.experts;
  return report.experts_verified == all ? std::to_string(all) : fmt::format("{} of {}", report.experts_verified, all);
}

std::string contracts_text(const VerifyReport& report) {
  if (!report.executed) return "none: nothing is executed";
  if (report.contracts.empty()) return "each backend's own: quantizers x contract, and on what grounds";
  std::string text;
  for (Contract contract : report.contracts) text += (text.empty() ? "" : ", ") + std::string(name_of(contract));
  return text;
}

/// What is not looked at, and what therefore does not show.
std::string sample_text(const VerifyReport& report) {
  const std::int64_t rows = std::min(report.sizes.intermediate, sim::kComputedRows);
  const std::int64_t columns = std::min(report.sizes.hidden, sim::kComputedRows);
  const bool all_units = report.compared_every == 1;
  const bool all_outputs = rows == report.sizes.intermediate && columns == report.sizes.hidden;
  std::string text = "every unit is restored";
  std::string hidden;
  if (all_units) {
    text += " and compared at its address";
  } else {
    text += fmt::format("; of large tensors at least 1 in {} pieces of {} units is compared at its address", report.compared_every,
                        layout::kComparedPiece);
    hidden = "what lies wrong between pieces and is restored to its place";
  }
  if (report.executed && all_outputs) text += "; every output is computed";
  if (report.executed && !all_outputs) {
    text += fmt::format("; {} of {} rows of gate and up and {} of {} outputs are computed, over all of K", rows, report.sizes.intermediate, columns,
                        report.sizes.hidden);
    hidden += std::string(hidden.empty() ? "" : ", and ") + "what a kernel computes wrong in other rows";
  }
  return hidden.empty() ? text : text + "; not seen: " + hidden;
}

/// One line that runs the same check again.
std::string replay(const sim::VerifyRequest& asked, deployment::Engine engine, const sim::Cell& cell) {
  std::string line = "mxact verify";
  if (asked.checkpoint) line += " " + support::shell_word(*asked.checkpoint);
  if (asked.deployment.empty()) {
    line += fmt::format(" --platform {} --backend {} --tp {}", cell.platform, cell.backend, cell.tp);
  } else {
    line += fmt::format(" --deployment {} --backend {}", support::shell_word(asked.deployment_file), cell.backend);
  }
  line += fmt::format(" --tokens {} --seed {}", asked.tokens, asked.seed);
  if (asked.dp > 1) line += fmt::format(" --dp {}", asked.dp);
  if (asked.expert_parallel) line += " --ep";
  for (const auto& [name, value] : asked.env) line += " --env " + support::shell_word(name + "=" + value);
  if (engine != deployment::kDefaultEngine) line += fmt::format(" --engine {}", deployment::name_of(engine));
  for (const std::string& library : asked.libraries) line += " --library " + library;
  for (const std::string& contract : asked.contracts) line += " --contract " + contract;
  if (!asked.launch.empty()) line += " --launch " + asked.launch;
  if (asked.layers > 0) line += fmt::format(" --layers {}", asked.layers);
  if (asked.layer_group > 0) line += fmt::format(" --layer-group {}", asked.layer_group);
  if (asked.experts > 0) line += fmt::format(" --experts {}", asked.experts);
  if (asked.no_execute) line += " --no-execute";
  if (asked.reference) line += " --reference";
  return line;
}

/// Why there is no conversion.
std::string refusal_text(const sim::Cell& cell) { return cell.refusal->error_type + ": " + cell.refusal->text; }

/// "chosen", or by which name the engine would take it.
std::string way_text(const sim::Cell& cell) {
  if (cell.request == "auto") return "chosen";
  return "as " + cell.request + (cell.heard ? "" : ", not heard");
}

/// Needs that the choice does not meet, in words; none of a cell without a backend.
Cell broken_json(const sim::Cell& cell) {
  if (cell.backend.empty()) return Cell::none();
  Json json = Json::array();
  for (const families::KernelNeed* need : cell.broken) json.push_back(audit::broken_text(*need));
  return json;
}

/// A name, or none.
Cell or_dash(const std::string& name) {
  if (!name.empty()) return name;
  Cell none = Cell::none();
  none.text = "-";
  return none;
}

/// "PASSED", and what was lost on the way.
std::string verdict_text(const VerifyReport& report, const ConversionResult& result, Verdict verdict) {
  const std::string lost = result.verdict == Verdict::passed ? report.lost_text(result) : "";
  return fmt::format("{}{}{}", sim::name_of(verdict), lost.empty() ? "" : ", ", lost);
}

Table cells_of(const VerifyReport& report, const sim::VerifyRequest& asked) {
  Table table{"cells",
              {{"platform", "platform"},
               {"tp", "TP"},
               in_json("request"),
               {"backend", "backend"},
               in_json("kernel_class"),
               in_json("conversion"),
               in_text("how"),
               in_text("hidden"),
               in_text("intermediate"),
               {"verdict", "verdict"},
               in_json("refusal"),
               in_text("compared"),
               in_json("broken"),
               in_json("again")}};
  std::string last;
  for (const sim::Cell& cell : report.cells) {
    const std::string group = cell.platform + std::to_string(cell.tp);
    const bool first = group != last;
    last = group;
    const Verdict verdict = report.verdict(cell);
    const Cell platform{cell.platform, first ? cell.platform : ""};
    const Cell tp{cell.tp, first ? std::to_string(cell.tp) : ""};
    const std::string how = way_text(cell);
    const Cell none = Cell::none();
    if (!cell.conversion) {
      const Cell refusal = cell.refusal ? Cell(Json{{"error_type", cell.refusal->error_type}, {"text", cell.refusal->text}}) : none;
      table.add({platform, tp, cell.request, or_dash(cell.backend), or_dash(cell.kernel_class), none, how, "", "", sim::name_of(verdict), refusal,
                 refusal_text(cell), broken_json(cell), none});
      continue;
    }
    const ConversionResult& result = report.conversions[*cell.conversion];
    table.add({platform,
               tp,
               cell.request,
               result.backend,
               cell.kernel_class,
               *cell.conversion,
               how,
               sizes_text(result.sizes.hidden, result.padded.hidden),
               sizes_text(result.sizes.intermediate, result.padded.intermediate),
               {sim::name_of(verdict), verdict_text(report, result, verdict)},
               none,
               evidence(result),
               broken_json(cell),
               verdict == Verdict::failed ? Cell(replay(asked, report.engine, cell)) : none});
  }
  return table;
}

/// What the layout verbs and reports take for the scales of w2; null where the backend is not modelled.
Json layout_json(const ConversionResult& result) {
  const families::BackendLayout* row = sim::backend_of(result);
  if (row == nullptr) return nullptr;
  return spec_of(BackendChoice{row, layout::Role::w2_weight_scale, sim::setting_of(result)});
}

Json conversion_json(const ConversionResult& result) {
  return {{"backend", result.backend},
          {"tp", result.tp},
          {"hidden", result.sizes.hidden},
          {"rounded_hidden", result.padded.hidden},
          {"intermediate", result.sizes.intermediate},
          {"rounded_intermediate", result.padded.intermediate},
          {"layout", layout_json(result)},
          {"verdict", sim::name_of(sim::said(result))},
          {"detail", result.detail},
          {"not_asked", result.not_asked},
          {"losses", losses_json(result)},
          {"execution", result.execution},
          {"grounds", sim::grounds_json(result.grounds)},
          {"recorded", recorded_json(result.grounds.empty() ? nullptr : families::find_execution(result.form.format, result.backend), result.arch)},
          {"known_to_differ", sim::places_json(result.known_to_differ)},
          {"units", result.units},
          {"units_compared", result.units_compared},
          {"units_differing", result.units_differing},
          {"outputs_compared", result.outputs_compared},
          {"outputs_differing", result.outputs_differing}};
}

CheckEnd end_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
    case Verdict::known_to_differ: return CheckEnd::passed;
    case Verdict::failed: return CheckEnd::failed;
    case Verdict::mistrusted: return CheckEnd::mistrusted;
    case Verdict::refused:
    case Verdict::not_modelled: break;
  }
  return CheckEnd::skipped;
}

support::JunitCase case_of(const VerifyReport& report, const sim::VerifyRequest& asked, const sim::Cell& cell) {
  const Verdict verdict = report.verdict(cell);
  support::JunitCase one{fmt::format("{}.{}.tp{}", kSuite, cell.platform, cell.tp), {}, end_of(verdict), {}};
  one.file = report.checkpoint;
  if (!cell.conversion) {
    one.name = cell.backend.empty() ? fmt::format("no backend ({})", cell.request) : fmt::format("{} ({})", cell.backend, cell.request);
    one.message = fmt::format("{}: {}", sim::name_of(verdict), refusal_text(cell));
    return one;
  }
  const ConversionResult& result = report.conversions[*cell.conversion];
  one.name = fmt::format("{} ({})", result.backend, cell.request);
  one.message = fmt::format("{}: {}", sim::name_of(verdict), evidence(result));
  if (result.seconds > 0) one.seconds = result.seconds;
  if (verdict == Verdict::known_to_differ) {
    one.word = sim::name_of(verdict);
    one.properties.emplace_back("verdict", one.word);
    for (const sim::KnownPlace& place : result.known_to_differ)
      one.properties.emplace_back(kKnownToDiffer, fmt::format("{} ({})", place.where, place.source));
  }
  if (verdict == Verdict::failed) one.place = result.detail;
  if (verdict == Verdict::failed || verdict == Verdict::mistrusted) one.replay = replay(asked, report.engine, cell);
  return one;
}

/// Which faults were not looked for, once for all conversions that lack the same.
void add_not_asked(Document& document, const VerifyReport& report) {
  std::vector<std::string> said;
  for (const ConversionResult& result : report.conversions) {
    for (const std::string& text : result.not_asked) {
      if (std::ranges::find(said, text) != said.end()) continue;
      said.push_back(text);
      document.line("not asked: " + text);
    }
  }
}

std::string expected_text(const sim::ExpectedResult& expected) {
  const bool is_far = !(expected.worst_ulp <= sim::kExpectedUlps);
  const std::string distance = is_far ? fmt::format("{:.2g} ulp from", expected.worst_ulp) : fmt::format("within {:.3f} ulp of", expected.worst_ulp);
  return fmt::format("{} layer {}: exact execution is {} the recorded float64 output (limit {}; {} values; worst at token {}, column {})",
                     sim::name_of(expected.verdict), expected.layer, distance, sim::kExpectedUlps, expected.values, expected.token, expected.column);
}

void add_expected(Document& document, const VerifyReport& report) {
  Table table{
      "expected",
      {in_json("layer"), in_json("values"), in_json("worst_ulp"), in_json("limit_ulp"), in_json("token"), in_json("column"), in_json("verdict")}};
  for (const sim::ExpectedResult& expected : report.expected) {
    const std::string text = expected_text(expected);
    table.add(
        {expected.layer, expected.values, expected.worst_ulp, sim::kExpectedUlps, expected.token, expected.column, sim::name_of(expected.verdict)});
    document.line(text);
    document.cases.push_back({std::string(kSuite) + ".recorded",
                              fmt::format("layer {}", expected.layer),
                              end_of(expected.verdict),
                              text,
                              fmt::format("token {}, column {}", expected.token, expected.column),
                              {},
                              report.checkpoint});
  }
  document.value(table.key, table.json());
}

}  // namespace

Document verify_document(const VerifyReport& report, const sim::VerifyRequest& asked) {
  const layout::Sizes& sizes = report.sizes;
  Document document{"verify", std::string(deployment::name_of(report.engine))};
  add_values(document, report.values);
  document.field("checkpoint", "checkpoint",
                 {{"path", report.checkpoint},
                  {"form", report.form},
                  {"layers", report.layers},
                  {"layers_verified", report.layers_verified},
                  {"experts", sizes.experts},
                  {"experts_verified", report.experts_verified},
                  {"hidden", sizes.hidden},
                  {"intermediate", sizes.intermediate},
                  {"top_k", report.top_k}},
                 fmt::format("{} ({})", report.checkpoint, report.form));
  document.field("layers", {}, {},
                 fmt::format("{} of {}: {} experts, hidden {}, intermediate {}, top {}", report.layers_verified, report.layers, experts_text(report),
                             sizes.hidden, sizes.intermediate, report.top_k));
  document.field("tokens", "tokens",
                 {{"count", report.tokens}, {"source", report.token_source}, {"router", report.router_source}, {"seed", asked.seed}},
                 fmt::format("{} a layer, {}; router: {}", report.tokens, report.token_source, report.router_source));
  Json contracts = Json::array();
  for (Contract contract : report.contracts) contracts.push_back(name_of(contract));
  document.field("contracts", "contracts", std::move(contracts), contracts_text(report));
  document.field("sample", "sample", {{"compared_every", report.compared_every}, {"rows", sim::kComputedRows}, {"text", sample_text(report)}},
                 sample_text(report));
  document.field("engine", {}, {}, document.engine);
  EngineNotes notes(document, asked_engine(asked.engine));
  notes.arithmetic();
  notes.libraries();
  notes.variables(asked.env);
  document.line();
  Json conversions = Json::array();
  for (const ConversionResult& result : report.conversions) conversions.push_back(conversion_json(result));
  document.value("conversions", std::move(conversions));
  for (const ConversionResult& result : report.conversions) notes.conversion(result.backend, result.standing);
  document.table(cells_of(report, asked));
  document.line();
  for (const sim::Cell& cell : report.cells) document.cases.push_back(case_of(report, asked, cell));
  add_layer_groups(document, report.layer_groups, report.layer_group, "not verified here");
  add_not_asked(document, report);
  for (const sim::Cell& cell : report.cells) {
    if (cell.request != "auto") continue;
    for (const families::KernelNeed* need : cell.broken) {
      document.line(
          fmt::format("{} TP={} {}: broken: {}; select --strict avoids it", cell.platform, cell.tp, cell.backend, audit::broken_text(*need)));
    }
  }
  for (const ConversionResult& result : report.conversions) {
    if (result.verdict == Verdict::failed) document.line(fmt::format("FAILED {} TP={}: {}", result.backend, result.tp, result.detail));
  }
  add_expected(document, report);
  document.value("totals", {{"cells", report.cells.size()},
                            {"passed", report.count(Verdict::passed)},
                            {"known_to_differ", report.count(Verdict::known_to_differ)},
                            {"failed", report.count(Verdict::failed)},
                            {"mistrusted", report.count(Verdict::mistrusted)},
                            {"refused", report.count(Verdict::refused)},
                            {"not_modelled", report.count(Verdict::not_modelled)}});
  document.line(fmt::format("{} {}: {} passed, {} known to differ, {} failed, {} mistrusted, {} refused, {} not yet modelled", report.cells.size(),
                            report.cells.size() == 1 ? "cell" : "cells", report.count(Verdict::passed), report.count(Verdict::known_to_differ),
                            report.count(Verdict::failed), report.count(Verdict::mistrusted), report.count(Verdict::refused),
                            report.count(Verdict::not_modelled)));
  if (report.broken_choices() > 0) {
    document.note(fmt::format("{} {} in which the engine chooses a backend and then fails, or its converter refuses this checkpoint",
                              report.broken_choices(), report.broken_choices() == 1 ? "cell" : "cells"));
  }
  if (report.held() + report.count(Verdict::failed) == 0) document.note("nothing passed: nothing was verified");
  for (const std::string& hint : report.hints) document.note(hint);
  for (const sim::Cell& cell : report.cells) {
    if (report.verdict(cell) != Verdict::failed) continue;
    document.line("replay: " + replay(asked, report.engine, cell));
    break;
  }
  const int code = report.exit_code();
  const bool warned = code == 0 && asked.fail_on_warning && report.warnings() > 0;
  if (warned) document.note(fmt::format("{} warning{}, and --fail-on-warning", report.warnings(), report.warnings() == 1 ? "" : "s"));
  add_legend(document, report);
  document.ended(warned ? 1 : code);
  if (document.exit_code == 0 && report.is_known_to_differ()) document.verdict = sim::name_of(Verdict::known_to_differ);
  return document;
}

Document verify_part_document(const sim::VerifyPart& part, const std::string& file) {
  std::int64_t units = 0, outputs = 0, differing = 0;
  std::vector<std::string> failed;
  for (const ConversionResult& result : part.report.conversions) {
    units += result.units_compared;
    outputs += result.outputs_compared;
    differing += result.units_differing + result.outputs_differing;
    if (result.verdict == Verdict::failed) failed.push_back(fmt::format("FAILED {} TP={}: {}", result.backend, result.tp, result.detail));
  }
  Document document{"verify-part", std::string(deployment::name_of(part.report.engine))};
  document.field("checkpoint", "checkpoint", part.report.checkpoint, part.report.checkpoint);
  document.field("share", "share", {{"index", part.share.index}, {"count", part.share.count}},
                 fmt::format("{} of {}: {} units and {} outputs compared, {} differ", part.share.index, part.share.count, units, outputs, differing));
  document.field("part", "part", file, file + ": no verdict before `mxact verify merge` of all of them");
  document.value("units_compared", units);
  document.value("outputs_compared", outputs);
  document.value("differing", differing);
  for (const std::string& line : failed) document.line(line);
  // What did not fail has not passed yet.
  if (!failed.empty()) document.ended(1);
  return document;
}

}  // namespace mx::verbs
