// View programs made of any steps with any numbers: each step is refused, or the layout's functions agree.

#include "model/layout/layout.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using mx::fuzz::Bytes;
using mx::layout::Layout;

/// Mostly small, now and then anything.
std::int64_t number(Bytes& bytes) {
  const std::uint8_t kind = bytes.byte();
  if (kind < 240) return kind % 20;
  const auto wide = static_cast<std::int64_t>(static_cast<std::uint64_t>(bytes.word()) << 32 | bytes.word());
  return kind < 248 ? wide >> 32 : wide;
}

std::string axis(Bytes& bytes, const Layout& layout) {
  const auto& axes = layout.view();
  return axes.empty() ? "none" : axes[bytes.pick(axes.size())].name;
}

std::vector<std::string_view> some_axes(Bytes& bytes, const Layout& layout) {
  std::vector<std::string_view> names;
  for (std::size_t count = bytes.pick(6); count > 0 && !layout.view().empty(); --count) names.push_back(layout.view()[bytes.pick(layout.view().size())].name);
  return names;
}

void append(Layout& layout, Bytes& bytes, int step) {
  const std::string fresh = "n" + std::to_string(step);
  switch (bytes.pick(10)) {
    case 0: layout.split(axis(bytes, layout), number(bytes), fresh + "o", fresh + "i"); break;
    case 1: layout.merge(std::span<const std::string_view>(some_axes(bytes, layout)), fresh); break;
    case 2: layout.permute(std::span<const std::string_view>(some_axes(bytes, layout))); break;
    case 3: layout.flip(axis(bytes, layout)); break;
    case 4: layout.pad(axis(bytes, layout), number(bytes), static_cast<mx::layout::PadContent>(bytes.pick(3))); break;
    case 5: layout.slice(axis(bytes, layout), number(bytes), number(bytes)); break;
    case 6: layout.explode(static_cast<int>(number(bytes)), fresh); break;
    case 7: layout.pack(); break;
    case 8: {
      std::vector<std::int64_t> source;
      for (std::size_t count = bytes.pick(20); count > 0; --count) source.push_back(number(bytes));
      layout.table(axis(bytes, layout), source);
      break;
    }
    default: layout.repeat(axis(bytes, layout), number(bytes));
  }
}

void hold(const Layout& layout) {
  constexpr std::int64_t kSmall = 1 << 12;
  layout.describe();
  const auto digits = layout.digits();
  if (layout.cosize() > kSmall || layout.size() > kSmall) return;
  const std::vector<std::int64_t> gather = layout.gather();
  mx::fuzz::require(static_cast<std::int64_t>(gather.size()) == layout.cosize(), "the map is whole");
  for (std::int64_t address = 0; address < layout.cosize(); ++address) {
    const mx::layout::Place place = layout.inverse(address);
    mx::fuzz::require(place.coord.has_value() == (gather[static_cast<std::size_t>(address)] >= 0), "map and inverse agree on padding");
    if (!place.coord) continue;
    const auto at = layout.at(*place.coord);
    if (layout.repeats()) {
      mx::fuzz::require(!at || (*at >= 0 && *at < layout.cosize()), "an address lies in memory");
      mx::fuzz::require(!at || gather[static_cast<std::size_t>(*at)] == gather[static_cast<std::size_t>(address)], "a repeated element is at its first place");
    } else {
      mx::fuzz::require(at == address, "an element is where it is found");
    }
  }
  if (digits) mx::fuzz::require(!digits->empty() || layout.size() == 1, "a normal form has digits");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  mx::fuzz::expect_answer([&] {
    std::vector<mx::layout::Axis> axes;
    for (std::size_t count = bytes.pick(4); axes.size() <= count;) axes.push_back({"a" + std::to_string(axes.size()), number(bytes)});
    Layout layout(axes, static_cast<int>(number(bytes)));
    for (int step = 0; step < 12 && !bytes.empty(); ++step) mx::fuzz::expect_answer([&] { append(layout, bytes, step); });
    hold(layout);
  });
  return 0;
}
