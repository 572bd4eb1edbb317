#include "model/grounds.hpp"

#include <array>

namespace mx {
namespace {

constexpr std::array kLegend{
    GroundsWord{Grounds::definition, "definition", "mxact's own: there is nothing else to agree with"},
    GroundsWord{Grounds::run, "run", "the real code or device was run, and every recorded value compared bit for bit"},
    GroundsWord{Grounds::run_by_parts, "run by parts", "parts of it were run and compared; what stood in for the rest is named"},
    GroundsWord{Grounds::read, "read", "read in the source that the row cites; nothing was run"},
    GroundsWord{Grounds::published, "published", "a public document or report says so"},
    GroundsWord{Grounds::assumed, "assumed", "taken to be so: nobody ran it, read it in a source or published it"},
};

}  // namespace

std::span<const GroundsWord> grounds_legend() { return kLegend; }
std::string_view name_of(Grounds grounds) { return kLegend[static_cast<std::size_t>(grounds)].name; }

}  // namespace mx
