#include "model/engine/vllm/oracles/priority.hpp"

#include <algorithm>
#include <string>

#include "model/error.hpp"
#include "model/fault.hpp"

namespace mx::engine {
namespace {

using Order = std::vector<std::string_view>;

template <typename Value>
bool admits(const std::optional<Value>& wanted, const Value& fact) {
  return !wanted || *wanted == fact;
}

bool applies(const FrontRow& row, const PriorityRequest& request) {
  return row.platform == request.hardware.platform && deployment::in_range(row.capability, request.hardware.capability) &&
         admits(row.weight_key, request.weight_key) && admits(row.activation_key, request.activation_key) &&
         admits(row.experts_split, request.parallel.ep_size > 1) && admits(row.deepep_v2, request.parallel.use_deepep_v2_kernels()) &&
         admits(row.data_parallel, request.parallel.dp_size > 1) && admits(row.activation, request.activation);
}

Order::iterator place_of(Order& order, std::string_view backend) {
  const auto place = std::ranges::find(order, backend);
  if (place == order.end()) throw Error(ErrorCode::usage, "the order moves " + std::string(backend) + " to its front and does not have it");
  return place;
}

void move(Order& order, const FrontRow& row) {
  const auto place = place_of(order, row.backend);
  switch (row.move) {
    case Move::front: std::rotate(order.begin(), place, place + 1); return;
    case Move::back: std::rotate(place, place + 1, order.end()); return;
    case Move::before:
      if (const auto other = place_of(order, row.beside); other < place) std::rotate(other, place, place + 1);
      return;
    case Move::behind:
      if (const auto other = place_of(order, row.beside); place < other) std::rotate(place, place + 1, other + 1);
      return;
  }
}

}  // namespace

Order priority_order(const PriorityTable& table, const PriorityRequest& request) {
  Order order(table.backends.begin(), table.backends.end());
  for (const FrontRow& row : table.to_front) {
    const bool beside = row.move == Move::before || row.move == Move::behind;
    if (beside && fault::planted(fault::Fault::lists_never_reorder)) continue;
    if (applies(row, request) && !fault::planted(fault::Fault::oracle_moves_nothing_to_front)) move(order, row);
  }
  return order;
}

}  // namespace mx::engine
