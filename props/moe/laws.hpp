#pragma once
// The laws of routers and of the layer by topic; laws.cpp is their table.

#include "props/law.hpp"

namespace mx::props {

Outcome law_router_restated(const Law& law);     ///< a router against its restatement; the id ends in "/ROUTER"
Outcome law_fixed_table(const Law& law);         ///< weights of experts that a table chose
Outcome law_routing_relabelled(const Law& law);  ///< renaming experts renames the chosen ones

Outcome law_sum_over_ranks(const Law& law);        ///< expert-parallel ranks add up to one rank
Outcome law_tokens_permuted(const Law& law);       ///< tokens in another order give their outputs in that order
Outcome law_experts_permuted(const Law& law);      ///< experts stored in another order give the same outputs
Outcome law_batch_is_independent(const Law& law);  ///< a token alone gives what it gives among others

Outcome law_product_kernel(const Law& law);  ///< the fast product under a contract; the id ends in "-CONTRACT"
Outcome law_layer_kernel(const Law& law);
Outcome law_format_kernels(const Law& law);
Outcome law_router_kernel(const Law& law);  ///< the fused layer

}  // namespace mx::props
