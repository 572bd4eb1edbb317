// Layouts as they are typed, "NAME,key=value": what has a program answers both ways.

#include "tests/fuzz/target.hpp"
#include "verbs/layout/subject.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::int64_t kSmall = 1 << 14;
  mx::tests::expect_answer(mx::tests::text_of(data, size), [&] {
    // What is typed ends at a NUL.
    const std::string_view typed = mx::tests::text_of(data, size);
    const mx::verbs::LayoutQuery query = mx::verbs::query_from(typed.substr(0, typed.find('\0')), {});
    const mx::verbs::Subject subject = mx::verbs::program_of(mx::verbs::choice_of(query));
    const mx::layout::Layout& layout = subject.layout;
    mx::verbs::spec_of(subject.choice);
    layout.describe();
    const std::int64_t grains = layout.cosize();
    for (std::int64_t address = 0; address < grains; address += 1 + grains / 64) {
      const mx::layout::Place place = layout.inverse(address);
      mx::tests::require(place.coord.has_value() != layout.is_padding(address), "an address holds an element or padding");
      if (place.coord && !layout.repeats()) mx::tests::require(layout.at(*place.coord) == address, "an element is where it is found");
    }
    if (grains <= kSmall && layout.size() <= kSmall)
      mx::tests::require(static_cast<std::int64_t>(layout.gather().size()) == grains, "the map is whole");
  });
  return 0;
}
