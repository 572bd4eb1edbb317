#pragma once
// How each kind of layout entry is held against the model. Every function adds counts and differences to the result; it throws Error(input) for a
// contradiction in the entry and Unmodelled for what the model does not claim.

#include <filesystem>
#include <string>

#include "golden/witness/layout_model.hpp"
#include "golden/witness/witness.hpp"

namespace mx::golden {

/// Counts, and the first differences described.
class LayoutFindings {
 public:
  LayoutFindings(EntryResult& result, const WitnessOptions& options)
      : result_(result), most_(static_cast<std::size_t>(std::max(options.max_differences, 1))) {}

  void compared(std::int64_t count = 1) { result_.compared += count; }
  void skipped() { ++result_.skipped; }
  template <typename Text>
  void differs(Text text) {
    ++result_.differing;
    if (result_.differences.size() < most_) result_.differences.push_back(text());
  }

 private:
  EntryResult& result_;
  std::size_t most_;
};

/// kind perm: one source unit per destination unit, forward and backward.
void run_perm(const LayoutEntry& entry, const std::filesystem::path& directory, LayoutFindings& findings);
/// kind hash: the digest of the output for generated input, and the way back.
void run_hash(const LayoutEntry& entry, LayoutFindings& findings);
/// kind error: the model refuses the call, and not for the stated reason once the precondition is met.
void run_error(const LayoutEntry& entry, LayoutFindings& findings);

/// {"shape", "dtype", ...} of a layout set. Other keys are for the caller.
ArrayShape read_array(const Json& json, const std::string& what, const std::string& where);

}  // namespace mx::golden
