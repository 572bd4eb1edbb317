#include "checkpoint/inspect/router_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "checkpoint/compare/matrix_values.hpp"
#include "checkpoint/layer_router.hpp"
#include "checkpoint/tensor_pieces.hpp"

namespace mx::checkpoint {

std::optional<ScannedFault> zero_router_rows(const CheckpointFiles& files, const FoundGroup& layer_group, const FoundLayer& layer) {
  auto [name, weight] = router_weight(files, layer.prefix);
  if (layer.router_weight != nullptr) {
    weight = layer.router_weight;
    name = layer.prefix + std::string(layer_group.naming->router_weight);
  }
  if (weight == nullptr || !is_plain(weight->view->dtype->name)) return std::nullopt;
  const std::vector<std::int64_t>& shape = weight->view->shape;
  if (shape.size() != 2 || shape[0] != layer.sizes.experts || shape[1] < 1) return std::nullopt;
  const std::uint64_t row_bytes = weight->view->bytes.size() / static_cast<std::uint64_t>(shape[0]);
  std::vector<std::uint8_t> bytes(row_bytes);
  std::vector<double> numbers(static_cast<std::size_t>(shape[1]));
  Tally zero;
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    weight->file->read(*weight->view, row_bytes * static_cast<std::uint64_t>(row), bytes);
    plain_numbers(bytes, weight->view->dtype->name, numbers);
    if (std::ranges::all_of(numbers, [](double number) { return number == 0; })) zero.add(row);
  }
  if (zero.count == 0) return std::nullopt;
  return ScannedFault{ValueFault::router_of_zeros, Piece::weight, name, zero.count, fmt::format("[{}, 0]", zero.first), {}};
}

}  // namespace mx::checkpoint
