#pragma once
// Checkpoints of every form that gives each expert tensors of its own, written from the same canonical experts.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/families/convert.hpp"
#include "model/layout/packed.hpp"
#include "tests/checkpoint/draft.hpp"

namespace mx::tests {

/// One tensor of a projection as the form's documents give it: spec of the quantizers, said a second time.
struct FormTensor {
  std::string suffix;
  std::string dtype;
  enum class Kind { weight, scale, global, input } kind;
  std::vector<std::int64_t> (*shape)(std::int64_t rows, std::int64_t columns);
};

struct FormCase {
  std::string title;  ///< of the row of source_forms()
  layout::WeightFormat format;
  std::vector<std::string> projections;  ///< gate, up, down
  std::vector<FormTensor> tensors;
  std::string quantization;  ///< quantization_config of config.json, and further keys
  bool inverse;              ///< the global scale in the file is the inverse of the factor
  std::string backend;
  deployment::Engine engine;
};
const std::vector<FormCase>& form_cases();
const FormCase& form_case(const std::string& title);

inline constexpr std::int64_t kFormExperts = 3;
inline constexpr std::int64_t kFormIntermediate = 128;
inline constexpr std::int64_t kFormHidden = 256;

/// The canonical experts of a layer.
layout::CanonicalLayer form_layer(const FormCase& form, int layer);

/// A checkpoint of `layers` layers with experts, two shards of which the second begins in the middle of the experts of the last layer.
Draft form_draft(const FormCase& form, int layers = 2);
/// "model.layers.0.mlp.experts.1.gate_proj.weight"
std::string form_tensor_name(const FormCase& form, int layer, int expert, int projection, const std::string& suffix);

}  // namespace mx::tests
