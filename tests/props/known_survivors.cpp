#include "tests/props/known_survivors.hpp"

#include <array>

namespace mx::props {
namespace {

constexpr std::string_view kBlocksAnyway =
    "Humming's memory is whole blocks of 256 rows and 128 columns either way: sizes between the layer's and theirs are seen by nobody";

// A row is the whole id that `mxact faults --tables` prints, and why nobody can notice.
constexpr std::array kKnown{
    KnownSurvivor{"layouts HUMMING mxfp4 both padding.hidden 128", kBlocksAnyway},
    KnownSurvivor{"layouts HUMMING mxfp4 both padding.gated 128", kBlocksAnyway},
    KnownSurvivor{"layouts HUMMING mxfp8 2026-08 padding.hidden 128", kBlocksAnyway},
    KnownSurvivor{"layouts HUMMING mxfp8 2026-08 padding.gated 128", kBlocksAnyway},
    KnownSurvivor{"layouts HUMMING nvfp4 2026-08 padding.hidden 128", kBlocksAnyway},
    KnownSurvivor{"layouts HUMMING nvfp4 2026-08 padding.gated 128", kBlocksAnyway},
    KnownSurvivor{"layouts HUMMING fp8_tensor 2026-08 padding.hidden 128", kBlocksAnyway},
    KnownSurvivor{"layouts HUMMING fp8_tensor 2026-08 padding.gated 128", kBlocksAnyway},
    KnownSurvivor{"layouts HUMMING fp8_channel 2026-08 padding.hidden 128", kBlocksAnyway},
    KnownSurvivor{"layouts HUMMING fp8_channel 2026-08 padding.gated 128", kBlocksAnyway},
    KnownSurvivor{"layouts HUMMING fp8_block 2026-08 padding.hidden 128", kBlocksAnyway},
};

}  // namespace

std::span<const KnownSurvivor> known_survivors() { return kKnown; }

}  // namespace mx::props
