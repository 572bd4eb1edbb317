#pragma once
// Places where a choice was known to break a need before there was an audit: from reading the engine and from its issues. Each is a finding, or the
// audit says why its model cannot see it. They are data (known_places.info beside this file, read by support/findings_file.hpp).

#include <string>
#include <vector>

#include "model/audit/findings.hpp"

namespace mx::audit {

struct KnownPlace {
  int number;  ///< from 1
  std::string what;
  std::vector<FindingId> shown;  ///< the findings that show it; its need may be seen in more backends. Empty: unseen
  std::string why_unseen;        ///< empty: shown
};

}  // namespace mx::audit
