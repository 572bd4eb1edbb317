#pragma once
// Single changes of the oracles' tables, made mechanically: every row left out, every pair of neighbours swapped, every condition flipped or dropped,
// every bound moved by one, every bit of a set turned over.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/engine/vllm/tables.hpp"

namespace mx::tests {

/// Keeps the rows that changed tables point into.
class Store {
 public:
  template <typename T>
  std::span<const T> keep(std::vector<T> rows) {
    auto kept = std::make_shared<const std::vector<T>>(std::move(rows));
    kept_.push_back(kept);
    return *kept;
  }

 private:
  std::vector<std::shared_ptr<const void>> kept_;
};

/// One change. `id` is unique: where, and what.
template <typename T>
struct Change {
  std::string id;
  T value;
};
template <typename T>
using Changes = std::vector<Change<T>>;

/// What is asked of a class at all. The rest of its row is read by nobody, and is left alone.
struct Asked {
  deployment::Mask weights;      ///< keys with which some oracle asks
  deployment::Mask activations;  ///< the same
  bool as_half;                  ///< through the pair that it is a half of, and not itself
};
/// Every change of one class. A condition that a row does not state has no change.
Changes<engine::KernelClass> class_changes(Store& store, const engine::KernelClass& row, const Asked& asked);

/// Every change of an oracle's own tables, all but its classes.
Changes<engine::OracleTables> oracle_changes(Store& store, const engine::OracleTables& tables);

}  // namespace mx::tests
