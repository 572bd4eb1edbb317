#pragma once
// Who wrote a checkpoint, and what that quantizer and its releases are known to have written wrongly: the ledger producers.info.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/configuration.hpp"
#include "checkpoint/scan.hpp"

namespace mx::checkpoint {

/// What wrote the file, as far as it says so.
struct Producer {
  std::string name;     ///< "compressed-tensors"; empty: nothing says it
  std::string version;  ///< empty: nothing says it
  std::string place;    ///< "quantization_config.version"
};

/// What a configuration says of its writer.
Producer producer_of(const Configuration& configuration);

/// A row of the ledger.
struct ProducerFault {
  std::string id;
  std::string producer;
  std::string mended;                ///< the first release without it; empty: none is known
  std::vector<std::string> formats;  ///< of weights, as layout::name_of says them; empty: any
  bool always;                       ///< of every file of these releases; else of some
  std::vector<ValueFault> shows;     ///< findings that it explains
  bool of_inputs;                    ///< those of scales of activations alone
  std::string what;
  std::string source;
};

/// The ledger that is built in. Read at the first call.
std::span<const ProducerFault> producer_faults();
/// The rows of such a file. Throws Error(input) naming line, value and rule.
std::vector<ProducerFault> parse_producer_faults(std::string_view text, const std::string& where);

/// Those of a producer's release that may be in layers of a format. A version that cannot be read is none that is mended.
std::vector<const ProducerFault*> faults_of(const Producer& producer, layout::WeightFormat format,
                                            std::span<const ProducerFault> ledger = producer_faults());

/// Whether a version is one before another, by the numbers that they begin with: "0.13.0" before "0.14.0", "0.14.0a2" not.
bool is_before(std::string_view version, std::string_view other);

/// Adds what is known of the producer to the findings that it explains; of what it always wrote wrongly a finding of `first`, the layer's first
/// tensor of scales.
void explain(std::vector<ScannedFault>& faults, const Producer& producer, layout::WeightFormat format, const FoundTensor* first);

}  // namespace mx::checkpoint
