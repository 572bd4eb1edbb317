#pragma once
// The laws of deployments; each is described where it is listed, in laws.cpp.

#include "props/law.hpp"

namespace mx::props {

Outcome law_shards(const Law& law);
Outcome law_expert_ranks(const Law& law);
Outcome law_dispatched_scales(const Law& law);
Outcome law_squares(const Law& law);
Outcome law_kernel_order(const Law& law);
Outcome law_constants(const Law& law);
Outcome law_batch(const Law& law);
Outcome law_stages(const Law& law);
Outcome law_contract_stages(const Law& law);

}  // namespace mx::props
