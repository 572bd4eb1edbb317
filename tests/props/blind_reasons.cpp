// Faults to which no rule for outputs applies, each with the reason.

#include <algorithm>
#include <array>

#include "tests/props/blind_runs.hpp"
#include "tests/props/fault_runs.hpp"

namespace mx::tests {
namespace {

struct Reason {
  std::string_view what;  ///< an area or a fault
  std::string_view why;
};
constexpr std::array kReasons{
    Reason{"oracle", "the answer is a backend's name or a refusal"},  Reason{"kernels", "our own twin, which is compared with the model bit by bit"},
    Reason{"configurations", "the answer is a method's name or a refusal"},
    Reason{"checker", "the answer is the verdict of a check"},        Reason{"saturation_leaves_no_flag", "a flag beside the right number"},
    Reason{"flush_leaves_no_flag", "a flag beside the right number"}, Reason{"carried_changes_forgotten", "the answer is whose conversion it is"},
};

}  // namespace

std::string_view why_no_numbers(const props::FaultRow& row) {
  const auto reason = std::ranges::find_if(kReasons, [&](const Reason& r) { return r.what == row.id || r.what == area_of(row); });
  return reason == kReasons.end() ? std::string_view() : reason->why;
}

}  // namespace mx::tests
