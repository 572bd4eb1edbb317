#pragma once
// Which of a model's layers have experts.

#include <string>
#include <vector>

#include "model/engine/vllm/architecture/rows.hpp"

namespace mx::engine {

/// How many layers a model has: a field, or as many as its pattern has letters.
int layer_count(const ArchitectureRow& row, const FieldReader& fields);

/// The numbers of the layers that have experts, by the row's rule. Throws Error(input) as the fields' reads do, Error(unsupported) where there are
/// none.
std::vector<int> expert_layers(const ArchitectureRow& row, const FieldReader& fields, int count);

}  // namespace mx::engine
