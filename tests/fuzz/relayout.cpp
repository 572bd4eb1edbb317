// Conversion plans of every tier against the model, for view programs made of any steps: the same bytes there, and the tensor's own back.

#include <algorithm>
#include <optional>

#include "kernels/relayout/plan.hpp"
#include "tests/fuzz/view_program.hpp"

namespace {

using mx::layout::Layout;
using Memory = std::vector<std::uint8_t>;

/// A tensor's row-major bytes and what the model makes of them.
struct Wanted {
  Layout from;
  Layout to;
  Memory source;
  Memory target;
};

/// None for a program that is refused, that is too large to try, or whose memory ends inside a byte.
std::optional<Wanted> wanted_from(mx::tests::Bytes& bytes) {
  constexpr std::int64_t kSmall = 1 << 12;
  std::optional<Wanted> wanted;
  mx::tests::expect_answer([&] {
    const Layout to = mx::tests::drawn_layout(bytes);
    const Layout from(to.axes_before(0), to.unit_bits());
    if (to.cosize() > kSmall || to.size() > kSmall || to.cosize() * to.grain_bits() % 8 != 0 || from.size() * from.unit_bits() % 8 != 0) return;
    Memory source(static_cast<std::size_t>(from.bytes()));
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::uint8_t>(bytes.byte() ^ i * 37);
    Memory target = mx::layout::apply(from, source, to);
    wanted = Wanted{from, to, std::move(source), std::move(target)};
  });
  return wanted;
}

bool drops_elements(const Layout& layout) {
  return std::ranges::any_of(layout.steps(), [](const mx::layout::Step& step) { return std::holds_alternative<mx::layout::Slice>(step); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mx::tests::Bytes bytes(data, size);
  const int threads = 1 + static_cast<int>(bytes.pick(3));
  const std::optional<Wanted> wanted = wanted_from(bytes);
  if (!wanted) return 0;
  // What the model moves a plan has no reason to refuse: an error here is a finding.
  for (const mx::kernels::IsaTier& tier : mx::kernels::isa_tiers()) {
    if (!mx::kernels::runs_here(tier)) continue;
    const mx::kernels::relayout::Plan plan(wanted->from, wanted->to, tier);
    Memory target(wanted->target.size(), 0xA5);
    mx::kernels::relayout::apply(plan, wanted->source, target, threads);
    mx::tests::require(target == wanted->target, "every tier has the model's bytes");
    if (drops_elements(wanted->to)) continue;
    Memory back(wanted->source.size(), 0xA5);
    mx::kernels::relayout::undo(plan, target, back, threads);
    mx::tests::require(back == wanted->source, "undoing gives the tensor back");
  }
  return 0;
}
