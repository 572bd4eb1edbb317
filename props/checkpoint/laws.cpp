#include "props/checkpoint/laws.hpp"

#include <array>

namespace mx::props {
namespace {

constexpr std::array<Law, 6> kLaws{{
    {"O8/lists", "Lists and tables of a configuration leave out the experts that the method's own code leaves out, by the engine's version",
     law_lists},
    {"O8/agreement",
     "Experts that are quantized where their configuration leaves them out, are not where it does not, or lie in another form are refused by name",
     law_agreement},
    {"O8/sound", "A sound checkpoint of any form gives no finding, from its scales alone and from all of it", law_sound},
    {"O8/defects", "A defect at any place of a checkpoint of any form is named with its tensor", law_defects},
    {"O8/makers",
     "What a rule gives of a base is attributed to it, as the base was handed to it; a code or a scale that was changed behind it is found",
     law_makers},
    {"O8/bridges",
     "What stands between codes with their scales and a copy is named, for every bridge that is known; one number more or less is none of it",
     law_bridges},
}};

}  // namespace

std::span<const Law> configuration_laws() { return kLaws; }

}  // namespace mx::props
