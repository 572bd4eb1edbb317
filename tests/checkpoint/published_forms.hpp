#pragma once
// Checkpoints as hubs have them: every quantizer's names, dtypes, shapes and configuration, written from canonical experts.

#include <string>
#include <utility>
#include <vector>

#include "model/layout/packed.hpp"
#include "tests/checkpoint/draft.hpp"

namespace mx::tests {

/// What one tensor of a projection holds, and in which shape it lies in the file.
struct PublishedTensor {
  std::string suffix;
  std::string dtype;
  enum class Holds { weight, scale, global, input } holds;
  enum class Shape {
    matrix,
    halved,
    per_group,
    squares,
    squares_of_four,
    column,
    of_rows,
    of_row_columns,
    number,
    list_of_one,
    one_by_one,
    of_experts
  } shape;
};

/// How the experts lie in the file.
enum class Lies { each, stacked, input_major };

struct PublishedForm {
  std::string id;
  std::string title;  ///< of the row of source_forms()
  layout::WeightFormat format;
  std::string before;                    ///< "model.layers."
  std::string after;                     ///< ".mlp.experts."
  std::vector<std::string> projections;  ///< gate, up, down; both, down; up, down
  Lies lies;
  std::vector<PublishedTensor> tensors;
  std::string config;  ///< members of config.json
  std::string backend;
  bool inverse = false;  ///< the global scale in the file is the inverse of the factor

  /// Gate and up of each expert in one tensor.
  bool halves() const { return lies == Lies::each && (projections.front() == "gate_up_proj" || projections.front() == "w13"); }
  bool gated() const { return lies != Lies::each || projections.size() == 3 || halves(); }
};
const std::vector<PublishedForm>& published_forms();
const PublishedForm& published_form(const std::string& id);

inline constexpr std::int64_t kPublishedExperts = 2;
inline constexpr std::int64_t kPublishedIntermediate = 128;
inline constexpr std::int64_t kPublishedHidden = 256;

/// The canonical experts that the checkpoint stands for: numbers that its dtypes hold exactly.
layout::CanonicalLayer published_layer(const PublishedForm& form);

/// A checkpoint of one layer, number `layer`, in one file.
Draft published_draft(const PublishedForm& form, int layer = 0);
/// Its tensors.
std::vector<support::TensorData> published_tensors(const PublishedForm& form, const std::string& before, int layer);
/// NVFP4 of layer 0 (the form "mixtral"), and a block for further tokens whose layer has the number 0 too, in FP8 blocks (the form "modelopt-pb-wo").
inline Draft two_groups_draft() {
  Draft draft = published_draft(published_form("mixtral"));
  for (support::TensorData& tensor : published_tensors(published_form("modelopt-pb-wo"), "mtp.layers.", 0))
    draft.shards["model.safetensors"].push_back(std::move(tensor));
  // Nothing is said of quantization: no method of the versions that these groups are converted for has both.
  draft.config = R"({"hidden_act": "silu"})";
  return draft;
}

}  // namespace mx::tests
