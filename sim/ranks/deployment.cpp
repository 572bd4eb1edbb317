#include "sim/ranks/deployment.hpp"

#include <algorithm>
#include <array>

#include "checkpoint/layer_packer.hpp"
#include "kernels/relayout/mover.hpp"
#include "kernels/relayout/tensor.hpp"
#include "model/error.hpp"
#include "model/families/carried.hpp"
#include "model/families/fnuz.hpp"
#include "model/fault.hpp"
#include "model/layout/address_map.hpp"
#include "model/numerics/rows.hpp"
#include "sim/execute/exchanges.hpp"
#include "sim/ranks/agree.hpp"
#include "sim/ranks/converter.hpp"
#include "sim/ranks/handed_on.hpp"
#include "sim/ranks/links.hpp"
#include "support/fnv1a.hpp"

namespace mx::sim {
namespace {

using layout::CanonicalLayer;
using layout::Role;

constexpr rows::Word<Link> kLinks[] = {{Link::load, "load"},
                                       {Link::experts, "experts"},
                                       {Link::convert, "convert"},
                                       {Link::dispatch, "dispatch"},
                                       {Link::first_product, "first product"},
                                       {Link::activation, "activation"},
                                       {Link::second_product, "second product"},
                                       {Link::combine, "combine"}};
constexpr rows::Word<LinkState> kStates[] = {
    {LinkState::equal, "bit-equal"}, {LinkState::bounded, "within the bound"}, {LinkState::broken, "BROKEN"}, {LinkState::skipped, "skipped"}};

/// More than one output, all of the same bits: a wrong weight or exchange would not have shown.
bool all_equal(std::span<const std::uint32_t> outputs) {
  return outputs.size() > 1 && std::ranges::all_of(outputs, [&](std::uint32_t output) { return output == outputs.front(); });
}

/// The layer in zero-filled buffers of other sizes, gate and up each at its own end.
CanonicalLayer padded_layer(const CanonicalLayer& layer, const layout::Sizes& padded) {
  CanonicalLayer result{padded, layer.form, {}};
  for (Role role : layout::kAllRoles) {
    if (layer[role].empty()) continue;
    result[role] =
        layout::apply(layout::canonical(role, layer.sizes, layer.form), layer[role], layout::loaded(role, layer.sizes, padded, layer.form));
  }
  return result;
}

/// As `mxact convert` packs such a layer.
families::PackedLayer packed_layer(const CanonicalLayer& layer, const families::BackendLayout& backend, const families::Setting& setting) {
  const support::StopPoint never;
  return checkpoint::LayerPacker(layer, backend, setting, kernels::relayout::MoveBy::plans, never).collect();
}

/// What is left of a layer's values by a conversion that says what it loses.
CanonicalLayer after_losses(const CanonicalLayer& layer, const families::BackendLayout* backend, const families::Setting& setting) {
  if (backend == nullptr || backend->values == nullptr || backend->undo_values == nullptr) return layer;
  const families::PackedLayer packed = packed_layer(layer, *backend, setting);
  return packed.losses.empty() ? layer
                               : families::restore(packed, families::OnLoss::mark, kernels::relayout::mover_of(kernels::relayout::MoveBy::plans));
}

/// Tokens as wide as the kernel's hidden size.
SampleTokens widened(const SampleTokens& tokens, std::int64_t hidden, std::int64_t padded) {
  SampleTokens wide{{}, tokens.slots};
  for (std::size_t at = 0; at < tokens.x.size(); at += static_cast<std::size_t>(hidden)) {
    const auto row = std::span(tokens.x).subspan(at, static_cast<std::size_t>(hidden));
    wide.x.insert(wide.x.end(), row.begin(), row.end());
    if (!fault::planted(fault::Fault::sim_keeps_padded_width)) wide.x.resize(wide.x.size() + static_cast<std::size_t>(padded - hidden));
  }
  wide.x.resize(tokens.x.size() / static_cast<std::size_t>(hidden) * static_cast<std::size_t>(padded));
  return wide;
}

/// Those of the wanted rows that lie on a rank, counted as it counts them; all of its own, padding too, where all are wanted.
std::optional<std::vector<std::int64_t>> rows_on(const RankPlan& rank, const std::optional<std::vector<std::int64_t>>& rows) {
  if (!rows) return std::nullopt;
  std::vector<std::int64_t> local;
  for (const std::int64_t row : *rows) {
    const std::int64_t at = row - rank.intermediate.first;
    if (at >= 0 && at < rank.intermediate.count) local.push_back(at);
  }
  return local;
}

/// Sizes that the engine allocates on a rank, or why it does not.
struct Allocation {
  std::int64_t hidden;
  std::int64_t intermediate;
};

class Run {
 public:
  Run(const SimulationRequest& request, const ModelLayer& layer, const SampleTokens& tokens, const Reference& reference, Transport& transport)
      : request_(request),
        layer_(layer),
        tokens_(tokens),
        reference_(reference),
        rows_(reference.outputs.rows),
        columns_(or_all(reference.outputs.columns, layer.experts.sizes.hidden)),
        transport_(transport),
        row_(row_handed_on(request, layer)),
        parallel_(deployment::derive(request.deployment.parallel, request.engine)) {}

  Simulation run() {
    Simulation simulation;
    try {
      simulation.result = executed();
    } catch (const Error& error) {
      if (stage_.empty() || error.code() == ErrorCode::input) throw;
      transport_.fail(error);
      simulation.refusal = SimulationRefusal{stage_, error.what()};
    }
    return simulation;
  }

 private:
  SimulationResult executed() {
    const auto [sizes, assembly] = request_.fixed ? fixed_setup() : engine_setup();
    stage_ = "shard";
    const layout::Sizes& whole = layer_.experts.sizes;
    Plan plan = make_plan({request_.deployment.parallel, layer_.experts.form, whole, sizes.hidden, sizes.intermediate, row_.address,
                           request_.deployment.layer.expert_groups, request_.engine, loaded_group(request_, layer_)});
    stage_.clear();
    here_ = transport_.ranks_here(static_cast<int>(plan.ranks.size()));
    if (here_.size() < plan.ranks.size()) require_same_deployment(request_, layer_, tokens_, transport_);
    const Execution& execution = reference_.execution;
    const families::Operation operation{arch_of(request_.deployment.hardware), execution.fnuz, layout::block_side(plan.allocated.group)};
    SimulationResult result{.plan = plan,
                            .execution = execution,
                            .grounds = families::grounds_of(row_, operation, *execution.first, *execution.second),
                            .differences = families::differences_of(row_, operation, request_.engine, *execution.first, *execution.second),
                            .assembly = assembly,
                            .exchange = &exchange_of(assembly.prepare_class),
                            .links = {},
                            .losses = {},
                            .ignored = ignored_constants(row_, layer_.activation),
                            .out = {},
                            .bit_equal = false,
                            .worst_share = 0,
                            .reference = quality(reference_.exact, reference_.out, columns_.size()),
                            .quality = {},
                            .outputs = reference_.outputs,
                            .mistrusted = {}};
    stage_ = "convert";
    const std::vector<RankRun> ranks = prepared_ranks(result.plan, result.losses);
    stage_ = "execute";
    run_ranks(result, ranks);
    return result;
  }

  struct Assembled {
    Allocation sizes;
    engine::Assembly assembly;
  };

  Assembled fixed_setup() const {
    return {{request_.fixed->hidden, request_.fixed->intermediate},
            {request_.fixed->prepare_class, engine::ActivationFormat::standard, false, request_.fixed->hidden, {}, {}, false, false}};
  }

  Assembled engine_setup() {
    const engine::Choice choice{request_.backend, request_.kernel_class, request_.deployment.layer.hidden,
                                request_.deployment.layer.intermediate_per_partition};
    const engine::Setup setup = engine::set_up(engine::tables_of(request_.engine, request_.oracle), request_.deployment, choice);
    stage_ = "allocate";
    const Allocation sizes = allocation(setup);
    stage_ = "assemble";
    return {sizes, assembly_of(setup, sizes.hidden)};
  }

  static Allocation allocation(const engine::Setup& setup) {
    const engine::RoundedSizes& sizes = value_of(setup.allocated);
    return {sizes.hidden, sizes.intermediate};
  }

  template <class T>
  static const T& value_of(const engine::Answer<T>& answer) {
    if (const T* value = std::get_if<T>(&answer)) return *value;
    const engine::Refusal& refusal = std::get<engine::Refusal>(answer);
    throw Error(ErrorCode::usage, refusal.error_type + ": " + refusal.text);
  }

  /// HUMMING's config comes from the layer's own schemas: 16-bit activations here, as the rest of its row.
  engine::Assembly assembly_of(const engine::Setup& setup, std::int64_t hidden) const {
    if (setup.assembly) return value_of(*setup.assembly);
    const engine::AssemblyRequest request{.oracle = request_.oracle,
                                          .backend = request_.backend,
                                          .kernel_class = request_.kernel_class,
                                          .parallel = parallel_,
                                          .quant = {},
                                          .hardware = request_.deployment.hardware,
                                          .hidden = hidden,
                                          .max_num_tokens = 0,
                                          .disable_inplace = true};
    return value_of(engine::assemble(request));
  }

  std::vector<RankRun> prepared_ranks(const Plan& plan, std::vector<layout::Loss>& losses) const {
    std::vector<RankRun> ranks;
    const families::StandingConversion conversion = conversion_for(row_, request_.engine);
    const families::BackendLayout* const backend = conversion.row;
    const layout::SourceOrder order = kernel_order(row_, layer_.activation);
    for (const int here : here_) {
      const RankPlan& rank = plan.ranks[static_cast<std::size_t>(here)];
      RankRun run{loaded_layer(layer_.experts, plan, rank), {}, {}};
      const families::Setting setting = conversion_of(request_, layer_, run.loaded.sizes, conversion).setting();
      if (backend == nullptr) {
        CanonicalLayer view = run.loaded;
        view.form.order = order;
        run.before = Weights::of_checkpoint(run.loaded, row_, families::has_fnuz(setting));
        run.kernel = Weights::of_checkpoint(view, row_, families::has_fnuz(setting));
      } else {
        run.before = Weights::of_checkpoint(after_losses(run.loaded, backend, setting), row_, families::has_fnuz(setting));
        const families::PackedLayer packed = packed_layer(run.loaded, *backend, setting);
        if (losses.empty()) losses = packed.losses;
        run.kernel = Weights::of_packed(packed, row_, order);
      }
      ranks.push_back(std::move(run));
    }
    losses = agreed_losses(losses, here_.size(), transport_);
    return ranks;
  }

  void run_ranks(SimulationResult& result, const std::vector<RankRun>& ranks) const {
    const std::int64_t hidden = layer_.experts.sizes.hidden;
    const std::int64_t padded = ranks.front().kernel->sizes().hidden;
    const std::vector<Received> received = exchanged(result, widened(tokens_, hidden, padded), padded);
    RankStages stages(result.plan.ranks.size());
    for (std::size_t at = 0; at < here_.size(); ++at) {
      const auto rank = static_cast<std::size_t>(here_[at]);
      stages[rank] = run_slots(result.execution, *ranks[at].kernel, received[rank].input, received[rank].work,
                               {rows_on(result.plan.ranks[rank], rows_), columns_});
    }
    share_second_products(received, stages);
    result.out = combined_ranks(*result.exchange, reference_.execution, result.plan, received, stages, tokens_, columns_.size());
    const LinkInputs inputs{result.plan, layer_, result.execution, tokens_, transport_, here_, ranks, received, stages, reference_, rows_, columns_};
    result.links = check_links(inputs, result.out, result.worst_share);
    result.bit_equal = result.out == reference_.out;
    if (result.broken() == nullptr) result.mistrusted = blind(result, ranks, received, stages);
    result.quality = quality(reference_.exact, result.out, columns_.size());
  }

  /// Why nothing wrong could have shown: exchanged parts of the weights of the first rank here that computes anything leave what it computed.
  std::string blind(const SimulationResult& result, const std::vector<RankRun>& ranks, const std::vector<Received>& received,
                    const RankStages& stages) const {
    if (all_equal(reference_.out)) return "every output has the same bits; such weights and tokens cannot show a wrong one";
    for (std::size_t at = 0; at < here_.size(); ++at) {
      const auto rank = static_cast<std::size_t>(here_[at]);
      const std::int64_t held = result.plan.ranks[rank].intermediate.count;
      if (received[rank].work.empty() || held == 0) continue;
      const Outputs outputs{or_all(rows_on(result.plan.ranks[rank], rows_), held), columns_};
      if (outputs.rows->empty()) continue;
      const std::vector<std::string> unseen =
          unseen_exchanges({result.execution, *ranks[at].before, received[rank].input, received[rank].work, outputs, stages[rank]});
      return unseen.empty() ? std::string() : unseen.front();
    }
    return {};
  }

  /// What every rank gets.
  std::vector<Received> exchanged(const SimulationResult& result, const SampleTokens& wide, std::int64_t padded) const {
    std::vector<Words> own;
    for (const int rank : here_)
      own.push_back(sent(*result.exchange, result.execution, result.plan, result.plan.ranks[static_cast<std::size_t>(rank)], wide, padded));
    const std::vector<Words> all = transport_.all_gather(std::move(own));
    std::vector<Received> received;
    for (const RankPlan& rank : result.plan.ranks) {
      const bool is_here = std::ranges::find(here_, rank.rank) != here_.end();
      received.push_back(is_here ? dispatched(*result.exchange, result.execution, result.plan, rank, all, wide, padded)
                                 : routed(*result.exchange, rank, wide));
    }
    return received;
  }

  /// What every rank's slots come to, for everyone to combine.
  void share_second_products(const std::vector<Received>& received, RankStages& stages) const {
    std::vector<Words> own;
    for (const int rank : here_) {
      Words words;
      for (const SlotStages& slot : stages[static_cast<std::size_t>(rank)]) {
        words.insert(words.end(), slot.down.begin(), slot.down.end());
        words.push_back(slot.factor);
      }
      own.push_back(std::move(words));
    }
    const std::vector<Words> all = transport_.all_gather(std::move(own));
    for (std::size_t rank = 0; rank < stages.size(); ++rank) {
      if (!stages[rank].empty()) continue;
      auto next = all[rank].begin();
      for (std::size_t work = 0; work < received[rank].work.size(); ++work) {
        SlotStages& slot = stages[rank].emplace_back();
        slot.down.assign(next, next + static_cast<std::ptrdiff_t>(columns_.size()));
        next += static_cast<std::ptrdiff_t>(columns_.size());
        slot.factor = *next++;
      }
    }
  }

  const SimulationRequest& request_;
  const ModelLayer& layer_;
  const SampleTokens& tokens_;
  const Reference& reference_;
  std::optional<std::vector<std::int64_t>> rows_;
  std::vector<std::int64_t> columns_;
  Transport& transport_;
  const families::ExecutionRow& row_;
  deployment::Parallel parallel_;
  std::vector<int> here_;  ///< ranks of this process
  std::string stage_;      ///< of what may be refused; empty: an error is ours
};

}  // namespace

std::string_view name_of(Link link) { return rows::word_of<Link>(kLinks, link); }
std::string_view name_of(LinkState state) { return rows::word_of<LinkState>(kStates, state); }

std::string SimulationResult::digest() const {
  support::Fnv1a digest;
  digest.add_all(out);
  return digest.text();
}

const LinkCheck* SimulationResult::broken() const {
  const auto found = std::ranges::find(links, LinkState::broken, &LinkCheck::state);
  return found == links.end() ? nullptr : &*found;
}

int SimulationResult::exit_code() const { return broken() != nullptr ? 1 : mistrusted.empty() ? 0 : 5; }

const std::vector<std::uint32_t>& ExactOutputs::of(const families::ExecutionRow& row, const Outputs& outputs, SumsBy by) {
  const bool has_global = layout::has_role(layer_.experts.form.format, Role::w13_global_scale);
  const std::optional<families::GlobalScale> global = has_global ? std::optional(row.global) : std::nullopt;
  for (const Known& known : known_) {
    if (known.global == global && known.outputs == outputs) return known.bits;
  }
  const Weights weights = Weights::of_checkpoint(layer_.experts, row);
  known_.push_back({global, outputs, exact_output(weights, layer_.activation, tokens_, layer_.experts.sizes.hidden, outputs, by)});
  return known_.back().bits;
}

Reference run_reference(const SimulationRequest& request, const ModelLayer& layer, const SampleTokens& tokens, const Outputs& sample) {
  ExactOutputs exact(layer, tokens);
  return run_reference(request, layer, tokens, sample, exact);
}

Reference run_reference(const SimulationRequest& request, const ModelLayer& layer, const SampleTokens& tokens, const Outputs& sample,
                        ExactOutputs& exact) {
  const families::ExecutionRow& row = row_handed_on(request, layer);
  // The sums follow the squares that the ranks load.
  const checkpoint::RankPart all{.group = loaded_group(request, layer)};
  const std::optional<CanonicalLayer> finer =
      all.is_whole(layer.experts.sizes) ? std::nullopt : std::optional(checkpoint::shard(layer.experts, all, kernels::relayout::kMoveByPlans));
  const CanonicalLayer& loaded = finer ? *finer : layer.experts;
  const layout::Sizes& whole = loaded.sizes;
  const families::StandingConversion conversion = conversion_for(row, request.engine);
  const families::BackendLayout* const backend = conversion.row;
  checkpoint::Conversion of_all = conversion_of(request, layer, whole, conversion);
  of_all.around.tp_size = 1;
  families::Setting setting = of_all.setting(of_all.rounded(request.backend, request.engine));
  const layout::Sizes padded = backend == nullptr ? setting.padded : families::padded_by(*backend, setting);
  const CanonicalLayer wide = padded_layer(loaded, padded);
  setting.sizes = setting.padded = padded;
  const Weights weights = Weights::of_checkpoint(after_losses(wide, backend, setting), row, families::has_fnuz(setting));
  Execution execution =
      execution_on(row, families::operation_of(setting), request.deployment.activation_key, layer.activation, layer.scales, request.engine);
  execution.sums = request.sums;
  execution.choice = request.launch;
  std::size_t top_k = 1;
  for (const auto& slots : tokens.slots) top_k = std::max(top_k, slots.size());
  const deployment::ParallelRequest& parallel = request.deployment.parallel;
  execution = settled(std::move(execution),
                      {static_cast<std::int64_t>(tokens.slots.size()), static_cast<std::int64_t>(top_k), padded, layer.experts.form.gated,
                       parallel.tp * parallel.dp > 1, parallel.enable_expert_parallel && parallel.tp * parallel.dp > 1});
  if (const std::string unknown = unknown_products(execution, setting); !unknown.empty())
    throw Error(ErrorCode::unsupported, unknown, std::string(row.backend));
  Reference reference{execution, twin_of(execution).empty() ? sample : Outputs{}, padded, {}, {}, {}, {}};
  const std::vector<std::int64_t> columns = or_all(reference.outputs.columns, whole.hidden);
  const Outputs wanted{reference.outputs.rows, columns};
  const SampleTokens wide_tokens = widened(tokens, whole.hidden, padded.hidden);
  reference.input = quantized(*reference.execution.first, wide_tokens.x, padded.hidden, layer.scales.first, execution.fnuz);
  std::vector<SlotWork> work;
  for (std::size_t token = 0; token < tokens.slots.size(); ++token) {
    for (const moe::Slot& slot : tokens.slots[token]) work.push_back({static_cast<std::int64_t>(token), slot.expert});
  }
  // The kernel reads its own memory here: whatever it expects is what it gets.
  const bool tile = row.scales == families::ScaleMemory::tile_128x4;
  reference.stages = run_slots(reference.execution, weights, tile ? swizzled(reference.input) : reference.input, work, wanted);
  std::size_t slot = 0;
  for (const auto& slots : tokens.slots) {
    std::vector<WeighedSlot> weighed;
    for (const moe::Slot& one : slots) {
      const SlotStages& stages = reference.stages[slot++];
      weighed.push_back({one.expert, stages.weight(one.weight), stages.down, weighed.size()});
    }
    const std::vector<std::uint32_t> sums = combined(reference.execution, std::move(weighed), slots.size(), columns.size());
    reference.out.insert(reference.out.end(), sums.begin(), sums.end());
  }
  reference.exact = exact.of(row, reference.outputs, request.sums);
  return reference;
}

Simulation simulate(const SimulationRequest& request, const ModelLayer& layer, const SampleTokens& tokens, const Reference& reference,
                    Transport& transport) {
  return Run(request, layer, tokens, reference, transport).run();
}

}  // namespace mx::sim
