#include "checkpoint/layer_packer.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "checkpoint/layer_reader.hpp"
#include "checkpoint/part_moves.hpp"
#include "checkpoint/shard.hpp"
#include "kernels/zeros.hpp"
#include "model/families/fnuz.hpp"
#include "support/one_behind.hpp"

namespace mx::checkpoint {
namespace {

using kernels::relayout::TensorMove;
using layout::Layout;
using layout::PackedTensor;
using layout::Role;
using layout::TensorPlan;

/// A rank's tensor as a checkpoint would hold it, in equal parts: expert by expert, else all in one.
class RankTensor {
 public:
  /// `target`: where it goes, if that is known; a layout that mixes experts makes it one part.
  RankTensor(const LayerSource& source, Role role, const RankPart& rank, const Layout* target, PartMemory& memory)
      : source_(source), role_(role), memory_(memory) {
    const layout::Sizes sizes = rank.sizes_of(source.sizes());
    const Layout whole = layout::canonical(role, source.sizes(), source.form()), own = layout::canonical(role, sizes, source.form());
    const std::optional<Layout> cut = rank.is_whole(source.sizes()) ? std::nullopt : rank_layout(role, source.sizes(), source.form(), rank);
    parts_ = parts_of({&whole, &own, cut ? &*cut : &own, target != nullptr ? target : &own});
    if (cut) cut_.emplace(TensorMove::place(part_of(whole), {part_of(*cut), &layout::kKeep}));
    part_bytes_ = static_cast<std::uint64_t>(own.bytes() / parts_);
    own_.emplace(part_of(own));
  }

  std::int64_t parts() const { return parts_; }
  std::uint64_t part_bytes() const { return part_bytes_; }
  const Layout& own_part() const { return *own_; }
  /// The part of a layout that belongs to a part of the tensor.
  Layout part_of(const Layout& layout) const { return checkpoint::part_of(layout, parts_); }

  /// Calls visit(bytes) for all parts in order, some at a time.
  template <class Visit>
  void for_each_turn(const support::StopPoint& stop, const Visit& visit) {
    checkpoint::for_each_turn(static_cast<std::uint64_t>(parts_), part_bytes_, stop,
                              [&](std::uint64_t first, std::uint64_t count) { visit(load(first, count)); });
  }

 private:
  std::span<const std::uint8_t> load(std::uint64_t first, std::uint64_t count) {
    const std::uint64_t in_file = cut_ ? static_cast<std::uint64_t>(cut_->source_bytes()) : part_bytes_;
    const std::span<std::uint8_t> bytes = room(memory_.read, in_file * count);
    source_.read(role_, in_file * first, bytes);
    if (!cut_) return bytes;
    const std::span<std::uint8_t> own = room(memory_.held, part_bytes_ * count);
    move_parts(*cut_, bytes, own);
    return own;
  }

  const LayerSource& source_;
  Role role_;
  PartMemory& memory_;
  std::int64_t parts_ = 1;
  std::uint64_t part_bytes_ = 0;
  std::optional<Layout> own_;
  std::optional<TensorMove> cut_;
};

}  // namespace

struct LayerPacker::Impl {
  const support::StopPoint& stop;
  RankPart rank;
  std::unique_ptr<LayerSource> layer;  ///< none: the tensors have their bytes
  families::PackedLayer packed;
  std::int64_t up_scales_dropped;
  std::vector<layout::Loss> lost_before;
  PartMemory memory = {};

  RankTensor tensor(Role role, const Layout* target) { return {*layer, role, rank, target, memory}; }

  /// The source that is placed, of the codes that the engine's method makes of it.
  void take(std::unique_ptr<LayerSource> source, bool fnuz) {
    if (!fnuz) {
      layer = std::move(source);
      return;
    }
    for (const Role role : layout::kAllRoles) {
      if (!source->has(role)) continue;
      std::int64_t lost = 0;
      RankTensor(*source, role, rank, nullptr, memory).for_each_turn(stop, [&](std::span<const std::uint8_t> bytes) {
        lost += families::lost_to_fnuz(role, bytes);
      });
      families::note_fnuz(role, lost, packed.losses);
    }
    layer = std::make_unique<FnuzLayer>(std::move(source));
  }

  /// All that is asked of the layer before it is placed, and the tensors that it will have.
  void plan(const families::BackendLayout& backend, const families::Setting& setting) {
    families::LayerOutline outline{rank.sizes_of(layer->sizes()), layer->form(), {}, 0};
    for (const Role role : layout::kAllRoles) {
      const bool there = outline.present[static_cast<std::size_t>(role)] = layer->has(role);
      if (!there || !layout::is_scale(role)) continue;
      tensor(role, nullptr).for_each_turn(stop, [&](std::span<const std::uint8_t> bytes) {
        outline.largest_scale_byte = std::max(outline.largest_scale_byte, families::largest_scale_byte(role, layer->form(), bytes));
      });
    }
    packed.setting = families::setting_for(outline, backend, setting);
    for (const Role role : layout::kAllRoles) {
      if (!layer->has(role)) continue;
      TensorPlan plan = backend.build(role, packed.setting);
      note_losses(role, plan);
      packed.tensors.push_back({role, std::move(plan.layout), plan.cast, {}});
    }
  }

  void note_losses(Role role, const TensorPlan& plan) {
    if (!families::may_lose(plan)) return;
    RankTensor source = tensor(role, &plan.layout);
    const TensorPlan part{source.part_of(plan.layout), plan.cast};
    families::LostUnits lost;
    source.for_each_turn(stop, [&](std::span<const std::uint8_t> bytes) {
      const families::LostUnits more = families::lost_units(part, bytes);
      lost.cast += more.cast;
      lost.cut += more.cut * static_cast<std::int64_t>(bytes.size() / source.part_bytes());
    });
    families::note_lost(role, plan, lost, packed.losses);
  }

  void place(std::size_t index, const PackedSink& sink, support::OneBehind& writing) {
    const PackedTensor& to = packed.tensors[index];
    RankTensor source = tensor(to.role, &to.layout);
    const TensorMove move = layout::named(to.role, [&] { return TensorMove::place(source.own_part(), {source.part_of(to.layout), to.cast}); });
    source.for_each_turn(stop, [&](std::span<const std::uint8_t> bytes) {
      // One is written while the other one is filled.
      std::swap(memory.made[0], memory.made[1]);
      const std::size_t parts = bytes.size() / source.part_bytes();
      const std::span<std::uint8_t> placed = room(memory.made[0], static_cast<std::uint64_t>(move.target_bytes()) * parts);
      layout::named(to.role, [&] { move_parts(move, bytes, placed); });
      writing.run([&sink, index, placed] { sink(index, placed); });
    });
  }
};

namespace {

/// Whether tensors are placed part by part: nothing couples their values, and the fast twin moves them.
bool is_by_parts(const families::BackendLayout& backend, kernels::relayout::MoveBy by) {
  return backend.values == nullptr && by == kernels::relayout::MoveBy::plans;
}

/// `setting`, whose form a conversion takes from the layer.
families::Setting in_form(families::Setting setting, const layout::Form& form) {
  setting.form = form;
  return setting;
}

/// The layer as if it had no more experts.
void keep_first(layout::CanonicalLayer& layer, std::int64_t experts) {
  const auto all = static_cast<std::size_t>(layer.sizes.experts), kept = static_cast<std::size_t>(experts);
  for (std::vector<std::uint8_t>& tensor : layer.tensors) tensor.resize(tensor.size() / all * kept);
  layer.sizes.experts = experts;
}

}  // namespace

LayerPacker::LayerPacker(const Checkpoint& checkpoint, int layer, const RankPart& rank, const families::BackendLayout& backend,
                         const families::Setting& setting, kernels::relayout::MoveBy by, const support::StopPoint& stop,
                         std::optional<std::int64_t> experts) {
  const std::int64_t first = experts.value_or(checkpoint.sizes(layer).experts);
  const bool fnuz = families::makes_fnuz(backend, in_form(setting, checkpoint.layout_form()));
  const Fp8Codes as = fnuz ? Fp8Codes::e4m3fnuz : Fp8Codes::e4m3fn;
  if (is_by_parts(backend, by)) {
    auto reader = std::make_unique<LayerReader>(checkpoint, layer, first, as);
    const std::int64_t dropped = reader->numbers().up_scales_dropped;
    std::vector<layout::Loss> again = reader->requantization_losses(rank.rank, rank.tp);
    impl_ = std::make_unique<Impl>(Impl{stop, rank, nullptr, {std::string(backend.backend), {}, {}, {}}, dropped, std::move(again)});
    impl_->take(std::move(reader), fnuz);
    impl_->plan(backend, setting);
    return;
  }
  MoeLayer whole = checkpoint.layer(layer, stop, as);
  keep_first(whole.experts, first);
  std::vector<layout::Loss> again = LayerReader(checkpoint, layer, first, as).requantization_losses(rank.rank, rank.tp);
  stop.check();
  if (!rank.is_whole(whole.experts.sizes)) whole.experts = shard(whole.experts, rank, kernels::relayout::mover_of(by));
  impl_ =
      std::make_unique<Impl>(Impl{stop, rank, nullptr, families::convert(std::move(whole.experts), backend, setting, kernels::relayout::mover_of(by)),
                                  whole.up_scales_dropped, std::move(again)});
}

LayerPacker::LayerPacker(const layout::CanonicalLayer& layer, const families::BackendLayout& backend, const families::Setting& setting,
                         kernels::relayout::MoveBy by, const support::StopPoint& stop) {
  if (is_by_parts(backend, by)) {
    impl_ = std::make_unique<Impl>(Impl{stop, {}, nullptr, {std::string(backend.backend), {}, {}, {}}, 0, {}});
    impl_->take(std::make_unique<HeldLayer>(layer), families::makes_fnuz(backend, in_form(setting, layer.form)));
    impl_->plan(backend, setting);
    return;
  }
  impl_ = std::make_unique<Impl>(Impl{stop, {}, nullptr, families::convert(layer, backend, setting, kernels::relayout::mover_of(by)), 0, {}});
}

LayerPacker::~LayerPacker() = default;
LayerPacker::LayerPacker(LayerPacker&&) noexcept = default;

const families::PackedLayer& LayerPacker::packed() const { return impl_->packed; }
const std::vector<layout::Loss>& LayerPacker::lost_before() const { return impl_->lost_before; }
std::int64_t LayerPacker::up_scales_dropped() const { return impl_->up_scales_dropped; }

void LayerPacker::run(const PackedSink& sink) {
  support::OneBehind writing;
  for (std::size_t i = 0; i < impl_->packed.tensors.size(); ++i) {
    if (impl_->layer) {
      impl_->place(i, sink, writing);
      continue;
    }
    // What is written is no longer held.
    const std::vector<std::uint8_t> bytes = std::move(impl_->packed.tensors[i].bytes);
    impl_->stop.check();
    sink(i, bytes);
  }
  writing.wait();
}

families::PackedLayer LayerPacker::collect() {
  if (!impl_->layer) return std::move(impl_->packed);
  std::vector<std::vector<std::uint8_t>> memory(impl_->packed.tensors.size());
  std::vector<std::size_t> filled(memory.size());
  run([&](std::size_t tensor, std::span<const std::uint8_t> bytes) {
    std::vector<std::uint8_t>& whole = memory[tensor];
    if (whole.empty()) whole = kernels::zeros(static_cast<std::size_t>(impl_->packed.tensors[tensor].layout.bytes()));
    std::ranges::copy(bytes, whole.begin() + static_cast<std::ptrdiff_t>(filled[tensor]));
    filled[tensor] += bytes.size();
  });
  families::PackedLayer packed = std::move(impl_->packed);
  for (std::size_t i = 0; i < memory.size(); ++i) packed.tensors[i].bytes = std::move(memory[i]);
  return packed;
}

}  // namespace mx::checkpoint
