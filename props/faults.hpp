#pragma once
// The table of planted faults: what each breaks and which law must kill it. The places themselves are `fault::planted(...)` in model/.

#include <span>
#include <string_view>

#include "model/fault.hpp"

namespace mx::props {

struct FaultRow {
  fault::Fault fault;
  std::string_view id;       ///< the enumerator's name
  std::string_view place;    ///< file and function
  std::string_view breaks;   ///< what goes wrong, and the real bug it models where there is one
  std::string_view law;      ///< id, or prefix of the ids, of the laws of which at least one must fail
};

std::span<const FaultRow> all_faults();

}  // namespace mx::props
