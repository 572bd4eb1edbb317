#include "tests/props/known_survivors.hpp"

namespace mx::tests {

// A row is the whole id that `mxact faults --tables` prints, and why nobody can notice. There is none.
std::span<const KnownSurvivor> known_survivors() { return {}; }

}  // namespace mx::tests
