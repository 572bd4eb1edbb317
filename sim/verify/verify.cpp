#include "sim/verify/verify.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "checkpoint/layer_reader.hpp"
#include "checkpoint/shard.hpp"
#include "model/deployment/models.hpp"
#include "model/engine/vllm/env.hpp"
#include "model/engine/vllm/method.hpp"
#include "model/engine/vllm/tables.hpp"
#include "model/error.hpp"
#include "model/families/carried.hpp"
#include "model/moe/layer.hpp"
#include "model/names.hpp"
#include "sim/execute/run_backend.hpp"
#include "sim/verify/check_layer.hpp"
#include "sim/verify/plan.hpp"
#include "support/random.hpp"

namespace mx::sim {
namespace {

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

/// A cell that came twice would count twice. Throws Error(usage).
template <typename Value, typename Same, typename Name>
void require_once(const std::vector<Value>& given, const Same& same, const Name& name) {
  for (auto one = given.begin(); one != given.end(); ++one) {
    if (std::any_of(given.begin(), one, [&](const Value& other) { return same(other, *one); }))
      throw Error(ErrorCode::usage, name(*one) + " is given twice");
  }
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
  require_once(options.backends, same_name, [](const std::string& name) { return "backend " + name; });
  require_once(options.tp, std::equal_to<>(), [](int tp) { return "tensor parallel size " + std::to_string(tp); });
  require_once(options.contracts, std::equal_to<>(), [](Contract contract) { return "contract " + std::string(name_of(contract)); });
  if (options.dp < 1 || options.dp > 1024) throw Error(ErrorCode::usage, "data parallel size " + std::to_string(options.dp) + " is not in 1..1024");
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

LostBefore lost_before(const checkpoint::Checkpoint& checkpoint, int place, std::int64_t experts) {
  const auto lost = [&](checkpoint::Fp8Codes as) { return checkpoint::LayerReader(checkpoint, place, experts, as).requantization_losses(); };
  return {lost(checkpoint::Fp8Codes::e4m3fn), lost(checkpoint::Fp8Codes::e4m3fnuz)};
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
  plan_cells(checkpoint, options, report);
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
                           lost_before(checkpoint, index, report.experts_verified),
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
