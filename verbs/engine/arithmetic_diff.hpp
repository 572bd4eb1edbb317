#pragma once
// Where two versions of an engine compute otherwise by the same backend, as far as real kernels were seen to.

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/deployment/version.hpp"
#include "sim/ranks/weights_memory.hpp"

namespace mx::verbs {

/// Deployments of one oracle whose backend computes otherwise at one place.
struct ArithmeticChange {
  std::string oracle;
  std::string backend;
  std::string where;   ///< in the kernel, and since which version
  std::string source;  ///< whose outputs showed it
  std::size_t deployments;
  std::string smallest;  ///< of them, as a line that `mxact select` reads
};

/// What came between two versions, in deployments for which both choose the same backend.
class ArithmeticChanges {
 public:
  ArithmeticChanges(deployment::Engine before, deployment::Engine after) : before_(before), after_(after) {}

  /// A deployment's choice, by its weights' memory at both versions. `deployment` is asked for the first of a kind alone.
  void add(std::string_view oracle, const deployment::Hardware& hardware, const sim::WeightsMemory& before, const sim::WeightsMemory& after,
           const std::function<std::string()>& deployment);
  /// Most deployments first.
  std::vector<ArithmeticChange> all() const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;

  deployment::Engine before_;
  deployment::Engine after_;
  std::map<Key, ArithmeticChange> found_;
};

}  // namespace mx::verbs
