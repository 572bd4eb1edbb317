#pragma once
// A row of the restated classes; for the rows and for who asks them.

#include <cstdint>
#include <span>
#include <string_view>

#include "props/engine/vllm/facts.hpp"

namespace mx::props {

using Holds = bool (*)(const Facts& facts);
using Says = std::string_view (*)(const Facts& facts);

/// The rules of a class. Sets are words with blanks between.
struct RestatedClass {
  std::string_view name;
  Holds device;
  std::string_view activations;
  Holds keys;
  Holds refused_exchange = [](const Facts&) { return false; };
  std::string_view routings{};  ///< empty: all
  bool ungated = false;
  bool batched = false;
  bool invariant = false;
  bool lora = false;
  deployment::Engine since = deployment::kVllm2026_05;
  deployment::Engine until = deployment::kVllm2026_08;  ///< the first version that the row does not speak of
  bool monolithic = false;                              ///< counts since 2026-11, for layers that no kernel can route
  std::int64_t hidden = 1;                              ///< its multiples are taken
  Says first = nullptr;                                 ///< what the class asks before all others and behind them
  Says last = nullptr;
};

std::span<const RestatedClass> restated_class_rows();

}  // namespace mx::props
