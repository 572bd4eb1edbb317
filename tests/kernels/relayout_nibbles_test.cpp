// Halves of bytes that cross without matrices: which parts are taken for such, and which are left to matrices.

#include "kernels/relayout/nibbles.hpp"
#include "tests/catch.hpp"

using namespace mx::kernels::relayout;

namespace {

/// Half `half` of a source byte as half `place` of the target byte.
BytePart part(std::int32_t source, unsigned half, unsigned place) {
  BytePart out{source, {}};
  for (unsigned bit = 0; bit < 4; ++bit) out.rows[4 * place + bit] = static_cast<std::uint8_t>(1U << (4 * half + bit));
  return out;
}

/// The byte of the halves `half` of `low` and of `high`.
std::vector<BytePart> byte_of(std::int32_t low, std::int32_t high, unsigned half) { return {part(high, half, 1), part(low, half, 0)}; }

using Bytes = std::vector<std::vector<BytePart>>;

}  // namespace

TEST_CASE("partners within a register swap halves, but not a byte with two partners or on both sides") {
  const Slots met{10, 11, 20, 21};
  const std::optional<NibbleSwap> swap = nibble_swap(Bytes{byte_of(10, 20, 0), byte_of(10, 20, 1), byte_of(11, 21, 1), byte_of(11, 21, 0)}, met, 7);
  REQUIRE(swap);
  CHECK(swap->from == 7);
  CHECK(swap->partners == std::vector<std::int16_t>{2, 3, 0, 1});
  CHECK(swap->masks == std::vector<std::uint8_t>{0xF0, 0xF0, 0x0F, 0x0F});
  CHECK(swap->order == std::vector<std::int16_t>{2, 0, 1, 3});
  CHECK(!nibble_swap(Bytes{byte_of(10, 20, 0), byte_of(10, 21, 1), byte_of(11, 21, 1), byte_of(11, 20, 0)}, met, 0));
  CHECK(!nibble_swap(Bytes{byte_of(10, 20, 0), byte_of(20, 10, 1), byte_of(11, 21, 1), byte_of(11, 21, 0)}, met, 0));
  CHECK(!nibble_swap(Bytes{byte_of(10, 10, 0), byte_of(10, 20, 1), byte_of(11, 21, 1), byte_of(11, 21, 0)}, met, 0));
  const std::vector<BytePart> crossed{part(10, 0, 0), part(20, 1, 1)};
  CHECK(!nibble_swap(Bytes{crossed, byte_of(10, 20, 1), byte_of(11, 21, 1), byte_of(11, 21, 0)}, met, 0));
  const std::vector<BytePart> three{part(10, 0, 0), part(20, 0, 1), part(11, 0, 0)};
  CHECK(!nibble_swap(Bytes{three, byte_of(10, 20, 1), byte_of(11, 21, 1), byte_of(11, 21, 0)}, met, 0));
}

TEST_CASE("two registers give their low halves to one target and their high ones to another, byte by byte alike") {
  const Slots met{10, 11, 20, 21};
  const Bytes low{byte_of(10, 20, 0), byte_of(21, 11, 0)};
  const Bytes high{byte_of(10, 20, 1), byte_of(21, 11, 1)};
  const std::optional<NibbleTwins> twins = nibble_twins(low, high, met);
  REQUIRE(twins);
  CHECK(twins->low == std::vector<std::int16_t>{0, 3});
  CHECK(twins->high == std::vector<std::int16_t>{2, 1});
  CHECK(!nibble_twins(high, low, met));
  CHECK(!nibble_twins(low, low, met));
  CHECK(!nibble_twins(low, Bytes{high[1], high[0]}, met));
}
