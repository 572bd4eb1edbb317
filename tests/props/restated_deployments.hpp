#pragma once
// What the tables of deployments answer, said a second time as conditions: vllm 7e1b45a09 fused_moe/prepare_finalize/ and topk_weight_and_reduce.py,
// models/gpt_oss.py and fused_moe/layer.py, and which contract each matrix unit follows on each device.

#include <span>
#include <string>

#include "sim/ranks/exchange.hpp"
#include "sim/ranks/plan.hpp"

namespace mx::tests {

/// The first question that the model's table (or what stands in for it) answers otherwise than the restatement; "" where none. Prepare classes; forms
/// of weights with sizes and ranks; units with devices.
std::string wrong_exchange();
std::string wrong_loader();
std::string wrong_unit();

/// The first question whose answer these rows change; "" where none.
std::string different_exchange(std::span<const sim::ExchangeRow> rows);
std::string different_loader(std::span<const checkpoint::LoaderRow> rows);
std::string different_unit(std::span<const families::UnitRow> rows);

}  // namespace mx::tests
