#include "tests/fuzz/view_program.hpp"

namespace mx::tests {
namespace {

using layout::Layout;

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
  for (std::size_t count = bytes.pick(6); count > 0 && !layout.view().empty(); --count)
    names.push_back(layout.view()[bytes.pick(layout.view().size())].name);
  return names;
}

void append(Layout& layout, Bytes& bytes, int step) {
  const std::string fresh = "n" + std::to_string(step);
  switch (bytes.pick(10)) {
    case 0: layout.split(axis(bytes, layout), number(bytes), fresh + "o", fresh + "i"); break;
    case 1: layout.merge(std::span<const std::string_view>(some_axes(bytes, layout)), fresh); break;
    case 2: layout.permute(std::span<const std::string_view>(some_axes(bytes, layout))); break;
    case 3: layout.flip(axis(bytes, layout)); break;
    case 4: layout.pad(axis(bytes, layout), number(bytes), static_cast<layout::PadContent>(bytes.pick(3))); break;
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

}  // namespace

Layout drawn_layout(Bytes& bytes) {
  std::vector<layout::Axis> axes;
  for (std::size_t count = bytes.pick(4); axes.size() <= count;) axes.push_back({"a" + std::to_string(axes.size()), number(bytes)});
  Layout layout(axes, static_cast<int>(number(bytes)));
  for (int step = 0; step < 12 && !bytes.empty(); ++step) expect_answer([&] { append(layout, bytes, step); });
  return layout;
}

}  // namespace mx::tests
