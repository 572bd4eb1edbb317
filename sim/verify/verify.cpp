#include "sim/verify/verify.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "checkpoint/conversion.hpp"
#include "checkpoint/shard.hpp"
#include "model/deployment/models.hpp"
#include "model/engine/vllm/method.hpp"
#include "model/engine/vllm/tables.hpp"
#include "model/error.hpp"
#include "model/families/carried.hpp"
#include "model/moe/layer.hpp"
#include "model/names.hpp"
#include "sim/execute/run_backend.hpp"
#include "sim/verify/check_layer.hpp"
#include "sim/verify/layer_config.hpp"
#include "support/random.hpp"

namespace mx::sim {
namespace {

using layout::Sizes;

/// The oracle that the engine asks about such a checkpoint.
const engine::OracleTables& oracle_of(const checkpoint::Checkpoint& checkpoint, deployment::Engine engine) {
  return engine::tables_of(engine, deployment::scheme_named(checkpoint.source_form().use.scheme).oracle);
}

/// Cells of one platform and tensor parallel size: the automatic choice, then every backend that answers to a name of its own.
class CellPlanner {
 public:
  CellPlanner(const checkpoint::Checkpoint& checkpoint, const VerifyOptions& options, VerifyReport& report)
      : checkpoint_(checkpoint),
        options_(options),
        report_(report),
        layer_(layer_config(checkpoint, common_activation(checkpoint, report.layers_verified), options.engine)) {}

  void plan(const deployment::PlatformPreset& platform, int tp) {
    std::set<std::string> seen;
    if (report_.sizes.intermediate % tp != 0) {
      report_.cells.push_back({.platform = std::string(platform.name),
                               .tp = tp,
                               .request = "auto",
                               .refusal = engine::Refusal{"AssertionError", "intermediate size " + std::to_string(report_.sizes.intermediate) +
                                                                                " is not divisible by " + std::to_string(tp)},
                               .decides = !options_.tp.empty()});
      return;
    }
    add(platform, tp, "auto", seen);
    for (std::string_view name : engine::user_names(oracle_of(checkpoint_, options_.engine))) {
      if (name != "auto") add(platform, tp, std::string(name), seen);
    }
    for (const std::string& backend : options_.backends) add_unreached(platform, tp, backend, seen);
  }

 private:
  deployment::Deployment deployment_of(const deployment::PlatformPreset& platform, int tp, const std::string& request) const {
    deployment::LayerConfig config = layer_;
    config.intermediate_per_partition = report_.sizes.intermediate / tp;
    config.moe_backend = request;
    deployment::ParallelRequest parallel;
    parallel.tp = tp;
    deployment::Deployment deployment = deployment::deployment_on(platform, parallel, config);
    const deployment::Scheme& scheme = deployment::scheme_named(checkpoint_.source_form().use.scheme);
    deployment.weight_key = scheme.weight_key;
    deployment.activation_key = scheme.activation_key;
    deployment.allow_vllm_cutlass = scheme.allow_vllm_cutlass;
    deployment.quant_method = checkpoint_.source_form().use.quant_method;
    deployment.env = options_.env;
    return deployment;
  }

  void add(const deployment::PlatformPreset& platform, int tp, const std::string& request, std::set<std::string>& seen) {
    const engine::OracleTables& tables = oracle_of(checkpoint_, options_.engine);
    deployment::Deployment deployment = deployment_of(platform, tp, request);
    Cell cell{.platform = std::string(platform.name), .tp = tp, .request = request};
    // A method that takes a class by the device does not hear the request; what the backend would do is shown all the same.
    cell.heard = request == "auto" || !engine::own_choice(tables, deployment).taken();
    if (!cell.heard) deployment.quant_method = "own";
    const deployment::Deployment asked = engine::as_asked(tables, deployment);
    const std::string finer = asked.weight_key == deployment.weight_key ? std::string() : asked.weight_key;
    add(platform, std::move(cell), audit::resolve(tables, deployment, engine::decide(tables, deployment, engine::Detail::texts)), finer, seen);
  }

  /// `finer`: the key of the blocks that the engine makes of those that a rank's share cuts; empty: it makes none.
  void add(const deployment::PlatformPreset& platform, Cell cell, const audit::Resolution& resolution, const std::string& finer,
           std::set<std::string>& seen) {
    const bool is_auto = cell.request == "auto";
    if (!resolution.decision.choice) {
      if (!is_auto) return;  // a name that the platform cannot serve is no cell
      cell.refusal = resolution.decision.refusal;
      cell.decides = !options_.platforms.empty();
      report_.cells.push_back(std::move(cell));
      return;
    }
    const engine::Choice& choice = *resolution.decision.choice;
    if (!wanted(choice.backend) || !seen.insert(choice.backend).second) return;
    cell.backend = choice.backend;
    cell.kernel_class = choice.kernel_class;
    cell.decides = is_auto || !options_.backends.empty();
    if (cell.heard) {
      cell.broken = resolution.broken;
      if (resolution.failure) cell.refusal = resolution.failure->refusal;
    }
    if (!cell.refusal) cell.conversion = finer.empty() ? conversion_of(platform, choice, cell.tp) : of_finer_blocks(choice, cell.tp, finer);
    report_.cells.push_back(std::move(cell));
  }

  std::size_t of_finer_blocks(const engine::Choice& choice, int tp, const std::string& key) {
    ConversionResult result{};
    result.backend = choice.backend;
    result.tp = tp;
    result.sizes = report_.sizes;
    result.sizes.intermediate = report_.sizes.intermediate / tp;
    result.padded = result.sizes;
    result.form = checkpoint_.layout_form();
    result.engine = options_.engine;
    result.verdict = Verdict::not_modelled;
    result.detail =
        choice.backend + ": the engine makes finer blocks, " + key + ", of those that a rank's share cuts; their scales are not in mxact yet";
    report_.conversions.push_back(result);
    return report_.conversions.size() - 1;
  }

  /// A backend that was asked for by --backend and that no name of the engine's leads to on this platform.
  void add_unreached(const deployment::PlatformPreset& platform, int tp, const std::string& backend, std::set<std::string>& seen) {
    const bool is_known = std::ranges::any_of(seen, [&](const std::string& name) { return same_name(name, backend); });
    if (is_known || options_.platforms.empty()) return;
    const engine::OracleTables& tables = oracle_of(checkpoint_, options_.engine);
    const auto row = std::ranges::find_if(tables.backends, [&](const engine::BackendRow& one) { return same_name(one.name, backend); });
    report_.cells.push_back({.platform = std::string(platform.name),
                             .tp = tp,
                             .request = backend,
                             .backend = std::string(row->name),
                             .refusal = engine::Refusal{"ValueError", engine::why_not(tables, deployment_of(platform, tp, "auto"), row->name)}});
  }

  bool wanted(std::string_view backend) const {
    return options_.backends.empty() ||
           std::any_of(options_.backends.begin(), options_.backends.end(), [&](const std::string& name) { return same_name(name, backend); });
  }

  std::size_t conversion_of(const deployment::PlatformPreset& platform, const engine::Choice& choice, int tp) {
    ConversionResult result{};
    result.backend = choice.backend;
    result.tp = tp;
    result.sizes = report_.sizes;
    result.sizes.experts = report_.experts_verified;
    result.sizes.intermediate = report_.sizes.intermediate / tp;
    result.padded = result.sizes;
    if (checkpoint_.source_form().use.rounds) {
      result.padded.hidden = choice.rounded_hidden;
      result.padded.intermediate = choice.rounded_intermediate;
    }
    result.form = checkpoint_.layout_form();
    result.activation = checkpoint_.converted_activation();
    result.has_bias = checkpoint_.has_bias();
    result.method = checkpoint::method_of(checkpoint_.source_form());
    const families::StandingConversion conversion = families::conversion_at(choice.backend, result.form.format, options_.engine);
    result.engine = conversion.stands() ? conversion.of : options_.engine;
    result.libraries = families::carried_libraries(conversion, options_.engine);
    result.libraries.insert(result.libraries.end(), options_.libraries.begin(), options_.libraries.end());
    if (conversion.row != nullptr) result.standing = families::standing_text(conversion, options_.engine);
    if (conversion.is_own(options_.engine) && decided_by_library(result)) result.standing = "as " + result.libraries.front() + " has it";
    result.env = options_.env;
    result.arch = families::arch_named(platform.name);
    std::string programs;
    try {
      programs = programs_of(result);
    } catch (const Error& error) {
      result.verdict = Verdict::refused;
      result.detail = error.what();
      report_.conversions.push_back(result);
      return report_.conversions.size() - 1;
    }
    const auto same = [&](const ConversionResult& other) {
      return other.backend == result.backend && other.tp == result.tp && other.padded == result.padded &&
             families::sums_alike(result.form.format, result.backend, other.arch, result.arch) && programs_of(other) == programs;
    };
    const auto known = std::find_if(report_.conversions.begin(), report_.conversions.end(), same);
    if (known != report_.conversions.end()) return static_cast<std::size_t>(known - report_.conversions.begin());
    result.detail = missing_of(result, choice);
    result.verdict = result.detail.empty() ? Verdict::passed : Verdict::not_modelled;
    report_.conversions.push_back(result);
    return report_.conversions.size() - 1;
  }

  /// What mxact lacks of the conversion; empty where it has all.
  static std::string missing_of(const ConversionResult& result, const engine::Choice& choice) {
    const families::BackendLayout* backend = backend_of(result);
    if (choice.kernel_class.empty()) return "the engine goes on without a kernel class; what it computes is not in mxact yet";
    if (backend == nullptr) {
      const std::string whose = choice.backend == engine::kNotAsked ? choice.kernel_class : choice.backend;
      return whose + (result.standing.empty() ? ": its memory is not in mxact yet" : ": its conversion was " + result.standing);
    }
    if (!is_modelled(result)) return choice.backend + ": its memory of experts without a gate is not in mxact yet";
    if (result.sizes.intermediate % result.sizes.group != 0) return {};
    for (const families::BrokenNeed& broken : families::broken_needs(*backend, setting_of(result))) {
      if (broken.need.is_ours) return choice.backend + ": " + std::string(broken.need.why);
    }
    return {};
  }

  const checkpoint::Checkpoint& checkpoint_;
  const VerifyOptions& options_;
  VerifyReport& report_;
  deployment::LayerConfig layer_;
};

std::vector<const deployment::PlatformPreset*> chosen_platforms(const std::vector<std::string>& names) {
  std::vector<const deployment::PlatformPreset*> platforms;
  if (names.empty()) {
    for (const deployment::PlatformPreset& preset : deployment::all_platforms()) platforms.push_back(&preset);
  }
  for (const std::string& name : names) platforms.push_back(&deployment::platform_named(name));
  return platforms;
}

/// Where else a backend of that name is: " (oracle mxfp4 has it; this checkpoint asks oracle fp8)".
std::string elsewhere(deployment::Engine engine, const engine::OracleTables& asked, const std::string& name) {
  for (const std::string_view other : engine::oracle_names(engine)) {
    if (other == asked.name) continue;
    const engine::OracleTables& tables = engine::tables_of(engine, other);
    if (std::ranges::any_of(tables.backends, [&](const engine::BackendRow& row) { return same_name(row.name, name); }))
      return " (oracle " + std::string(other) + " has it; this checkpoint asks oracle " + std::string(asked.name) + ")";
  }
  return {};
}

void check_options(const checkpoint::Checkpoint& checkpoint, const VerifyOptions& options) {
  std::vector<std::string_view> known;
  const engine::OracleTables& tables = oracle_of(checkpoint, options.engine);
  for (const engine::BackendRow& row : tables.backends) {
    if (!row.classes.empty()) known.push_back(row.name);
  }
  for (const std::string& name : options.backends) {
    if (std::none_of(known.begin(), known.end(), [&](std::string_view other) { return same_name(name, other); })) {
      throw Error(ErrorCode::usage, unknown_name("backend", name, known) + elsewhere(options.engine, tables, name));
    }
  }
  for (int tp : options.tp) {
    if (tp < 1 || tp > 1024) throw Error(ErrorCode::usage, "tensor parallel size " + std::to_string(tp) + " is not in 1..1024");
  }
  if (options.tokens < 1 || options.tokens > 65536) {
    throw Error(ErrorCode::usage, "token count " + std::to_string(options.tokens) + " is not in 1..65536");
  }
}

/// bf16 codes of about unit size: sign, exponents 2^-4 to 2^1, random mantissa.
std::vector<std::uint32_t> generated_tokens(std::uint64_t seed, int layer, std::int64_t count) {
  constexpr std::uint64_t kTokens = 0x746F6B656E73;  // "tokens": another stream than the weights of the same seed
  support::SplitMix64 random(seed ^ (kTokens + static_cast<std::uint64_t>(layer)));
  std::vector<std::uint32_t> codes;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t word = random.next();
    const auto exponent = static_cast<std::uint32_t>(123U + (word >> 8U) % 6U);
    const std::uint32_t sign = (word & 1U) == 0 ? 0 : 0x8000U;
    codes.push_back(sign | exponent << 7U | static_cast<std::uint32_t>(word >> 1U & 0x7FU));
  }
  return codes;
}

/// The distance of fp32 results from a float64 reference, in units of the last fp32 place of each row's largest reference.
ExpectedResult measure(int layer, std::span<const std::uint32_t> got, const checkpoint::Expected& expected) {
  ExpectedResult result;
  result.layer = layer;
  bool all_zero = true;
  const std::size_t width = expected.out_f64.size() / static_cast<std::size_t>(expected.tokens);
  for (std::size_t row = 0; row < static_cast<std::size_t>(expected.tokens); ++row) {
    double largest = 0;
    for (std::size_t n = 0; n < width; ++n) largest = std::max(largest, std::abs(std::bit_cast<double>(expected.out_f64[row * width + n])));
    const double ulp = largest > 0 ? std::ldexp(1.0, std::max(std::ilogb(largest) - 23, -149)) : 0x1p-149;
    all_zero = all_zero && largest == 0;
    for (std::size_t n = 0; n < width; ++n) {
      const double reference = std::bit_cast<double>(expected.out_f64[row * width + n]);
      const double distance = std::abs(static_cast<double>(std::bit_cast<float>(got[row * width + n])) - reference) / ulp;
      ++result.values;
      // Written so that a NaN on either side counts as the worst.
      if (!(distance <= result.worst_ulp)) {
        result.worst_ulp = std::isnan(distance) ? HUGE_VAL : distance;
        result.token = static_cast<std::int64_t>(row);
        result.column = static_cast<std::int64_t>(n);
      }
    }
  }
  if (result.values > 0 && result.worst_ulp <= kExpectedUlps) result.verdict = all_zero ? Verdict::mistrusted : Verdict::passed;
  return result;
}

/// No conversion that reads a spoilt number passes. Scales of activations are read where activations are quantized.
void distrust(const checkpoint::ScannedFault& fault, std::span<ConversionResult> conversions) {
  if (!checkpoint::spoils(fault.fault)) return;
  for (ConversionResult& result : conversions) {
    if (result.verdict != Verdict::passed) continue;
    if (fault.piece == checkpoint::Piece::aside && !quantizes_activations(result.form.format, result.backend)) continue;
    result.verdict = Verdict::mistrusted;
    result.detail = fault.text();
  }
}

/// The engine takes the tensors for what they are not: nothing made of them is right.
void condemn(const std::string& garbage, std::span<ConversionResult> conversions) {
  for (ConversionResult& result : conversions) {
    if (garbage.empty() || (result.verdict != Verdict::passed && result.verdict != Verdict::mistrusted)) continue;
    result.verdict = Verdict::failed;
    result.detail = "the first tensor " + garbage;
  }
}

/// The layer as if it had no more experts. They are the outermost axis of every tensor.
checkpoint::MoeLayer first_experts(checkpoint::MoeLayer layer, std::int64_t count) {
  const auto all = static_cast<std::size_t>(layer.experts.sizes.experts), kept = static_cast<std::size_t>(count);
  const auto cut = [&](auto& values) { values.resize(values.size() / all * kept); };
  for (std::vector<std::uint8_t>& tensor : layer.experts.tensors) cut(tensor);
  cut(layer.router.weight);
  cut(layer.router.bias);
  if (layer.own_router) layer.own_router = layer.own_router->first(count, layer.experts.sizes.experts);
  layer.experts.sizes.experts = count;
  return layer;
}

/// What a share has of a layer: `count` conversions from `first` on.
struct LayerShare {
  int layer;
  std::size_t first;
  std::size_t count;
  std::uint64_t bytes;  ///< of the layer's experts, as many of them as conversions
};

/// Layers of which a share has nothing are not even read. Where nothing is converted each layer is still a piece of work: it is read.
std::vector<LayerShare> shares_of(const checkpoint::Checkpoint& checkpoint, VerifyShare share, const VerifyReport& report) {
  const std::size_t each = std::max<std::size_t>(report.conversions.size(), 1);
  const std::size_t all = each * static_cast<std::size_t>(report.layers_verified);
  const auto end_of = [&](int index) { return all * static_cast<std::size_t>(index) / static_cast<std::size_t>(share.count); };
  const std::size_t begin = end_of(share.index - 1), end = end_of(share.index);
  std::vector<LayerShare> shares;
  for (std::size_t at = begin; at < end;) {
    const std::size_t layer = at / each, next = std::min((layer + 1) * each, end);
    std::uint64_t bytes = 0;
    for (const checkpoint::ExpertTensor& tensor : checkpoint.expert_tensors(static_cast<int>(layer))) bytes += tensor.at.view->bytes.size();
    shares.push_back({static_cast<int>(layer), at % each, std::min(next - at, report.conversions.size()), bytes * (next - at) / each});
    at = next;
  }
  return shares;
}

}  // namespace

VerifyReport planned_report(const checkpoint::Checkpoint& checkpoint, const VerifyOptions& options) {
  checkpoint.require_convertible();
  check_options(checkpoint, options);
  VerifyReport report{};
  report.engine = options.engine;
  report.checkpoint = checkpoint.path().string();
  report.form = checkpoint.form();
  report.layer_groups = checkpoint.layer_groups();
  report.layer_group = checkpoint.layer_group();
  report.sizes = checkpoint.sizes(0);
  report.layers = checkpoint.layer_count();
  report.layers_verified = std::min(report.layers, options.max_layers.value_or(report.layers));
  report.experts_verified = std::min(report.sizes.experts, options.max_experts.value_or(report.sizes.experts));
  report.top_k = static_cast<int>(std::min<std::int64_t>(checkpoint.top_k(), report.experts_verified));
  report.executed = options.executes;
  report.compared_every = 1;
  report.contracts = options.contracts;
  report.router_source = "checkpoint";
  CellPlanner planner(checkpoint, options, report);
  for (const deployment::PlatformPreset* platform : chosen_platforms(options.platforms)) {
    for (int tp : options.tp.empty() ? std::vector<int>{1, 2} : options.tp) planner.plan(*platform, tp);
  }
  return report;
}

VerifyReport verify(const checkpoint::Checkpoint& checkpoint, const VerifyOptions& options) {
  VerifyReport report = planned_report(checkpoint, options);
  const checkpoint::SourceForm& form = checkpoint.source_form();
  const support::StopPoint stop(options.stop);
  const std::vector<LayerShare> shares = shares_of(checkpoint, options.share, report);
  std::uint64_t before = 0, total = 0;
  for (const LayerShare& share : shares) total += share.bytes;
  for (const LayerShare& share : shares) {
    const int index = share.layer;
    const std::span<ConversionResult> conversions = std::span(report.conversions).subspan(share.first, share.count);
    // Before anything is made of them: whatever they come to, results of numbers that are none are no evidence.
    for (checkpoint::ScannedFault& fault : checkpoint.scan(index)) {
      distrust(fault, conversions);
      if (share.first == 0) report.values.push_back({checkpoint.layer_index(index), std::move(fault)});
    }
    const checkpoint::MoeLayer layer = first_experts(checkpoint.layer(index, stop), report.experts_verified);
    // Recorded outputs are of all experts.
    const bool whole = report.experts_verified == report.sizes.experts;
    const std::optional<checkpoint::Expected> expected = whole ? checkpoint::load_expected(checkpoint, index) : std::nullopt;
    const std::int64_t tokens = expected ? expected->tokens : options.tokens;
    report.tokens = tokens;
    report.token_source = expected ? "expected.safetensors" : "generated, seed " + std::to_string(options.seed);
    if (layer.own_router) {
      report.router_source = "checkpoint: " + layer.own_router->text();
      if (!layer.own_router->is_known()) report.router_source += ": token t goes to experts t, t+1, ... with weights 1/4";
    } else if (!layer.router.present()) {
      report.router_source = "none in the checkpoint: token t goes to experts t, t+1, ... with weights 1/4";
      if (expected) report.router_source += "; the recorded outputs, which need one, are not compared";
    }
    const LayerInput input{checkpoint,
                           index,
                           layer,
                           expected ? expected->x : generated_tokens(options.seed, index, tokens * report.sizes.hidden),
                           report.top_k,
                           checkpoint.activation(index),
                           deployment::scheme_named(form.use.scheme).activation_key};
    const auto advance = [&](const std::string& what, double part) {
      if (!options.progress) return;
      options.progress("layer " + std::to_string(index) + ": " + what, before + static_cast<std::uint64_t>(part * static_cast<double>(share.bytes)),
                       total);
    };
    check_layer(input, options, conversions, advance, stop);
    note_losses(input, conversions);
    condemn(report.layer_groups[static_cast<std::size_t>(report.layer_group)].garbage, conversions);
    if (share.first == 0 && expected && layer.router.present()) {
      report.expected.push_back(measure(index, run_canonical(input, Contract::exact), *expected));
    }
    before += share.bytes;
  }
  for (const ConversionResult& result : report.conversions) {
    report.compared_every = std::max(report.compared_every, result.compared_every);
  }
  if (options.progress) options.progress("every layer", total, total);
  return report;
}

}  // namespace mx::sim
