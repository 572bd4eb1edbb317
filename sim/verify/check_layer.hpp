#pragma once
// One layer through every planned conversion: the middle of sim/verify.

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/verify/verify.hpp"

namespace mx::sim {

/// What the layer's first experts lose before any conversion: by the codes that the engine quantizes again.
struct LostBefore {
  std::vector<layout::Loss> fn;    ///< of the checkpoint's codes
  std::vector<layout::Loss> fnuz;  ///< of the same re-read as e4m3fnuz
};

/// A layer with the tokens it is run on.
struct LayerInput {
  const checkpoint::Checkpoint& checkpoint;
  int place;                          ///< of the layer in it
  const checkpoint::MoeLayer& layer;  ///< its first experts
  LostBefore lost;
  std::vector<std::uint32_t> x;  ///< bf16 codes [tokens, hidden]
  int top_k;
  checkpoint::LayerActivation activation;
  std::string_view activation_key;  ///< of the oracles
};

/// Called with a phrase and the fraction of the layer that is done.
using Advance = std::function<void(const std::string&, double)>;

/// What the backend does with every tensor on the result's device, and how it reads FP8; empty where it refuses or is not modelled. Throws as
/// broken_needs does.
std::string programs_of(const ConversionResult& result);
/// Whether the releases that were asked for change the conversion; false where the backend refuses.
bool decided_by_library(const ConversionResult& result);

/// Converts, restores, compares and executes the layer for every conversion that is modelled, on all threads; adds to the results. Throws Stopped
/// when that is asked for.
void check_layer(const LayerInput& input, const VerifyOptions& options, std::span<ConversionResult> conversions, const Advance& advance,
                 const support::StopPoint& stop);

/// Whether one verdict outweighs another: failed, refused, mistrusted, not modelled.
bool worse(Verdict verdict, Verdict than);

/// Adds what is not there yet.
template <class Value>
void add_new(std::vector<Value>& all, const std::vector<Value>& more) {
  for (const Value& one : more) {
    if (std::ranges::find(all, one) == all.end()) all.push_back(one);
  }
}

/// Adds what was lost to sums by tensor and kind.
void add_losses(std::vector<layout::Loss>& sums, const std::vector<layout::Loss>& losses);
/// What a conversion cost, of a rank and a layer: values by tensor, and units that kept theirs.
std::string losses_text(const std::vector<layout::Loss>& losses);
/// Adds what the layer lost before any conversion.
void note_losses(const LayerInput& input, std::span<ConversionResult> conversions);

/// Output of the checkpoint's own form on one rank, fp32 bits [tokens, hidden].
std::vector<std::uint32_t> run_canonical(const LayerInput& input, Contract contract);

}  // namespace mx::sim
