#pragma once
// Trust by what a fault would change: parts of a layer that exchange their places, so that a comparison which does not see them could not have seen a
// fault either. The first pair that differs is taken; a pair that does not exist is not asked for and takes nothing from a verdict.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/execute/kernel.hpp"
#include "sim/execute/weights.hpp"

namespace mx::sim {

/// What changes places.
enum class Exchange : std::uint8_t {
  experts,     ///< two experts
  halves,      ///< gate and up
  rows,        ///< two rows of a half
  scales,      ///< the scales of two groups, blocks or rows of a half
  neighbours,  ///< two codes side by side in a row: two nibbles of a byte
  slots,       ///< two of a token's experts
};

/// What asking came to.
struct Exchanges {
  std::vector<std::string> blind;      ///< "w13_weight: all rows are alike: a row read in another's place would not show"
  std::vector<std::string> not_asked;  ///< "w2: gate and up: it has one half", why there is no such pair

  friend bool operator==(const Exchanges&, const Exchanges&) = default;
};

/// Exchanges within the data as they were loaded: blind where no pair differs. Units in logical order, those of a layer of these sizes and form.
Exchanges exchanged_data(const layout::Sizes& sizes, const layout::Form& form, const layout::LayerUnits& units);

/// What was executed, and what came out.
struct Executed {
  const Execution& execution;
  const Weights& weights;              ///< in the checkpoint's form
  const Activations& input;            ///< of the first product
  std::span<const SlotWork> slots;     ///< in the order of tokens
  const Outputs& outputs;              ///< that were computed, all given
  std::span<const SlotStages> stages;  ///< of each slot
};

/// Exchanges of pairs that differ and that leave every output, a sentence each. Computes a few rows anew: far less than was executed.
std::vector<std::string> unseen_exchanges(const Executed& executed);

}  // namespace mx::sim
