#include "checkpoint/layer_unpacker.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "checkpoint/part_moves.hpp"
#include "checkpoint/shard.hpp"
#include "model/error.hpp"
#include "model/families/fnuz.hpp"
#include "support/digest.hpp"
#include "support/one_behind.hpp"

namespace mx::checkpoint {
namespace {

using kernels::relayout::TensorMove;
using layout::CanonicalLayer;
using layout::Layout;
using layout::PackedTensor;
using layout::Role;

/// What `work` does, with the rank's file on errors.
template <class Work>
auto in_file(const ConvertedLayer& rank, Work work) {
  try {
    return work();
  } catch (const Error& error) {
    const std::string place = rank.file->path().string();
    if (error.where().starts_with(place)) throw;
    throw Error(error.code(), error.what(), place);
  }
}

[[noreturn]] void fail(const ConvertedLayer& rank, const std::string& message) { throw Error(ErrorCode::input, message, rank.file->path().string()); }

const PackedTag& tag_of(const ConvertedLayer& rank, Role role) { return *std::ranges::find(rank.tags.tensors, role, &PackedTag::role); }

/// A rank's whole layer.
CanonicalLayer restored(const ConvertedLayer& rank, families::OnLoss on_loss, const layout::Mover& mover, const support::StopPoint& stop) {
  return in_file(rank, [&] {
    families::PackedLayer packed = read_packed_layer(rank.tags, *rank.file, stop);
    std::string changed;
    for (const PackedTag& tag : rank.tags.tensors) {
      if (changed.empty()) changed = changed_content(tag, support::digest_of(packed.find(tag.role)->bytes));
    }
    CanonicalLayer layer = families::restore(std::move(packed), on_loss, mover);
    // Second: bytes that no conversion makes say more of themselves.
    if (!changed.empty()) fail(rank, changed);
    return layer;
  });
}

/// One tensor of a rank, part by part.
struct RankParts {
  const ConvertedLayer& rank;
  Role role;
  const support::TensorView& view;
  TensorMove take;
  support::DigestStream digest = {};

  std::uint64_t packed_bytes() const { return static_cast<std::uint64_t>(take.source_bytes()); }
  std::uint64_t own_bytes() const { return static_cast<std::uint64_t>(take.target_bytes()); }

  std::span<const std::uint8_t> read(std::uint64_t first, std::uint64_t count, std::vector<std::uint8_t>& memory) {
    const std::span<std::uint8_t> bytes = room(memory, packed_bytes() * count);
    rank.file->read(view, packed_bytes() * first, bytes);
    digest.add(bytes);
    return bytes;
  }

  void check_digest() const {
    if (const std::string changed = changed_content(tag_of(rank, role), digest.text()); !changed.empty()) fail(rank, changed);
  }
};

}  // namespace

struct LayerUnpacker::Impl {
  std::vector<const ConvertedLayer*> ranks;
  const support::StopPoint& stop;
  layout::Sizes sizes;
  layout::Form form;
  std::vector<families::PackedLayer> outlines;  ///< of every rank; none: `whole` has the bytes
  CanonicalLayer whole = {};
  bool fnuz = false;  ///< of outlines: the engine's method made the codes e4m3fnuz
  PartMemory memory = {};

  std::uint64_t tp() const { return ranks.size(); }

  void take(Role role, const CanonicalSink& sink, support::OneBehind& writing) {
    const Layout to = layout::canonical(role, sizes, form), own = layout::canonical(role, outlines.front().setting.sizes, form);
    std::int64_t parts = parts_of({&to, &own});
    for (std::size_t r = 0; r < tp(); ++r) {
      if (outlines[r].find(role) == nullptr) fail(*ranks[r], std::string(layout::name_of(role)) + " is missing, though another rank has it");
      parts = std::min(parts, parts_of({&outlines[r].find(role)->layout}));
    }
    std::vector<RankParts> of_ranks;
    for (std::size_t r = 0; r < tp(); ++r) {
      const PackedTensor& tensor = *outlines[r].find(role);
      of_ranks.push_back({*ranks[r], role, *ranks[r]->file->find(tag_of(*ranks[r], role).name),
                          TensorMove::take({part_of(tensor.layout, parts), tensor.cast}, part_of(own, parts))});
    }
    const std::optional<TensorMove> join = join_of(role, to, parts);
    for_each_turn(static_cast<std::uint64_t>(parts), of_ranks.front().own_bytes() * tp(), stop, [&](std::uint64_t first, std::uint64_t count) {
      // One is written while the other one is filled.
      std::swap(memory.made[0], memory.made[1]);
      const std::span<const std::uint8_t> made = join ? joined(of_ranks, *join, first, count) : alike(of_ranks, first, count);
      writing.run([&sink, role, made] { sink(role, made); });
    });
    for (const RankParts& rank : of_ranks) rank.check_digest();
  }

  /// How the ranks' parts become one; none where every rank has all of it.
  std::optional<TensorMove> join_of(Role role, const Layout& to, std::int64_t parts) const {
    layout::Sizes part = sizes;
    part.experts /= parts;
    const layout::Sizes& own = outlines.front().setting.sizes;
    const RankPart rank{0, static_cast<int>(tp()), own.intermediate, own.group};
    const std::optional<Layout> all = rank.is_whole(sizes) ? std::nullopt : ranks_layout(role, part, form, rank);
    if (!all) return std::nullopt;
    return TensorMove::take({*all, &layout::kKeep}, part_of(to, parts));
  }

  void take_parts(RankParts& rank, std::uint64_t first, std::uint64_t count, std::span<std::uint8_t> own) {
    in_file(rank.rank, [&] { layout::named(rank.role, [&] { move_parts(rank.take, rank.read(first, count, memory.read), own); }); });
    if (fnuz) families::from_fnuz(rank.role, own);
  }

  std::span<const std::uint8_t> joined(std::vector<RankParts>& of_ranks, const TensorMove& join, std::uint64_t first, std::uint64_t count) {
    const std::uint64_t own = of_ranks.front().own_bytes();
    const std::span<std::uint8_t> held = room(memory.held, own * tp() * count);
    // The ranks of a part lie beside each other.
    for (std::uint64_t part = 0; part < count; ++part) {
      for (std::uint64_t r = 0; r < tp(); ++r) take_parts(of_ranks[r], first + part, 1, held.subspan((part * tp() + r) * own, own));
    }
    const std::span<std::uint8_t> made = room(memory.made[0], static_cast<std::uint64_t>(join.target_bytes()) * count);
    move_parts(join, held, made);
    return made;
  }

  std::span<const std::uint8_t> alike(std::vector<RankParts>& of_ranks, std::uint64_t first, std::uint64_t count) {
    const std::uint64_t size = of_ranks.front().own_bytes() * count;
    const std::span<std::uint8_t> made = room(memory.made[0], size);
    take_parts(of_ranks.front(), first, count, made);
    for (std::size_t r = 1; r < tp(); ++r) {
      const std::span<std::uint8_t> other = room(memory.held, size);
      take_parts(of_ranks[r], first, count, other);
      if (std::ranges::equal(made, other)) continue;
      throw Error(ErrorCode::input, "is whole on every rank, but the ranks' differ", std::string(layout::name_of(of_ranks[r].role)));
    }
    return made;
  }
};

LayerUnpacker::LayerUnpacker(std::vector<const ConvertedLayer*> ranks, families::OnLoss on_loss, kernels::relayout::MoveBy by,
                             const support::StopPoint& stop) {
  const LayerTags& first = ranks.front()->tags;
  impl_ = std::make_unique<Impl>(Impl{std::move(ranks), stop, first.whole_sizes(), first.setting.form, {}});
  Impl& impl = *impl_;
  std::vector<CanonicalLayer> parts;
  for (const ConvertedLayer* const rank : impl.ranks) {
    families::PackedLayer outline = packed_outline(rank->tags, *rank->file);
    in_file(*rank, [&] { families::check_restorable(outline, on_loss); });
    const families::BackendLayout& backend = families::backend_layout_named(outline.backend, outline.setting.form.format, outline.setting.engine);
    if (backend.values != nullptr || by == kernels::relayout::MoveBy::model) {
      parts.push_back(restored(*rank, on_loss, kernels::relayout::mover_of(by), stop));
    } else {
      impl.fnuz = families::makes_fnuz(backend, outline.setting);
      impl.outlines.push_back(std::move(outline));
    }
  }
  const bool is_whole = parts.size() == 1 && parts.front().sizes == impl.sizes;
  if (!parts.empty()) impl.whole = is_whole ? std::move(parts.front()) : join(std::move(parts), impl.sizes, kernels::relayout::mover_of(by));
}

LayerUnpacker::~LayerUnpacker() = default;
LayerUnpacker::LayerUnpacker(LayerUnpacker&&) noexcept = default;

bool LayerUnpacker::gives(Role role) const {
  return impl_->outlines.empty() ? !impl_->whole[role].empty() : impl_->outlines.front().find(role) != nullptr;
}
const layout::Sizes& LayerUnpacker::sizes() const { return impl_->sizes; }
const layout::Form& LayerUnpacker::form() const { return impl_->form; }

void LayerUnpacker::run(const CanonicalSink& sink) {
  support::OneBehind writing;
  for (const Role role : layout::kAllRoles) {
    if (!gives(role)) continue;
    impl_->stop.check();
    if (!impl_->outlines.empty()) {
      impl_->take(role, sink, writing);
      continue;
    }
    const std::vector<std::uint8_t> bytes = std::move(impl_->whole[role]);
    sink(role, bytes);
  }
  writing.wait();
}

}  // namespace mx::checkpoint
