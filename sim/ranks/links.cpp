#include "sim/ranks/links.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <string>

#include "model/numerics/f32.hpp"
#include "sim/ranks/loaded_tensor.hpp"
#include "sim/transport/words.hpp"
#include "support/stopwatch.hpp"

namespace mx::sim {
namespace {

using layout::Role;

/// About how many elements of one tensor of one rank are compared; of larger ones whole rows at equal distances.
constexpr std::int64_t kMostCompared = std::int64_t{1} << 22;

/// The distance of the rows that are compared. It is odd: tiles have even numbers of rows, and each of theirs gets its turn.
std::int64_t row_distance(std::int64_t rows, std::int64_t length) { return rows * length / kMostCompared | 1; }

std::string rank_text(std::size_t rank) { return "rank " + std::to_string(rank); }
LinkCheck equal_link(Link link, std::int64_t compared) { return {link, LinkState::equal, compared, {}}; }
LinkCheck broken_link(Link link, std::string text) { return {link, LinkState::broken, 0, std::move(text)}; }

Words packed(const LinkCheck& check) {
  WordWriter words;
  words.put(static_cast<std::int64_t>(check.state));
  words.put(check.compared);
  words.put(check.text);
  return words.take();
}

LinkCheck unpacked(Link link, const Words& words) {
  WordReader reader(words);
  LinkCheck check{link, static_cast<LinkState>(reader.number()), 0, {}};
  check.compared = reader.number();
  check.text = reader.text();
  return check;
}

/// A check of each rank, by the process that has it: the first that is broken, or all that was compared. `check` takes the position among the ranks
/// here.
LinkCheck of_each_rank(const LinkInputs& inputs, Link link, const std::function<LinkCheck(std::size_t)>& check) {
  std::vector<Words> here;
  for (std::size_t at = 0; at < inputs.here.size(); ++at) here.push_back(packed(check(at)));
  LinkCheck all = equal_link(link, 0);
  for (const Words& words : inputs.transport.all_gather(std::move(here))) {
    LinkCheck one = unpacked(link, words);
    if (one.state == LinkState::broken) return one;
    all.compared += one.compared;
  }
  return all;
}

std::size_t rank_at(const LinkInputs& inputs, std::size_t at) { return static_cast<std::size_t>(inputs.here[at]); }

/// The first wrong entry of one of a rank's tensors, or none; adds to the count.
std::optional<std::string> load_difference(const LinkInputs& inputs, std::size_t at, Role role, std::int64_t& compared) {
  const LoadedTensor tensor(inputs.layer.experts, inputs.runs[at].loaded, inputs.plan.ranks[rank_at(inputs, at)], role);
  for (std::int64_t row = 0; row < tensor.rows(); row += row_distance(tensor.rows(), tensor.length())) {
    compared += tensor.length();
    if (const auto place = tensor.difference(row)) return rank_text(rank_at(inputs, at)) + ": " + *place + " is not the checkpoint's";
  }
  return std::nullopt;
}

LinkCheck check_load(const LinkInputs& inputs) {
  for (const BrokenLink& broken : broken_links(inputs.plan)) {
    if (broken.link == name_of(Link::load)) return broken_link(Link::load, broken.text);
  }
  return of_each_rank(inputs, Link::load, [&](std::size_t at) {
    std::int64_t compared = 0;
    for (Role role : layout::kAllRoles) {
      if (inputs.layer.experts[role].empty()) continue;
      if (const auto text = load_difference(inputs, at, role, compared)) return broken_link(Link::load, *text);
    }
    return equal_link(Link::load, compared);
  });
}

LinkCheck check_experts(const LinkInputs& inputs) {
  for (const BrokenLink& broken : broken_links(inputs.plan)) {
    if (broken.link == name_of(Link::experts)) return broken_link(Link::experts, broken.text);
  }
  return equal_link(Link::experts, static_cast<std::int64_t>(inputs.plan.ranks.size()) * inputs.plan.whole.experts);
}

/// A row's exact values with their block scales.
std::vector<Value> values_of(const WeightRow& row) {
  std::vector<Value> values = row.elements;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!row.scales.empty()) values[k] = exact_product(values[k], row.scales[k / static_cast<std::size_t>(row.block)]);
    values[k] = canonical(values[k]);
  }
  return values;
}

bool is_zero(const Value& value) { return value.cls == ValueClass::zero; }

/// A row of a layer's matrices.
struct MatrixRow {
  Matrix matrix;
  std::int64_t expert;
  std::int64_t half;
  std::int64_t n;
};

/// What the kernel's row holds is the loaded row, and nothing behind it.
bool same_row(const WeightRow& kernel, const WeightRow& loaded) {
  const std::vector<Value> got = values_of(kernel);
  const std::vector<Value> want = values_of(loaded);
  if (kernel.total != loaded.total) return false;
  const std::size_t length = std::min(got.size(), want.size());
  const auto rest_is_zero = [&](const std::vector<Value>& row) {
    return std::all_of(row.begin() + static_cast<std::ptrdiff_t>(length), row.end(), is_zero);
  };
  // A zero may have lost its sign on the way.
  const auto same = [](const Value& a, const Value& b) { return a == b || (is_zero(a) && is_zero(b)); };
  return std::equal(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(length), want.begin(), same) && rest_is_zero(got) && rest_is_zero(want);
}

/// The same codes beside the same scales are the same numbers.
bool same_codes(const Weights& kernel, const Weights& loaded, const MatrixRow& row) {
  if (!kernel.is_coded() || !loaded.is_coded()) return false;
  thread_local CodedRow got;
  thread_local CodedRow want;
  kernel.read_coded(row.matrix, row.expert, row.half, row.n, got);
  loaded.read_coded(row.matrix, row.expert, row.half, row.n, want);
  return got.codes == want.codes && got.scales == want.scales && got.total == want.total;
}

struct MatrixSides {
  Matrix matrix;
  std::int64_t halves;
  std::int64_t rows;
  std::int64_t length;
  std::string_view name;
};

/// The first row of one rank's matrices that its kernel reads otherwise.
LinkCheck check_converted(const LinkInputs& inputs, std::size_t at) {
  std::int64_t compared = 0;
  const Weights& loaded = *inputs.runs[at].before;
  const Weights& kernel = *inputs.runs[at].kernel;
  const layout::Sizes& sizes = loaded.sizes();
  const bool reads_bias = inputs.execution.row->bias != families::BiasEntry::dropped;
  for (const MatrixSides& side :
       {MatrixSides{Matrix::w13, 2, sizes.intermediate, sizes.hidden, "w13"}, MatrixSides{Matrix::w2, 1, sizes.hidden, sizes.intermediate, "w2"}}) {
    const std::int64_t rows = sizes.experts * side.halves * side.rows;
    for (std::int64_t row = 0; row < rows; row += row_distance(rows, side.length)) {
      const std::int64_t expert = row / (side.halves * side.rows);
      const std::int64_t half = row / side.rows % side.halves;
      const std::int64_t n = row % side.rows;
      compared += side.length;
      const bool bias = !reads_bias || loaded.bias(side.matrix, expert, half, n) == kernel.bias(side.matrix, expert, half, n);
      const bool same = same_codes(kernel, loaded, {side.matrix, expert, half, n}) ||
                        same_row(kernel.row(side.matrix, expert, half, n), loaded.row(side.matrix, expert, half, n));
      if (bias && same) continue;
      const std::string which = side.halves == 1 ? " row " : half == 0 ? " gate row " : " up row ";
      return broken_link(Link::convert, rank_text(rank_at(inputs, at)) + ": the kernel reads another " + (bias ? "" : "bias of ") +
                                            std::string(side.name) + which + std::to_string(n) + " of local expert " + std::to_string(expert) +
                                            " than was loaded");
    }
  }
  return equal_link(Link::convert, compared);
}

LinkCheck check_convert(const LinkInputs& inputs) {
  return of_each_rank(inputs, Link::convert, [&](std::size_t at) { return check_converted(inputs, at); });
}

/// How the kernel reads the scales of what it receives.
families::ScaleMemory memory_read(const Execution& execution, const Activations& input) {
  return execution.row->by == families::QuantizedBy::kernel ? input.memory : execution.row->scales;
}

/// The first row of one rank that is not what was sent.
LinkCheck check_received(const LinkInputs& inputs, std::size_t rank) {
  std::int64_t compared = 0;
  const Received& received = inputs.received[rank];
  const families::ScaleMemory read_as = memory_read(inputs.execution, received.input);
  for (std::size_t row = 0; row < received.token_of_row.size(); ++row) {
    const std::int64_t token = received.token_of_row[row];
    std::vector<Value> got = values_of_row(received.input, static_cast<std::int64_t>(row), read_as);
    std::vector<Value> want = values_of_row(inputs.reference.input, token, families::ScaleMemory::row_major);
    got.resize(std::min(got.size(), want.size()));
    want.resize(got.size());
    compared += static_cast<std::int64_t>(got.size());
    const bool same_scale = received.input.row_scale[row] == inputs.reference.input.row_scale[static_cast<std::size_t>(token)];
    if (got == want && same_scale) continue;
    std::string text = rank_text(rank) + ": the kernel reads other numbers than were sent for token " + std::to_string(token);
    if (received.input.memory != read_as && !received.input.blocks.empty()) {
      text += ": scales arrive " + std::string(families::name_of(received.input.memory)) + ", the kernel reads the " +
              std::string(families::name_of(read_as));
    }
    return broken_link(Link::dispatch, std::move(text));
  }
  return equal_link(Link::dispatch, compared);
}

LinkCheck check_dispatch(const LinkInputs& inputs) {
  const families::Quantizer& quantizer = *inputs.execution.first;
  if (quantizer.scope == families::ScaleScope::tensor && quantizer.tensor == families::TensorNumber::none && inputs.plan.ranks.size() > 1)
    return {Link::dispatch, LinkState::skipped, 0, "a scale of all tokens that are quantized together differs from rank to rank"};
  return of_each_rank(inputs, Link::dispatch, [&](std::size_t at) { return check_received(inputs, rank_at(inputs, at)); });
}

/// Calls visit(work, reference slot) for every slot that a rank computes.
void for_slots(const LinkInputs& inputs, std::size_t rank, const std::function<void(std::size_t, std::size_t)>& visit) {
  const std::vector<std::size_t> first = first_slots(inputs.tokens);
  for (std::size_t i = 0; i < inputs.received[rank].work.size(); ++i) {
    const auto [token, position] = inputs.received[rank].slot_of[i];
    visit(i, first[static_cast<std::size_t>(token)] + position);
  }
}

std::string slot_text(const LinkInputs& inputs, std::size_t rank, std::size_t work) {
  const auto [token, position] = inputs.received[rank].slot_of[work];
  return rank_text(rank) + ": token " + std::to_string(token) + ", slot " + std::to_string(position);
}

using StageList = std::span<std::vector<std::uint32_t> SlotStages::*const>;

/// One rank's stages of [I] numbers held against the reference's at the rank's place.
LinkCheck check_rank_stage(const LinkInputs& inputs, Link link, StageList stages, std::size_t rank) {
  LinkCheck check = equal_link(link, 0);
  const Interval& part = inputs.plan.ranks[rank].intermediate;
  const std::vector<std::int64_t> rows = or_all(inputs.rows, part.first + part.count);
  for_slots(inputs, rank, [&](std::size_t i, std::size_t slot) {
    for (const auto stage : stages) {
      const std::vector<std::uint32_t>& got = inputs.stages[rank][i].*stage;
      const std::vector<std::uint32_t>& want = inputs.reference.stages[slot].*stage;
      for (std::size_t r = 0; r < rows.size() && check.state == LinkState::equal; ++r) {
        const std::int64_t n = rows[r] - part.first;
        if (n < 0 || n >= part.count) continue;
        ++check.compared;
        const std::uint32_t found = got[static_cast<std::size_t>(n)];
        const std::uint32_t expected = want[static_cast<std::size_t>(rows[r])];
        if (found == expected) continue;
        check = broken_link(
            link, slot_text(inputs, rank, i) + ", row " + std::to_string(n) + " is " + f32::text(found) + ", on one rank " + f32::text(expected));
      }
    }
  });
  return check;
}

LinkCheck check_stage(const LinkInputs& inputs, Link link, StageList stages) {
  return of_each_rank(inputs, link, [&](std::size_t at) { return check_rank_stage(inputs, link, stages, rank_at(inputs, at)); });
}

LinkCheck check_first(const LinkInputs& inputs) {
  if (inputs.layer.experts.has_bias() && inputs.execution.row->bias == families::BiasEntry::dropped) {
    return broken_link(Link::first_product, "the biases of the model are left out");
  }
  constexpr std::vector<std::uint32_t> SlotStages::*kStages[] = {&SlotStages::gate, &SlotStages::up};
  return check_stage(inputs, Link::first_product, kStages);
}

LinkCheck check_activation(const LinkInputs& inputs) {
  const std::vector<std::string> ignored = ignored_constants(*inputs.execution.row, inputs.layer.activation);
  if (!ignored.empty()) return broken_link(Link::activation, ignored.front());
  constexpr std::vector<std::uint32_t> SlotStages::*kStages[] = {&SlotStages::activation};
  return check_stage(inputs, Link::activation, kStages);
}

double number(std::uint32_t f32) { return static_cast<double>(std::bit_cast<float>(f32)); }

LinkCheck check_rank_second(const LinkInputs& inputs, std::size_t rank) {
  LinkCheck check = equal_link(Link::second_product, 0);
  for_slots(inputs, rank, [&](std::size_t i, std::size_t slot) {
    const SlotStages &got = inputs.stages[rank][i], &want = inputs.reference.stages[slot];
    check.compared += static_cast<std::int64_t>(got.down.size());
    if ((got.down == want.down && got.factor == want.factor) || check.state == LinkState::broken) return;
    check = broken_link(Link::second_product, slot_text(inputs, rank, i) + " is not what one rank computes");
  });
  return check;
}

LinkCheck check_second(const LinkInputs& inputs) {
  if (inputs.plan.parallel.tp_size > 1)
    return {Link::second_product, LinkState::bounded, 0, "each rank sums over its part of the intermediate size: see combine"};
  return of_each_rank(inputs, Link::second_product, [&](std::size_t at) { return check_rank_second(inputs, rank_at(inputs, at)); });
}

LinkCheck check_combine(const LinkInputs& inputs, std::span<const std::uint32_t> out, double& worst_share) {
  const std::vector<std::uint32_t>& want = inputs.reference.out;
  LinkCheck check = equal_link(Link::combine, static_cast<std::int64_t>(out.size()));
  if (std::equal(out.begin(), out.end(), want.begin(), want.end())) return check;
  const std::vector<double> bounds = output_bounds(inputs);
  std::int64_t differing = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == want[i]) continue;
    ++differing;
    const double share = std::abs(number(out[i]) - number(want[i])) / bounds[i];
    if (share <= worst_share) continue;
    worst_share = std::isnan(share) ? HUGE_VAL : share;
    if (worst_share > 1) {
      check = broken_link(Link::combine, "token " + std::to_string(i / inputs.columns.size()) + ", column " +
                                             std::to_string(inputs.columns[i % inputs.columns.size()]) + " is " + f32::text(out[i]) +
                                             ", on one rank " + f32::text(want[i]) + ": further apart than rounding explains");
    }
  }
  if (check.state == LinkState::broken) return check;
  check.state = LinkState::bounded;
  check.text = std::to_string(differing) + " of " + std::to_string(out.size()) + " outputs are rounded otherwise";
  return check;
}

}  // namespace

std::vector<LinkCheck> check_links(const LinkInputs& inputs, std::span<const std::uint32_t> out, double& worst_share) {
  const std::function<LinkCheck()> checks[] = {[&] { return check_load(inputs); },    [&] { return check_experts(inputs); },
                                               [&] { return check_convert(inputs); }, [&] { return check_dispatch(inputs); },
                                               [&] { return check_first(inputs); },   [&] { return check_activation(inputs); },
                                               [&] { return check_second(inputs); },  [&] { return check_combine(inputs, out, worst_share); }};
  std::vector<LinkCheck> links;
  for (const auto& check : checks) {
    const bool behind =
        !links.empty() && (links.back().state == LinkState::broken || (links.back().state == LinkState::skipped && links.back().text.empty()));
    if (behind) {
      links.push_back({static_cast<Link>(links.size()), LinkState::skipped, 0, {}});
      continue;
    }
    const support::Stopwatch watch;
    links.push_back(check());
    links.back().seconds = watch.seconds();
  }
  return links;
}

}  // namespace mx::sim
