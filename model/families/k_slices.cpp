#include "model/families/k_slices.hpp"

#include <algorithm>

namespace mx::families {

std::vector<KSlice> KCut::slices(std::int64_t tile) const {
  const std::int64_t before = tile - (tiles - shared);
  if (before < 0) return {{0, steps}};
  const std::int64_t begin = before * steps, end = begin + steps;
  std::vector<KSlice> cut;
  for (std::int64_t first = begin; first < end;) {
    const std::int64_t last = std::min((first / length + 1) * length, end);
    cut.push_back({first - begin, last - begin});
    first = last;
  }
  return cut;
}

}  // namespace mx::families
