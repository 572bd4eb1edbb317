#pragma once
// The links of a deployment held against the reference, one after the other.

#include <span>
#include <vector>

#include "sim/ranks/deployment.hpp"

namespace mx::sim {

/// One rank with everything that it made.
struct RankRun {
  layout::CanonicalLayer loaded;
  std::optional<Weights> before;  ///< the loaded layer in the checkpoint's form, after the losses that its conversion states
  std::optional<Weights> kernel;  ///< as the kernel reads it
};

/// What the checks look at.
struct LinkInputs {
  const Plan& plan;
  const ModelLayer& layer;
  const Execution& execution;
  const SampleTokens& tokens;
  Transport& transport;
  std::span<const int> here;           ///< ranks of this process
  std::span<const RankRun> runs;       ///< theirs
  std::span<const Received> received;  ///< of all ranks; rows of the ranks here alone
  const RankStages& stages;
  const Reference& reference;
  const std::optional<std::vector<std::int64_t>>& rows;  ///< wanted, of the whole intermediate size
  std::span<const std::int64_t> columns;                 ///< wanted
};

/// Index of each token's first slot among the reference's stages, and their number.
std::vector<std::size_t> first_slots(const SampleTokens& tokens);

/// Each link's check, to the first that is broken; those behind it are skipped. Every process checks its ranks and gets the same answers. `out` is
/// the deployment's result; `worst_share` becomes the share of its bound that the largest difference from the reference is.
std::vector<LinkCheck> check_links(const LinkInputs& inputs, std::span<const std::uint32_t> out, double& worst_share);

/// Bounds of |result - reference| for every output, as declared: each bf16 rounding of either side moves a value by at most 2^-8 of it, each dot
/// product by contract_error of the sum of its products' magnitudes. [tokens, columns]
std::vector<double> output_bounds(const LinkInputs& inputs);

/// Largest relative error of a dot product of `length` terms under a contract, of the sum of its products' magnitudes.
double contract_error(const ContractRow& contract, std::int64_t length);

}  // namespace mx::sim
