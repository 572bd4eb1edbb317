#pragma once
// The table of planted faults: what each breaks and which laws must notice. Every law is named by a fault at least. The places themselves are
// `fault::planted(...)` in model/.

#include <span>
#include <string_view>

#include "model/fault.hpp"

namespace mx::props {

struct FaultRow {
  fault::Fault fault;
  std::string_view id;      ///< the enumerator's name
  std::string_view place;   ///< file and function
  std::string_view breaks;  ///< what goes wrong, and the real bug it models where there is one
  std::string_view laws;    ///< ids, separated by spaces, of laws that each must fail by what they assert; others may fail too
};

std::span<const FaultRow> all_faults();

}  // namespace mx::props
