#include "sim/verify/check_layer.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "model/error.hpp"
#include "model/families/experts.hpp"
#include "model/layout/address_map.hpp"
#include "model/moe/layer.hpp"
#include "model/numerics/convert.hpp"
#include "sim/checkpoint/shard.hpp"
#include "sim/execute/run_backend.hpp"
#include "support/rescue.hpp"

namespace mx::sim {

const layout::BackendLayout* backend_of(const ConversionResult& result) {
  return layout::find_backend_layout(result.backend, result.form.format, result.engine);
}

layout::Setting setting_of(const ConversionResult& result) {
  return {.sizes = result.sizes,
          .padded = result.padded,
          .form = result.form,
          .engine = result.engine,
          .arch = result.arch,
          .tp_size = result.tp,
          .has_bias = result.form.order == layout::SourceOrder::gpt_oss};
}

namespace {

using layout::CanonicalLayer;
using layout::PackedLayer;
using layout::PackedTensor;
using layout::Role;
using Slots = std::vector<std::vector<moe::Slot>>;

/// Slots of every token: from the checkpoint's router, or in rotation when it has none.
Slots route_tokens(const LayerInput& input, Contract contract) {
  const layout::Sizes& sizes = input.layer.experts.sizes;
  const Router& router = input.layer.router;
  if (router.present()) {
    moe::Router values{sizes.experts, sizes.hidden, {}, {}};
    for (std::uint32_t code : router.weight) values.weight.push_back(decode(kBf16, code));
    for (std::uint32_t code : router.bias) values.bias.push_back(to_f32(code, kBf16));
    return moe::route(contract, values, input.top_k, input.x);
  }
  const auto tokens = static_cast<std::int64_t>(input.x.size()) / sizes.hidden;
  constexpr std::uint32_t kQuarter = 0x3E800000U;
  Slots slots(static_cast<std::size_t>(tokens));
  for (std::int64_t token = 0; token < tokens; ++token) {
    for (std::int64_t slot = 0; slot < input.top_k; ++slot)
      slots[static_cast<std::size_t>(token)].push_back({(token + slot) % sizes.experts, kQuarter});
  }
  return slots;
}

moe::RunConfig config_of(Contract contract, int rank) {
  moe::RunConfig config{};
  config.contract = contract;
  config.add_w2_bias = rank == 0;
  return config;
}

/// What is shared by all conversions of one tensor parallel size: each rank's shard and its output per contract.
struct RankReference {
  CanonicalLayer shard;
  std::vector<std::vector<std::uint32_t>> outputs;  ///< by contract, in the order of the options
};

bool all_equal(std::span<const std::uint32_t> words) {
  return std::all_of(words.begin(), words.end(), [&](std::uint32_t word) { return word == words[0]; });
}

/// True when the layout moves units, yet memory looks as if it had not: no misplacement could have shown.
bool nothing_to_see(const PackedTensor& tensor, const CanonicalLayer& layer, const layout::Sizes& padded) {
  if (!tensor.cast->keeps() || layer[tensor.role].empty()) return false;
  const layout::Layout loaded = layout::loaded(tensor.role, layer.sizes, padded, layer.form);
  if (layout::apply(layout::canonical(tensor.role, layer.sizes, layer.form), layer[tensor.role], loaded) != tensor.bytes) return false;
  return !layout::same_addresses(loaded, tensor.layout);
}

/// One conversion on one rank.
class RankCheck {
 public:
  RankCheck(const RankReference& reference, const std::vector<Slots>& slots, const LayerInput& input, const VerifyOptions& options, int rank)
      : reference_(reference), slots_(slots), input_(input), options_(options), rank_(rank) {}

  /// Adds this rank's counts to `result`; the first trouble decides verdict and detail.
  void run(ConversionResult& result) {
    const layout::BackendLayout& backend = *backend_of(result);
    PackedLayer packed;
    try {
      packed = layout::convert(reference_.shard, backend, setting_of(result), mover_of(options_.by));
    } catch (const Error& error) {
      settle(result, Verdict::refused, error.what());
      return;
    }
    if (options_.tamper) options_.tamper(packed);
    try {
      compare_bytes(packed, backend, result);
      if (result.form.format == layout::WeightFormat::mxfp4) {
        execute(packed, result);
      } else {
        execute_as_backend(packed, result);
      }
    } catch (const Error& error) {
      settle(result, Verdict::failed, error.what());
    }
  }

 private:
  void settle(ConversionResult& result, Verdict verdict, const std::string& detail) const {
    // Worse beats better, the first of equals stays.
    const auto rank_of = [](Verdict v) { return v == Verdict::failed ? 3 : v == Verdict::refused ? 2 : v == Verdict::mistrusted ? 1 : 0; };
    if (rank_of(verdict) <= rank_of(result.verdict)) return;
    result.verdict = verdict;
    result.detail = input_.layer.prefix + (result.tp > 1 ? ", rank " + std::to_string(rank_) : "") + ": " + detail;
  }

  void compare_bytes(const PackedLayer& packed, const layout::BackendLayout& backend, ConversionResult& result) const {
    // Where a conversion couples values, what it makes of them is held; where to is what the comparison shows.
    layout::LayerUnits placed;
    std::vector<layout::Loss> losses;
    const bool coupled = backend.values != nullptr && result.form.format != layout::WeightFormat::mxfp4;
    if (coupled) placed = layout::placed_units(reference_.shard, backend, packed.setting, losses);
    for (const PackedTensor& tensor : packed.tensors) {
      const layout::Comparison comparison =
          coupled ? layout::compare(tensor, placed[static_cast<std::size_t>(tensor.role)]) : layout::compare(tensor, reference_.shard);
      result.units_compared += comparison.compared;
      result.units_differing += comparison.differing;
      if (comparison.first) settle(result, Verdict::failed, comparison.first->text());
      if (nothing_to_see(tensor, reference_.shard, packed.setting.padded)) {
        settle(result, Verdict::mistrusted,
               std::string(layout::name_of(tensor.role)) +
                   ": the layout moves units but the packed bytes equal the checkpoint's; such data cannot show a misplacement");
      }
    }
    if (result.form.format != layout::WeightFormat::mxfp4 &&
        (!packed.losses.empty() || (backend.values != nullptr && backend.undo_values == nullptr))) {
      if (result.verdict == Verdict::passed) result.detail = "not restored: the conversion loses values";
      return;
    }
    const CanonicalLayer restored = layout::restore(packed, layout::OnLoss::refuse, mover_of(options_.by));
    for (Role role : layout::kAllRoles) {
      if (restored[role] == reference_.shard[role]) continue;
      settle(result, Verdict::failed, "restoring " + std::string(layout::name_of(role)) + " does not give the checkpoint's bytes back");
    }
  }

  void execute(const PackedLayer& packed, ConversionResult& result) const {
    if (options_.contracts.empty()) return;
    const std::unique_ptr<moe::Experts> experts = moe::packed_experts(packed);
    for (std::size_t c = 0; c < options_.contracts.size(); ++c) {
      const std::vector<std::uint32_t> got =
          moe::run_experts(*experts, config_of(options_.contracts[c], rank_), input_.x, reference_.shard.sizes.hidden, slots_[c]);
      const std::vector<std::uint32_t>& want = reference_.outputs[c];
      result.outputs_compared += static_cast<std::int64_t>(want.size());
      if (all_equal(want)) settle(result, Verdict::mistrusted, "every output has the same bits; such tokens cannot show a wrong weight");
      for (std::size_t i = 0; i < want.size(); ++i) {
        if (got[i] == want[i]) continue;
        if (result.outputs_differing++ == 0) settle(result, Verdict::failed, difference(options_.contracts[c], i, want[i], got[i]));
      }
    }
  }

  /// Formats other than MXFP4: quantizers, products, roundings and sums as the backend has them.
  void execute_as_backend(const PackedLayer& packed, ConversionResult& result) const {
    const std::optional<BackendRun> run = run_backend(reference_.shard, packed, result.arch,
                                                      {input_.activation, input_.activation_key, input_.x, route_tokens(input_, Contract::exact)});
    if (!run) {
      result.execution = "not executed: how the backend computes this layer is not modelled";
      return;
    }
    result.execution = run->how;
    result.outputs_compared += run->compared;
    if (run->all_equal) settle(result, Verdict::mistrusted, "every output has the same bits; such tokens cannot show a wrong weight");
    if (run->differing > 0) settle(result, Verdict::failed, run->first);
    result.outputs_differing += run->differing;
  }

  std::string difference(Contract contract, std::size_t index, std::uint32_t want, std::uint32_t got) const {
    const auto hidden = static_cast<std::size_t>(reference_.shard.sizes.hidden);
    const auto hex = [](std::uint32_t word) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      std::string text = "0x";
      for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[(word >> shift) & 0xFU];
      return text;
    };
    return "output under " + std::string(name_of(contract)) + " at token " + std::to_string(index / hidden) + ", column " +
           std::to_string(index % hidden) + " is " + hex(got) + " from the packed form and " + hex(want) + " from the checkpoint's";
  }

  const RankReference& reference_;
  const std::vector<Slots>& slots_;
  const LayerInput& input_;
  const VerifyOptions& options_;
  int rank_;
};

/// References of every rank that some modelled conversion needs, by tensor parallel size. A size that cannot be cut has none.
std::map<int, std::vector<RankReference>> references(const LayerInput& input, const VerifyOptions& options, const std::vector<Slots>& slots,
                                                     std::vector<ConversionResult>& conversions, const StopPoint& stop) {
  std::map<int, std::vector<RankReference>> by_tp;
  for (ConversionResult& result : conversions) {
    if (result.verdict == Verdict::not_modelled || by_tp.count(result.tp) != 0) continue;
    std::vector<RankReference>& ranks = by_tp[result.tp];
    for (int rank = 0; rank < result.tp; ++rank) {
      try {
        ranks.push_back({shard(input.layer.experts, rank, result.tp, mover_of(options.by)), {}});
      } catch (const Error& error) {
        for (ConversionResult& other : conversions) {
          if (other.tp != result.tp || other.verdict != Verdict::passed) continue;
          other.verdict = Verdict::refused;
          other.detail = error.what();
        }
        ranks.clear();
        break;
      }
      ranks.back().outputs.resize(options.contracts.size());
    }
  }
  std::vector<std::pair<RankReference*, std::pair<int, std::size_t>>> jobs;
  for (auto& [tp, ranks] : by_tp) {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      for (std::size_t c = 0; c < options.contracts.size(); ++c) jobs.push_back({&ranks[rank], {static_cast<int>(rank), c}});
    }
  }
  Rescue rescue;
#pragma omp parallel for schedule(dynamic)
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    rescue.run([&] {
      stop.check();
      RankReference& reference = *jobs[j].first;
      const auto [rank, c] = jobs[j].second;
      const std::unique_ptr<moe::Experts> experts = moe::canonical_experts(reference.shard);
      reference.outputs[c] = moe::run_experts(*experts, config_of(options.contracts[c], rank), input.x, reference.shard.sizes.hidden, slots[c]);
    });
  }
  rescue.rethrow();
  return by_tp;
}

}  // namespace

std::vector<std::uint32_t> run_canonical(const LayerInput& input, Contract contract) {
  const std::unique_ptr<moe::Experts> experts = moe::canonical_experts(input.layer.experts);
  return moe::run_experts(*experts, config_of(contract, 0), input.x, input.layer.experts.sizes.hidden, route_tokens(input, contract));
}

void check_layer(const LayerInput& input, const VerifyOptions& options, std::vector<ConversionResult>& conversions, const Advance& advance,
                 const StopPoint& stop) {
  std::vector<Slots> slots;
  for (Contract contract : options.contracts) slots.push_back(route_tokens(input, contract));
  advance("running the checkpoint's form", 0);
  const std::map<int, std::vector<RankReference>> by_tp = references(input, options, slots, conversions, stop);
  std::size_t done = 0;
  Rescue rescue;
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < conversions.size(); ++i) {
    rescue.run([&] {
      stop.check();
      ConversionResult& result = conversions[i];
      const auto reference = by_tp.find(result.tp);
      if (result.verdict != Verdict::not_modelled && reference != by_tp.end()) {
        for (std::size_t rank = 0; rank < reference->second.size(); ++rank) {
          RankCheck(reference->second[rank], slots, input, options, static_cast<int>(rank)).run(result);
        }
      }
#pragma omp critical(mxact_progress)
      advance(result.backend + ", TP=" + std::to_string(result.tp),
              0.3 + 0.7 * static_cast<double>(++done) / static_cast<double>(conversions.size()));
    });
  }
  rescue.rethrow();
}

}  // namespace mx::sim
