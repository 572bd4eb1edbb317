#pragma once
// What `mxact layer` works out: stages of one layer on given tokens, written or held against somebody else's.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/layer/layer_source.hpp"
#include "verbs/document/document.hpp"

namespace mx::verbs {

/// As it was asked. Files are those of read_tensor.
struct LayerRequest {
  std::string path;  ///< of a checkpoint, or of what `mxact convert` wrote
  checkpoint::ConvertOptions convert;
  sim::LayerChoice choice;
  std::optional<Contract> contract = {};       ///< of both products, on no device and in the place of a backend's arithmetic
  std::string x = {}, ids = {}, weights = {};  ///< empty: not given
  std::vector<std::string> stages = {};        ///< names; empty: all behind the start, or all of `expect`
  std::vector<std::string> from = {};          ///< "STAGE=FILE"
  std::string expect = {};                     ///< file; empty: nothing is compared
  std::string output = {};                     ///< file; empty: nothing is written
  bool force = false;
  std::uint64_t most_memory = UINT64_MAX;              ///< bytes that a run may take
  std::function<void(const std::string&)> begun = {};  ///< told what is being done
};

/// Runs, compares and writes. Exit code 1 where a stage differs. Throws Error as open_layer, read_tensor and run_layer do; Error(resource) before
/// more memory is taken than it may; Error(usage) where both the router and ids are asked for, or neither; Stopped.
Document layer_document(const LayerRequest& request);

}  // namespace mx::verbs
