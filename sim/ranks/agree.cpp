#include "sim/ranks/agree.hpp"

#include <algorithm>
#include <string>

#include "model/error.hpp"
#include "sim/transport/words.hpp"
#include "support/fnv1a.hpp"

namespace mx::sim {

using layout::Role;

void require_same_deployment(const SimulationRequest& request, const ModelLayer& layer, const SampleTokens& tokens, Transport& transport) {
  const deployment::ParallelRequest& parallel = request.deployment.parallel;
  support::Fnv1a digest;
  for (const std::string& word : {request.backend, request.kernel_class, parallel.all2all_backend}) digest.add_all(word);
  digest.add_all(std::vector{parallel.tp, parallel.dp, static_cast<int>(parallel.enable_expert_parallel), request.engine.month});
  for (Role role : layout::kAllRoles) digest.add_bytes(layer.experts[role]);
  digest.add_all(tokens.x);
  for (const auto& slots : tokens.slots) {
    for (const moe::Slot& slot : slots) digest.add_all(std::vector{slot.expert, std::int64_t{slot.weight}});
  }
  WordWriter words;
  words.put(static_cast<std::int64_t>(digest.value()));
  const std::vector<Words> all = transport.all_gather({words.take()});
  const auto other = std::ranges::find_if(all, [&](const Words& one) { return one != all.front(); });
  if (other == all.end()) return;
  throw Error(ErrorCode::usage, "rank " + std::to_string(other - all.begin()) + " was given another deployment, backend or seed than rank 0");
}

std::vector<layout::Loss> agreed_losses(const std::vector<layout::Loss>& here, std::size_t ranks_here, Transport& transport) {
  WordWriter own;
  for (const layout::Loss& loss : here) {
    own.put(static_cast<std::int64_t>(loss.role));
    own.put(loss.what);
    own.put(loss.units);
    own.put(loss.kept);
    own.put(static_cast<std::int64_t>(loss.replaced));
  }
  std::vector<Words> words(ranks_here);
  words.front() = own.take();
  const std::vector<Words> all = transport.all_gather(std::move(words));
  std::vector<layout::Loss> losses;
  const auto first = std::ranges::find_if(all, [](const Words& of_rank) { return !of_rank.empty(); });
  if (first == all.end()) return losses;
  for (WordReader reader(*first); !reader.at_end();) {
    layout::Loss& loss = losses.emplace_back();
    loss.role = static_cast<Role>(reader.number());
    loss.what = reader.text();
    loss.units = reader.number();
    loss.kept = reader.number();
    loss.replaced = reader.number() != 0;
  }
  return losses;
}

}  // namespace mx::sim
