#include "verbs/layout/ranks.hpp"

#include <fmt/core.h>

#include "checkpoint/shard.hpp"
#include "model/error.hpp"
#include "sim/ranks/plan.hpp"

namespace mx::verbs {

layout::Sizes rank_sizes(const layout::Sizes& whole, const layout::Form& form, int tp) {
  if (whole.intermediate % tp != 0) {
    throw Error(ErrorCode::usage, fmt::format("intermediate size {} is not divisible by {} tensor parallel ranks", whole.intermediate, tp), "tp");
  }
  layout::Sizes sizes = whole;
  const sim::LoaderRow& loader = sim::loader_of(form);
  sizes.intermediate = loader.cut(whole.intermediate, whole.intermediate / tp, 0, tp).count;
  if (sizes.intermediate == whole.intermediate / tp) checkpoint::check_cut(whole, form.format, tp);
  return sizes;
}

layout::CanonicalLayer rank_layer(const layout::CanonicalLayer& whole, int rank, int tp) {
  if (rank < 0 || rank >= tp) throw Error(ErrorCode::usage, fmt::format("rank {} is not in 0..{}: tp is {}", rank, tp - 1, tp), "rank");
  const layout::Sizes sizes = rank_sizes(whole.sizes, whole.form, tp);
  deployment::ParallelRequest parallel;
  parallel.tp = tp;
  const sim::Plan plan = sim::make_plan({.parallel = parallel,
                                         .form = whole.form,
                                         .whole = whole.sizes,
                                         .allocated_hidden = sizes.hidden,
                                         .allocated_intermediate = sizes.intermediate,
                                         .address = families::ExpertAddress::map});
  sim::RankPlan part = plan.ranks[static_cast<std::size_t>(rank)];
  part.loads_w2_bias = true;
  return sim::loaded_layer(whole, plan, part);
}

}  // namespace mx::verbs
