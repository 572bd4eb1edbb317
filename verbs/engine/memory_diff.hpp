#pragma once
// Where the weights lie otherwise after an upgrade: of deployments for which both versions choose.

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "sim/ranks/weights_memory.hpp"

namespace mx::verbs {

/// Deployments of one oracle whose weights changed alike.
struct MemoryChange {
  std::string oracle;
  std::string cause;
  sim::WeightsMemory before;  ///< of the smallest deployment
  sim::WeightsMemory after;
  std::size_t deployments;
  std::string smallest;  ///< as a line that `mxact select` reads

  /// Whether tensors of both are known: they differ then.
  bool is_known() const { return before.is_known() && after.is_known(); }
};

struct MemoryDiff {
  std::size_t compared = 0;   ///< deployments for which both choose
  std::size_t differing = 0;  ///< of them, with other tensors
  std::size_t unknown = 0;    ///< of them, one version's layout of which is not known
  /// Those that differ, then those that are not known, most deployments first; not where both versions lack the same.
  std::vector<MemoryChange> changes;
};

/// The tensor of that name; null where there is none.
const sim::TensorMemory* find_tensor(const sim::WeightsMemory& memory, std::string_view name);
/// The row of the layouts that a memory follows: "MARLIN nvfp4, until vllm@2026-08", "MARLIN mxfp4"; where there is none, why.
std::string layout_text(const sim::WeightsMemory& memory);

/// "U8[32, 90, 5760, 16]"
std::string tensor_text(const sim::TensorMemory& tensor);

/// Of two tensors of one name: "dtype", "shape", "steps"; empty where they are equal.
std::string_view difference_of(const sim::TensorMemory& before, const sim::TensorMemory& after);

class MemoryChanges {
 public:
  /// `deployment` is asked where the change is a new one.
  void add(std::string_view oracle, sim::WeightsMemory before, sim::WeightsMemory after, const std::function<std::string()>& deployment);
  MemoryDiff all() const;

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Key, MemoryChange> found_;
  MemoryDiff counts_;
};

}  // namespace mx::verbs
