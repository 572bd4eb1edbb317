#pragma once
// An entry of a layout-vectors/2 set as far as all kinds share it, and what comparing it adds up to.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "golden/witness/fields.hpp"
#include "golden/witness/witness.hpp"

namespace mx::golden {

/// A dtype word of layout sets.
struct LayoutDtype {
  std::string_view word;
  int bytes;
  int sign_bit;  ///< of a number with sign and magnitude; -1: codes in ascending order
};

/// A tensor of a layout set. `dtype` is null where an entry has no such tensor.
struct ArrayShape {
  std::vector<std::int64_t> extents;
  std::int64_t elements = 0;
  const LayoutDtype* dtype = nullptr;
  std::int64_t bytes() const { return dtype == nullptr ? 0 : elements * dtype->bytes; }
};

/// {"shape", "dtype", ...}; other keys are for the caller. Throws Error(input), Unmodelled for an unknown dtype.
ArrayShape read_array(const Json& json, const std::string& what, const std::string& where);

/// The JSON outlives it.
struct LayoutEntry {
  std::string id;
  std::string kind;
  std::string level = "must";
  std::string layout;
  std::string stage;
  std::string version;
  std::string role;
  std::string arch = "any";
  std::string where;
  const Json* json = nullptr;
  const Json* params = nullptr;
  ArrayShape input;
};

/// Counts, and the first differences described.
class LayoutFindings {
 public:
  LayoutFindings(EntryResult& result, const WitnessOptions& options)
      : result_(result), most_(static_cast<std::size_t>(std::max(options.max_differences, 1))) {}

  void compared(std::int64_t count = 1) { result_.compared += count; }
  void skipped(std::int64_t count = 1) { result_.skipped += count; }
  template <typename Text>
  void differs(Text text) {
    ++result_.differing;
    if (result_.differences.size() < most_) result_.differences.push_back(text());
  }

 private:
  EntryResult& result_;
  std::size_t most_;
};

}  // namespace mx::golden
