#pragma once
// Every router a second time, in the processor's floats and the mathematics library: shares no code with model/moe. An elementary function is taken
// in 64 significant bits and rounded to 24, which is its correctly rounded value unless it lies within 2^-40 of a tie.

#include <string_view>
#include <vector>

namespace mx::props {

struct RouterInput {
  std::vector<float> logits;
  std::vector<float> bias;  ///< empty where the router adds none
  int top_k;
  int groups;
  int topk_groups;
  float factor;
};

struct RestatedSlots {
  std::vector<int> experts;
  std::vector<float> weights;
};

/// What a router needs of its input; one row for every row of the model's table.
struct RestatedRouter {
  std::string_view name;
  bool bias;
  bool groups;
  RestatedSlots (*route)(const RouterInput&);
};
const RestatedRouter* restated_router(std::string_view name);

/// Weights of given experts, DeepSeek-V4's way.
std::vector<float> restated_v4_weights(const RouterInput& input, const std::vector<int>& experts);

}  // namespace mx::props
