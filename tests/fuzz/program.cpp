// View programs made of any steps with any numbers: each step is refused, or the layout's functions agree.

#include "tests/fuzz/view_program.hpp"

namespace {

using mx::layout::Layout;

void hold(const Layout& layout) {
  constexpr std::int64_t kSmall = 1 << 12;
  layout.describe();
  const auto digits = layout.digits();
  if (layout.cosize() > kSmall || layout.size() > kSmall) return;
  const std::vector<std::int64_t> gather = layout.gather();
  mx::tests::require(static_cast<std::int64_t>(gather.size()) == layout.cosize(), "the map is whole");
  for (std::int64_t address = 0; address < layout.cosize(); ++address) {
    const mx::layout::Place place = layout.inverse(address);
    mx::tests::require(place.coord.has_value() == (gather[static_cast<std::size_t>(address)] >= 0), "map and inverse agree on padding");
    if (!place.coord) continue;
    const auto at = layout.at(*place.coord);
    if (layout.repeats()) {
      mx::tests::require(!at || (*at >= 0 && *at < layout.cosize()), "an address lies in memory");
      mx::tests::require(!at || gather[static_cast<std::size_t>(*at)] == gather[static_cast<std::size_t>(address)],
                         "a repeated element is at its first place");
    } else {
      mx::tests::require(at == address, "an element is where it is found");
    }
  }
  if (digits) mx::tests::require(!digits->empty() || layout.size() == 1, "a normal form has digits");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mx::tests::Bytes bytes(data, size);
  mx::tests::expect_answer([&] { hold(mx::tests::drawn_layout(bytes)); });
  return 0;
}
