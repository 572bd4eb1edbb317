#pragma once
// The processor's tiles. g++'s intrinsics take a tile's number as it is written, and do not say that they read memory. As tiles.hpp: nothing here has
// a linkage that another tier could pick up.

#include "kernels/moe/tiles.hpp"

namespace mx::kernels::moe {
namespace {

/// They are given back at the end of the scope, shapes and all.
class AmxTiles {
 public:
  AmxTiles() = default;
  ~AmxTiles() { __asm__ volatile("tilerelease"); }
  AmxTiles(const AmxTiles&) = delete;
  AmxTiles& operator=(const AmxTiles&) = delete;

  /// New shapes make all tiles zero.
  void shape(const TileShapes& shapes) { __asm__ volatile("ldtilecfg %0" ::"m"(shapes)); }
  template <int Tile>
  void load(const void* from, size_t stride) {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "n"(Tile) : "memory");
  }
  template <int Tile>
  void store(void* to, size_t stride) const {
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "n"(Tile) : "memory");
  }
  template <int Tile>
  void clear() {
    __asm__ volatile("tilezero %%tmm%c0" ::"n"(Tile));
  }
  template <int Sums, int Rows, int Weights>
  void add_pairs() {
    __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"n"(Sums), "n"(Rows), "n"(Weights));
  }
  template <int Sums, int Rows, int Weights>
  void add_quads() {
    __asm__ volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"n"(Sums), "n"(Rows), "n"(Weights));
  }
};

}  // namespace
}  // namespace mx::kernels::moe
