#pragma once
// The experts' weights of one layer on one rank, as the chosen backend's kernel reads them.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/engine/vllm/select.hpp"
#include "model/families/carried.hpp"

namespace mx::sim {

/// One tensor in memory.
struct TensorMemory {
  std::string_view tensor;          ///< "w13_weight"
  std::string dtype;                ///< U8, BF16, F16 or F32
  std::vector<std::int64_t> shape;  ///< in elements of the dtype
  std::int64_t bytes;
  std::string program;  ///< the layout's steps, for comparisons

  bool operator==(const TensorMemory&) const = default;
};

struct WeightsMemory {
  std::string backend;
  std::optional<layout::WeightFormat> format;
  families::StandingConversion conversion;
  std::string missing;                ///< why there are no tensors: "no layout", what the converter refuses, what was changed since; empty: there are
  std::vector<TensorMemory> tensors;  ///< in the order of roles

  std::int64_t bytes() const;
  bool is_known() const { return missing.empty(); }
};

/// What the choice of a version becomes on the rank with the most experts. `libraries` as families::choose_libraries takes them, beside those that
/// the version asks for. Throws as choose_libraries does, and Error(unsupported) for hardware without a row of layouts.
WeightsMemory weights_memory(deployment::Engine engine, std::string_view oracle, const deployment::Deployment& deployment,
                             const engine::Choice& choice, std::span<const std::string> libraries = {});

}  // namespace mx::sim
