#include "sim/verify/check_layer.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "checkpoint/conversion.hpp"
#include "checkpoint/layer_packer.hpp"
#include "checkpoint/shard.hpp"
#include "model/error.hpp"
#include "model/families/fnuz.hpp"
#include "model/layout/address_map.hpp"
#include "model/moe/layer.hpp"
#include "model/numerics/convert.hpp"
#include "sim/execute/exchanges.hpp"
#include "sim/execute/run_backend.hpp"
#include "sim/layer/layer_source.hpp"
#include "support/rescue.hpp"
#include "support/stopwatch.hpp"

namespace mx::sim {

const families::BackendLayout* backend_of(const ConversionResult& result) {
  return families::find_backend_layout(result.backend, result.form.format, result.engine);
}

bool is_modelled(const ConversionResult& result) {
  const families::BackendLayout* const backend = backend_of(result);
  return backend != nullptr && (result.form.gated || backend->takes_not_gated);
}

families::Setting setting_of(const ConversionResult& result) {
  const checkpoint::Conversion conversion{result.form,
                                          result.sizes,
                                          result.activation,
                                          result.has_bias,
                                          checkpoint::surroundings(result.engine, result.arch, result.tp, result.libraries, result.env),
                                          result.method};
  families::Setting setting = conversion.setting(result.padded);
  if (result.served_by != result.engine) setting.served_by = result.served_by;
  return setting;
}

std::string programs_of(const ConversionResult& result) {
  const families::BackendLayout* backend = backend_of(result);
  if (backend == nullptr || result.sizes.intermediate % result.sizes.group != 0) return {};
  const families::Setting setting = setting_of(result);
  if (!families::broken_needs(*backend, setting).empty()) return {};
  std::string text = families::has_fnuz(setting) ? "e4m3fnuz\n" : families::leaves_fn(setting) ? "e4m3fn beside e4m3fnuz\n" : "";
  for (layout::Role role : layout::kAllRoles) {
    if (layout::has_role(result.form.format, role)) text += backend->build(role, setting).layout.describe() + "\n";
  }
  return text;
}

bool decided_by_library(const ConversionResult& result) {
  if (result.libraries.empty()) return false;
  ConversionResult plain = result;
  plain.libraries.clear();
  try {
    return programs_of(plain) != programs_of(result);
  } catch (const Error&) {
    return false;
  }
}

void add_losses(std::vector<layout::Loss>& sums, const std::vector<layout::Loss>& losses) {
  for (const layout::Loss& loss : losses) {
    const auto found = std::ranges::find_if(sums, [&](const layout::Loss& sum) { return sum.role == loss.role && sum.what == loss.what; });
    if (found == sums.end()) {
      sums.push_back(loss);
    } else {
      found->units += loss.units;
      found->kept += loss.kept;
    }
  }
}

namespace {

using checkpoint::Fp8Codes;

/// What a reference is of: ranks with as many entries of I each, how they group scales, and what codes are that the engine quantizes again.
struct ReferenceKey {
  int tp;
  std::int64_t intermediate;
  std::int64_t group;
  Fp8Codes codes;
  auto operator<=>(const ReferenceKey&) const = default;
};

/// Where the engine changes no code the codes are the checkpoint's, whatever the device reads.
ReferenceKey key_of(const ConversionResult& result, const LayerInput& input) {
  const bool fnuz = !(input.lost.fn.empty() && input.lost.fnuz.empty()) && families::has_fnuz(setting_of(result));
  return {result.tp, result.sizes.intermediate, result.sizes.group, fnuz ? Fp8Codes::e4m3fnuz : Fp8Codes::e4m3fn};
}

}  // namespace

void note_losses(const LayerInput& input, std::span<ConversionResult> conversions) {
  for (ConversionResult& result : conversions) {
    if (result.verdict == Verdict::passed)
      add_losses(result.losses, key_of(result, input).codes == Fp8Codes::e4m3fnuz ? input.lost.fnuz : input.lost.fn);
  }
}

namespace {

using families::PackedLayer;
using layout::CanonicalLayer;
using layout::PackedTensor;
using layout::Role;
using Slots = std::vector<std::vector<moe::Slot>>;  // of every token

/// Slots of every token: from the checkpoint's router, or in rotation when it has none.
Slots route_tokens(const LayerInput& input, Contract contract) {
  const layout::Sizes& sizes = input.layer.experts.sizes;
  const OpenedRouter router{input.layer.router, input.layer.own_router, input.top_k};
  if (std::optional<Slots> routed = router.route(input.x, sizes.hidden, contract)) return *std::move(routed);
  const auto tokens = static_cast<std::int64_t>(input.x.size()) / sizes.hidden;
  constexpr std::uint32_t kQuarter = 0x3E800000U;
  Slots slots(static_cast<std::size_t>(tokens));
  for (std::int64_t token = 0; token < tokens; ++token) {
    for (std::int64_t slot = 0; slot < input.top_k; ++slot)
      slots[static_cast<std::size_t>(token)].push_back({(token + slot) % sizes.experts, kQuarter});
  }
  return slots;
}

/// One rank's shard, shared by all conversions of a tensor parallel size.
struct RankReference {
  CanonicalLayer shard;
  SharedUnits units;    ///< of the shard
  Exchanges exchanges;  ///< within them
  bool is_empty;        ///< the loader gives this rank nothing: zeros, of which nothing can be told apart
};

/// Units of a tensor's memory that the model's addresses are held to at most. Where there are more, pieces at equal distances are.
constexpr std::int64_t kComparedUnits = std::int64_t{1} << 24;

/// Of the pieces of a tensor's memory, one of how many is compared. Odd, so that they meet every part of a tile.
std::int64_t compared_every(std::int64_t units) { return units <= kComparedUnits ? 1 : ((units + kComparedUnits - 1) / kComparedUnits | 1); }

/// By all threads, each with pieces of its own.
layout::Comparison compared(const PackedTensor& tensor, const layout::Units& expected) {
  const std::int64_t every = compared_every(tensor.layout.cosize());
  const int threads = omp_get_max_threads();
  std::vector<layout::Comparison> parts(static_cast<std::size_t>(threads));
  support::Rescue rescue;
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < threads; ++i) {
    rescue.run([&] { parts[static_cast<std::size_t>(i)] = layout::compare(tensor, expected, {every * threads, every * i}); });
  }
  rescue.rethrow();
  layout::Comparison all;
  for (layout::Comparison& part : parts) {
    all.units = part.units;
    all.compared += part.compared;
    all.differing += part.differing;
    all.unwritten += part.unwritten;
    if (part.first && (!all.first || part.first->byte_address < all.first->byte_address)) all.first = std::move(part.first);
  }
  return all;
}

/// By all threads.
bool equal(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  if (a.size() != b.size()) return false;
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  const std::size_t pieces = (a.size() + kPiece - 1) / kPiece;
  bool same = true;
#pragma omp parallel for schedule(static) reduction(&& : same)
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t size = std::min(kPiece, a.size() - i * kPiece);
    same = same && std::ranges::equal(a.subspan(i * kPiece, size), b.subspan(i * kPiece, size));
  }
  return same;
}

/// What a kernel computes that bounds by a limit of 0 or below it: gate = min(gate, L), up = clamp(up, -L, L), to which some activations add beta.
std::string low_limit_text(const std::string& backend, const checkpoint::LayerActivation& activation) {
  const double limit = *activation.constants.swiglu_limit;
  std::string text = fmt::format("swiglu_limit is {}, by which {} bounds gate and up", limit, backend);
  if (limit == 0)
    return text + (!activation.constants.swiglu_beta ? ": every output is 0, whatever the weights are" : ": up is 0, whatever its weights are");
  return text + fmt::format(": up is {}, whatever its weights are", -limit);
}

/// One conversion on one rank.
class RankCheck {
 public:
  RankCheck(const RankReference& reference, const Slots& slots, const LayerInput& input, const VerifyOptions& options, int rank,
            const support::StopPoint& stop)
      : reference_(reference), slots_(slots), input_(input), options_(options), rank_(rank), stop_(stop) {}

  /// Adds this rank's counts to `result`; the first trouble decides verdict and detail.
  void run(ConversionResult& result) {
    const families::BackendLayout& backend = *backend_of(result);
    PackedLayer packed;
    try {
      packed = packed_as_convert_does(backend, result);
    } catch (const Error& error) {
      input_.checkpoint.check_unchanged();
      settle(result, Verdict::refused, error.what());
      return;
    }
    if (options_.tamper) options_.tamper(packed);
    try {
      stop_.check();
      compare_bytes(packed, backend, result);
      if (!reference_.is_empty) ask_data(result);
      stop_.check();
      if (options_.executes && !reference_.is_empty) execute(packed, result);
      stop_.check();
      restore(std::move(packed), backend, result);
    } catch (const Error& error) {
      settle(result, Verdict::failed, error.what());
    }
  }

 private:
  void settle(ConversionResult& result, Verdict verdict, const std::string& detail) const {
    // The first of equals stays.
    if (!worse(verdict, result.verdict)) return;
    result.verdict = verdict;
    result.detail = input_.layer.prefix + (result.tp > 1 ? ", rank " + std::to_string(rank_) : "") + ": " + detail;
  }

  /// From the files, by the code and in the setting with which `mxact convert` writes them.
  PackedLayer packed_as_convert_does(const families::BackendLayout& backend, const ConversionResult& result) const {
    return checkpoint::LayerPacker(input_.checkpoint, input_.place, {rank_, result.tp, result.sizes.intermediate, result.sizes.group}, backend,
                                   setting_of(result), options_.by, stop_, input_.layer.experts.sizes.experts)
        .collect();
  }

  void compare_bytes(const PackedLayer& packed, const families::BackendLayout& backend, ConversionResult& result) const {
    // Where a conversion couples values, what it makes of them is held; where to is what the comparison shows.
    layout::LayerUnits placed;
    std::vector<layout::Loss> losses;
    const bool changes = backend.values != nullptr || families::makes_fnuz(backend, packed.setting);
    if (changes) placed = families::placed_units(reference_.shard, backend, packed.setting, losses, kernels::relayout::mover_of(options_.by));
    const layout::LayerUnits& expected = changes ? placed : *reference_.units;
    for (const PackedTensor& tensor : packed.tensors) {
      const layout::Units& units = expected[static_cast<std::size_t>(tensor.role)];
      const layout::Comparison comparison = compared(tensor, units);
      result.units += comparison.units;
      result.compared_every = std::max(result.compared_every, compared_every(comparison.units));
      result.units_compared += comparison.compared;
      result.units_differing += comparison.differing;
      if (comparison.first) settle(result, Verdict::failed, comparison.first->text());
    }
  }

  /// Data in which two parts are alike cannot show that one was read in the other's place.
  void ask_data(ConversionResult& result) const {
    for (const std::string& blind : reference_.exchanges.blind) settle(result, Verdict::mistrusted, blind);
    add_new(result.not_asked, reference_.exchanges.not_asked);
    if (options_.executes && input_.top_k < 2) add_new(result.not_asked, {"routing: two of a token's experts: a token has one expert"});
  }

  void restore(PackedLayer packed, const families::BackendLayout& backend, ConversionResult& result) const {
    add_losses(result.losses, packed.losses);
    if (!packed.losses.empty() || (backend.values != nullptr && backend.undo_values == nullptr)) {
      if (result.verdict == Verdict::passed) result.detail = "not restored: " + losses_text(packed.losses);
      return;
    }
    const CanonicalLayer restored = families::restore(std::move(packed), families::OnLoss::refuse, kernels::relayout::mover_of(options_.by));
    for (Role role : layout::kAllRoles) {
      if (equal(restored[role], reference_.shard[role])) continue;
      settle(result, Verdict::failed, "restoring " + std::string(layout::name_of(role)) + " does not give the checkpoint's bytes back");
    }
  }

  /// Quantizers, roundings and sums as the backend has them; the products under its own contract, or under each that is asked for.
  void execute(const PackedLayer& packed, ConversionResult& result) const {
    if (options_.contracts.empty()) return execute(packed, {}, result);
    for (const Contract contract : options_.contracts) execute(packed, contract, result);
  }

  void execute(const PackedLayer& packed, std::optional<Contract> contract, ConversionResult& result) const {
    const SumsBy sums = options_.by == kernels::relayout::MoveBy::model ? SumsBy::model : SumsBy::twins;
    const ModelActivation model{std::string(input_.activation.name), input_.activation.bits()};
    const std::optional<BackendRun> run =
        run_backend({reference_.shard, reference_.units, sums, contract}, packed, result.arch,
                    {input_.activation.name, input_.activation_key, input_.x, slots_, model.constants, options_.launch});
    if (!run) {
      return settle(result, Verdict::not_modelled,
                    "how " + result.backend + " computes " + std::string(layout::name_of(result.form.format)) + " with " + input_.activation.text() +
                        " is not in mxact yet; its bytes are compared and restored");
    }
    if (!run->unknown.empty()) {
      return settle(result, Verdict::not_modelled,
                    "how " + result.backend + " computes is not known: " + run->unknown + "; its bytes are compared and restored");
    }
    if (input_.activation.limit_is_low() &&
        bounds_by_low_limit(*families::find_execution(result.form.format, result.backend), model, result.arch, result.served_by))
      return settle(result, Verdict::mistrusted, low_limit_text(result.backend, input_.activation));
    if (result.execution.find(run->how) == std::string::npos) result.execution += (result.execution.empty() ? "" : "; ") + run->how;
    if (run->grounds) add_new(result.grounds, {*run->grounds});
    for (const families::KnownDifference& known : run->known)
      add_new(result.known_to_differ, {{families::where_text(known), std::string(known.source)}});
    if (!run->refused.empty()) return settle(result, Verdict::refused, "the kernel's products take whole groups alone: " + run->refused);
    result.outputs_compared += run->compared;
    if (run->not_finite > 0)
      settle(result, Verdict::mistrusted, std::to_string(run->not_finite) + " of the second products that were compared are not finite");
    if (run->all_equal) settle(result, Verdict::mistrusted, "every output has the same bits; such weights and tokens cannot show a wrong one");
    for (const std::string& unseen : run->unseen) settle(result, Verdict::mistrusted, unseen);
    if (run->differing > 0) settle(result, Verdict::failed, run->first);
    result.outputs_differing += run->differing;
  }

  const RankReference& reference_;
  const Slots& slots_;
  const LayerInput& input_;
  const VerifyOptions& options_;
  int rank_;
  const support::StopPoint& stop_;
};

using References = std::map<ReferenceKey, std::vector<RankReference>>;

/// The layer's first experts as a reference has them; none where they are the input's.
std::optional<CanonicalLayer> own_layer(const ReferenceKey& key, const LayerInput& input, const support::StopPoint& stop) {
  if (key.codes == Fp8Codes::e4m3fn) return std::nullopt;
  CanonicalLayer layer = input.checkpoint.layer(input.place, stop, key.codes).experts;
  const auto all = static_cast<std::size_t>(layer.sizes.experts);
  layer.sizes.experts = input.layer.experts.sizes.experts;
  for (std::vector<std::uint8_t>& tensor : layer.tensors) tensor.resize(tensor.size() / all * static_cast<std::size_t>(layer.sizes.experts));
  return layer;
}

/// Whether there is nothing to convert or no way to.
bool is_settled(const ConversionResult& result) { return result.verdict == Verdict::not_modelled || result.verdict == Verdict::refused; }

/// References of every rank that some modelled conversion needs.
References references(const LayerInput& input, const VerifyOptions& options, std::span<const ConversionResult> conversions,
                      const support::StopPoint& stop) {
  References all;
  for (const ConversionResult& result : conversions) {
    if (is_settled(result)) continue;
    const ReferenceKey key = key_of(result, input);
    if (all.contains(key)) continue;
    std::vector<RankReference>& ranks = all[key];
    const std::optional<CanonicalLayer> own = own_layer(key, input, stop);
    const CanonicalLayer& layer = own ? *own : input.layer.experts;
    for (int rank = 0; rank < result.tp; ++rank) {
      stop.check();
      const bool is_empty = rank * key.intermediate >= layer.sizes.intermediate;
      ranks.push_back(
          {checkpoint::shard(layer, {rank, key.tp, key.intermediate, key.group}, kernels::relayout::mover_of(options.by)), {}, {}, is_empty});
      RankReference& rank_reference = ranks.back();
      rank_reference.units = logical_units(rank_reference.shard);
      rank_reference.exchanges = exchanged_data(rank_reference.shard.sizes, rank_reference.shard.form, *rank_reference.units);
    }
  }
  return all;
}

/// Layers of fewer bytes are too small for the threads of one conversion: each thread takes conversions of its own.
constexpr std::size_t kWorthThreads = std::size_t{1} << 24;

std::size_t bytes_of(const CanonicalLayer& layer) {
  std::size_t bytes = 0;
  for (const std::vector<std::uint8_t>& tensor : layer.tensors) bytes += tensor.size();
  return bytes;
}

}  // namespace

bool worse(Verdict verdict, Verdict than) {
  constexpr std::array kOrder{Verdict::passed, Verdict::not_modelled, Verdict::mistrusted, Verdict::refused, Verdict::failed};
  const auto rank_of = [&](Verdict v) { return std::ranges::find(kOrder, v) - kOrder.begin(); };
  return rank_of(verdict) > rank_of(than);
}

std::vector<std::uint32_t> run_canonical(const LayerInput& input, Contract contract) {
  const std::unique_ptr<moe::Experts> experts = moe::canonical_experts(input.layer.experts);
  moe::RunConfig config{};
  config.contract = contract;
  return moe::run_experts(*experts, config, input.x, input.layer.experts.sizes.hidden, route_tokens(input, contract));
}

void check_layer(const LayerInput& input, const VerifyOptions& options, std::span<ConversionResult> conversions, const Advance& advance,
                 const support::StopPoint& stop) {
  const Slots slots = route_tokens(input, Contract::exact);
  advance("the checkpoint's form", 0);
  const References all = references(input, options, conversions, stop);
  std::size_t done = 0;
  const auto check = [&](std::size_t i) {
    stop.check();
    ConversionResult& result = conversions[i];
    const support::Stopwatch watch;
    const auto reference = is_settled(result) ? all.end() : all.find(key_of(result, input));
    if (reference != all.end()) {
      for (std::size_t rank = 0; rank < reference->second.size(); ++rank) {
        RankCheck(reference->second[rank], slots, input, options, static_cast<int>(rank), stop).run(result);
      }
      result.seconds += watch.seconds();
    }
#pragma omp critical(mxact_progress)
    advance(result.backend + ", TP=" + std::to_string(result.tp), static_cast<double>(++done) / static_cast<double>(conversions.size()));
  };
  if (bytes_of(input.layer.experts) >= kWorthThreads) {
    // Not a region of one thread: threads within another region are made anew each time.
    for (std::size_t i = 0; i < conversions.size(); ++i) check(i);
    return;
  }
  support::Rescue rescue;
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < conversions.size(); ++i) rescue.run([&] { check(i); });
  rescue.rethrow();
}

}  // namespace mx::sim
