// Tuned files of vLLM's Triton kernel: what is read has a tile for every launch, whose numbers a launch may have.

#include "support/tuned_file.hpp"
#include "tests/fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = mx::tests::text_of(data, size);
  mx::tests::expect_answer(text, [&] {
    const mx::families::TunedTiles tuned = mx::support::tuned_tiles(text, "tuned.json");
    for (const std::int64_t tokens : {1, 64, 1 << 20}) {
      const mx::families::TunedTile& tile = tuned.of(tokens);
      mx::families::read_launch("block_m=" + std::to_string(tile.block_m) + ",block_n=" + std::to_string(tile.block_n) +
                                ",step_k=" + std::to_string(tile.step_k) + ",tokens=" + std::to_string(tile.tokens));
    }
  });
  return 0;
}
