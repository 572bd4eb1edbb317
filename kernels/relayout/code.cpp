#include "kernels/relayout/code.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>

namespace mx::kernels::relayout {
namespace {

constexpr std::size_t kAlign = 64;

/// Registers whose kernel has passes and finishes.
constexpr int kEvenWidth = 64;

#if defined(__x86_64__) && !defined(MXACT_PORTABLE)
constexpr std::array kKernels{
    TileKernel{{"portable", 0, mx_tiles_portable}, 1, 1024},
    TileKernel{{"avx2", kAvx2, mx_tiles_avx2}, 16, 1024},
    TileKernel{{"avx512-vbmi-gfni", kAvx2 | kAvx512 | kAvx512Vbmi | kGfni, mx_tiles_avx512}, 64, 4096, true},
};
#elif defined(__AARCH64EL__) && !defined(MXACT_PORTABLE)
constexpr std::array kKernels{TileKernel{{"portable", 0, mx_tiles_portable}, 1, 1024}, TileKernel{{"neon", kNeon, mx_tiles_neon}, 16, 1024}};
#else
constexpr std::array kKernels{TileKernel{{"portable", 0, mx_tiles_portable}, 1, 1024}};
#endif

std::uint8_t through(const BitMatrix& matrix, unsigned value) {
  unsigned out = 0;
  for (unsigned bit = 0; bit < 8; ++bit) out |= (static_cast<unsigned>(std::popcount(matrix[bit] & value)) & 1U) << bit;
  return static_cast<std::uint8_t>(out);
}

std::vector<std::uint8_t> index_table(const Step2& step, int width) {
  std::vector<std::uint8_t> out;
  if (width == 64) {
    for (std::int16_t index : step.index) out.push_back(index < 0 ? 0 : static_cast<std::uint8_t>(index));
    return out;
  }
  constexpr std::uint8_t kNothing = 0x80;
  for (const int first : {0, width}) {
    for (std::int16_t index : step.index) {
      const bool here = index >= first && index < first + width;
      out.push_back(here ? static_cast<std::uint8_t>(index - first) : kNothing);
    }
  }
  return out;
}

std::vector<std::uint8_t> matrix_table(const LaneTerm& term) {
  std::vector<std::uint8_t> out;
  for (const BitMatrix& matrix : term.matrices) {
    for (int copy = 0; copy < kLane / 8; ++copy) out.insert(out.end(), matrix.rbegin(), matrix.rend());
  }
  for (const unsigned step : {1U, 16U}) {
    for (const BitMatrix& matrix : term.matrices) {
      for (unsigned nibble = 0; nibble < 16; ++nibble) out.push_back(through(matrix, nibble * step));
    }
  }
  return out;
}

/// Places of registers in the scratch memory: a place is used again after its register's last use.
class Places {
 public:
  Places(const RegisterPlan& plan, int width) : width_(static_cast<std::uint32_t>(width)), places_(static_cast<std::size_t>(plan.registers), kNone) {
    last_use_.resize(places_.size(), 0);
    std::size_t now = 0;
    for (const Step2& step : plan.gather) use(step.a, step.b, ++now);
    for (const LaneMix& mix : plan.mixes) {
      ++now;
      for (const LaneTerm& term : mix.terms) use(term.from, term.from, now);
    }
    for (const Step2& step : plan.scatter) use(step.a, step.b, ++now);
  }

  void fix(int number, std::uint32_t place) {
    places_[static_cast<std::size_t>(number)] = place;
    next_ = std::max(next_, place + width_);
    last_use_[static_cast<std::size_t>(number)] = kForever;
  }

  std::uint32_t of(int number) const { return places_[static_cast<std::size_t>(number)]; }

  /// The place of a register that is made now.
  std::uint32_t make(int number) {
    std::uint32_t& place = places_[static_cast<std::size_t>(number)];
    if (place != kNone) return place;
    if (free_.empty()) {
      place = next_;
      next_ += width_;
    } else {
      place = free_.back();
      free_.pop_back();
    }
    return place;
  }

  /// Gives back what is used for the last time at this step.
  void end_step(std::size_t now, std::initializer_list<int> used) {
    for (int number : used) {
      const auto i = static_cast<std::size_t>(number);
      if (last_use_[i] != now) continue;
      free_.push_back(places_[i]);
      last_use_[i] = kForever;
    }
  }

  std::uint32_t end() const { return next_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::size_t kForever = ~std::size_t{0};

  void use(int a, int b, std::size_t now) {
    last_use_[static_cast<std::size_t>(a)] = now;
    last_use_[static_cast<std::size_t>(b)] = now;
  }

  std::uint32_t width_;
  std::vector<std::uint32_t> places_;
  std::vector<std::size_t> last_use_;
  std::vector<std::uint32_t> free_;
  std::uint32_t next_ = 0;
};

}  // namespace

const TileKernel& tile_kernel(const IsaTier& tier) {
  const TileKernel* best = &kKernels.front();
  for (const TileKernel& kernel : kKernels) {
    if ((kernel.row.needs & ~tier.needs) == 0) best = &kernel;
  }
  return *best;
}

TileProgram::TileProgram(const Tiles& tiles, int width) {
  code_.bytes = static_cast<std::uint32_t>(tiles.bytes);
  if (tiles.is_copy) {
    scratch_bytes_ = static_cast<std::size_t>(tiles.bytes);
  } else {
    if (width == 1) {
      add_parts(tiles);
    } else if (width != kEvenWidth || !add_even(tiles, width)) {
      add_registers(tiles, width);
    }
  }
  form_count_ = tiles.forms.size();
  for (const TileForm& form : tiles.forms) add_form(form, tiles.is_copy);
  if (tiles.stage.bytes != 0) {
    for (const TileForm& form : tiles.forms) add_form({form.loads, form.fills, form.staged, {}}, tiles.is_copy);
  }
  for (const FormArrays& f : form_arrays_) {
    const auto count = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
    forms_.push_back({f.loads.data(), f.fills.data(), f.stores.data(), f.copies.data(), f.in.lanes.data(), f.out.lanes.data(), f.in.width,
                      f.out.width, f.in.whole, f.out.whole, are_lines(f.out) ? 1 : 0, forms_.size() < form_count_ ? 0 : 1, count(f.loads),
                      count(f.fills), count(f.stores), count(f.copies)});
  }
  table_memory_.resize(tables_.size() + kAlign);
  const auto address = reinterpret_cast<std::uintptr_t>(table_memory_.data());
  std::uint8_t* aligned = table_memory_.data() + (kAlign - address % kAlign) % kAlign;
  if (!tables_.empty()) std::memcpy(aligned, tables_.data(), tables_.size());
  tables_.clear();
  tables_.shrink_to_fit();
  code_.tables = aligned;
  for (std::size_t p = 0; p < passes_.size(); ++p) passes_[p].blocks = blocks_[p].data();
  code_.passes = passes_.data();
  code_.pass_count = static_cast<std::int64_t>(passes_.size());
  code_.finishes = finishes_.data();
  code_.finish_count = static_cast<std::int64_t>(finishes_.size());
  code_.gather = gather_.data();
  code_.gather_count = static_cast<std::int64_t>(gather_.size());
  code_.terms = terms_.data();
  code_.mixes = mixes_.data();
  code_.mix_count = static_cast<std::int64_t>(mixes_.size());
  code_.scatter = scatter_.data();
  code_.scatter_count = static_cast<std::int64_t>(scatter_.size());
  code_.parts = parts_.data();
  code_.part_starts = part_starts_.empty() ? nullptr : part_starts_.data();
}

std::uint32_t TileProgram::table(std::span<const std::uint8_t> bytes) {
  // Tables repeat: a tile's steps differ in their registers more than in what they do.
  for (std::size_t at = 0; at + bytes.size() <= tables_.size(); at += kAlign) {
    if (std::equal(bytes.begin(), bytes.end(), tables_.begin() + static_cast<std::ptrdiff_t>(at))) return static_cast<std::uint32_t>(at);
  }
  const std::size_t at = tables_.size();
  tables_.insert(tables_.end(), bytes.begin(), bytes.end());
  tables_.resize((tables_.size() + kAlign - 1) / kAlign * kAlign);
  return static_cast<std::uint32_t>(at);
}

void TileProgram::add_parts(const Tiles& tiles) {
  std::map<BitMatrix, std::uint32_t> known;
  for (const std::vector<BytePart>& parts : tiles.parts) {
    part_starts_.push_back(static_cast<std::uint32_t>(parts_.size()));
    for (const BytePart& part : parts) {
      const auto [entry, is_new] = known.emplace(part.rows, 0);
      if (is_new) {
        std::array<std::uint8_t, 256> values{};
        for (unsigned value = 0; value < values.size(); ++value) values[value] = through(part.rows, value);
        entry->second = table(values);
      }
      parts_.push_back({static_cast<std::uint32_t>(part.source), entry->second});
    }
  }
  part_starts_.push_back(static_cast<std::uint32_t>(parts_.size()));
  code_.target_at = (code_.bytes + 63U) / 64U * 64U;
  scratch_bytes_ = 2 * static_cast<std::size_t>(code_.target_at);
}

bool TileProgram::add_even(const Tiles& tiles, int width) {
  const std::optional<EvenPlan> plan = even_plan(tiles, width);
  if (!plan) return false;
  // The source's area, one between, the target's: passes write to and fro, the last one of all into the target.
  const auto bytes = static_cast<std::uint32_t>(tiles.bytes);
  const auto step = static_cast<std::uint32_t>(width);
  code_.target_at = 2 * bytes;
  scratch_bytes_ = 3 * static_cast<std::size_t>(bytes);
  std::uint32_t from = 0;
  const auto tables_of = [&](const std::vector<std::vector<std::int16_t>>& indexes) {
    std::vector<std::uint8_t> all;
    for (const std::vector<std::int16_t>& index : indexes) all.insert(all.end(), index.begin(), index.end());
    return table(all);
  };
  const std::vector<std::vector<Block>>& passes = plan->passes.passes;
  const bool is_finished = !plan->finishes.empty() || !plan->swaps.empty() || !plan->twins.empty();
  for (std::size_t p = 0; p < passes.size(); ++p) {
    const bool is_last = p + 1 == passes.size() && !is_finished;
    const std::uint32_t to = is_last ? code_.target_at : bytes - from;
    std::vector<MxTileBlock> blocks;
    for (const Block& block : passes[p]) {
      MxTileBlock out{};
      for (std::size_t i = 0; i < block.in.size(); ++i) {
        out.in[i] = from + static_cast<std::uint32_t>(block.in[i]) * step;
        out.out[i] = to + static_cast<std::uint32_t>(block.out[i]) * step;
      }
      out.sorts = tables_of(block.sorts);
      if (!block.orders.empty()) out.orders = tables_of(block.orders);
      blocks.push_back(out);
    }
    const Block& first = passes[p].front();
    passes_.push_back({nullptr, static_cast<std::int64_t>(blocks.size()), first.levels, first.orders.empty() ? 0 : 1});
    blocks_.push_back(std::move(blocks));
    from = to;
  }
  add_finishes(*plan, from, step);
  return true;
}

/// `from`: where the last pass leaves its registers.
void TileProgram::add_finishes(const EvenPlan& plan, std::uint32_t from, std::uint32_t width) {
  const auto made = [&](int reg) { return from + static_cast<std::uint32_t>(reg) * width; };
  const auto target = [&](auto reg) { return code_.target_at + static_cast<std::uint32_t>(reg) * width; };
  for (std::size_t i = 0; i < plan.finishes.size(); ++i) {
    const Finish& finish = plan.finishes[i];
    std::vector<std::uint8_t> tables;
    for (const Finish::Term& term : finish.terms) {
      tables.insert(tables.end(), term.index.begin(), term.index.end());
      const std::vector<std::uint8_t> matrices = matrix_table({0, term.matrices});
      tables.insert(tables.end(), matrices.begin(), matrices.begin() + width);
    }
    tables.insert(tables.end(), finish.order.begin(), finish.order.end());
    finishes_.push_back({made(finish.a), made(finish.b), target(i), 0, table(tables)});
    code_.finish_terms = static_cast<std::int64_t>(finish.terms.size());
    if (finish.a != finish.b) code_.finish_kind = kMxPairs;
  }
  for (std::size_t i = 0; i < plan.swaps.size(); ++i) {
    const NibbleSwap& swap = plan.swaps[i];
    std::vector<std::uint8_t> tables(swap.partners.begin(), swap.partners.end());
    tables.insert(tables.end(), swap.masks.begin(), swap.masks.end());
    tables.insert(tables.end(), swap.order.begin(), swap.order.end());
    finishes_.push_back({made(swap.from), made(swap.from), target(i), 0, table(tables)});
    code_.finish_kind = kMxSwap;
  }
  for (const NibbleTwins& twins : plan.twins) {
    std::vector<std::uint8_t> tables(twins.low.begin(), twins.low.end());
    tables.insert(tables.end(), twins.high.begin(), twins.high.end());
    finishes_.push_back({made(twins.a), made(twins.b), target(twins.targets[0]), target(twins.targets[1]), table(tables)});
    code_.finish_kind = kMxTwins;
  }
  while (finishes_.size() % kMxFinishGroup != 0) finishes_.push_back(finishes_.back());
}

void TileProgram::add_registers(const Tiles& tiles, int width) {
  const RegisterPlan plan = register_plan(tiles, width);
  Places places(plan, width);
  const auto bytes = static_cast<std::uint32_t>(std::max(tiles.bytes, width));
  const auto step_bytes = static_cast<std::uint32_t>(width);
  code_.target_at = bytes;
  for (std::uint32_t at = 0; at < bytes; at += step_bytes) places.fix(static_cast<int>(at / step_bytes), at);
  for (std::size_t i = 0; i < plan.targets.size(); ++i) places.fix(plan.targets[i], bytes + static_cast<std::uint32_t>(i) * step_bytes);
  std::size_t now = 0;
  const auto add = [&](const std::vector<Step2>& steps, std::vector<MxTileStep>& list) {
    for (const Step2& step : steps) {
      const std::uint32_t out = places.make(step.out);
      list.push_back({out, places.of(step.a), places.of(step.b), table(index_table(step, width))});
      places.end_step(++now, {step.a, step.b});
    }
  };
  add(plan.gather, gather_);
  const auto groups = static_cast<std::size_t>(kMxGroup);
  for (std::size_t first = 0; first < plan.mixes.size(); first += groups) {
    const std::span<const LaneMix> mixes(plan.mixes.data() + first, groups);
    for (std::size_t t = 0; t < mixes.front().terms.size(); ++t) {
      for (const LaneMix& mix : mixes) terms_.push_back({places.of(mix.terms[t].from), table(matrix_table(mix.terms[t]))});
    }
    for (const LaneMix& mix : mixes) {
      mixes_.push_back(places.make(mix.out));
      ++now;
      for (const LaneTerm& term : mix.terms) places.end_step(now, {term.from});
    }
  }
  code_.terms_per_mix = plan.mixes.empty() ? 0 : static_cast<std::int64_t>(plan.mixes.front().terms.size());
  add(plan.scatter, scatter_);
  scratch_bytes_ = places.end();
}

/// Where in the source area the first pass reads its registers.
std::vector<std::uint32_t> TileProgram::read_order() const {
  std::vector<std::uint32_t> order;
  for (const MxTileBlock& block : blocks_.front())
    order.insert(order.end(), block.in, block.in + block_size(static_cast<int>(passes_.front().levels)));
  return order;
}

/// Where in the target area registers belong, as the finishes, or else the last pass, make them.
std::vector<std::uint32_t> TileProgram::made_order() const {
  std::vector<std::uint32_t> order;
  for (const MxTileFinish& finish : finishes_) {
    order.push_back(finish.out - code_.target_at);
    if (code_.finish_kind == kMxTwins) order.push_back(finish.twin - code_.target_at);
  }
  if (!finishes_.empty()) return order;
  for (const MxTileBlock& block : blocks_.back()) {
    for (std::size_t i = 0; i < block_size(static_cast<int>(passes_.back().levels)); ++i) order.push_back(block.out[i] - code_.target_at);
  }
  return order;
}

void TileProgram::add_form(const TileForm& form, bool is_copy) {
  FormArrays out;
  const auto piece = [](const Piece& p) {
    return MxTilePiece{p.offset, static_cast<std::uint32_t>(p.in_tile), static_cast<std::uint32_t>(p.length)};
  };
  // Padding of runs is put beside them first, so that whole lines are written.
  if (!is_copy || !form.fills.empty()) {
    if (!passes_.empty()) {
      const auto bytes = static_cast<std::int32_t>(code_.bytes);
      if (std::ranges::all_of(form.fills, [](const Fill& fill) { return fill.content == 0; }))
        out.in = in_order(lanes_of(form.loads, bytes), read_order());
      out.out = in_order(lanes_of(form.stores, bytes), made_order());
    }
    for (const Piece& p : form.loads) out.loads.push_back(piece(p));
    for (const Piece& p : form.stores) out.stores.push_back(piece(p));
    for (const Fill& f : form.fills) out.fills.push_back({static_cast<std::uint32_t>(f.in_tile), static_cast<std::uint32_t>(f.length), f.content});
    form_arrays_.push_back(std::move(out));
    return;
  }
  for (const Piece& store : form.stores) {
    const auto overlap = [&](std::int32_t begin, std::int32_t length) {
      const std::int32_t first = std::max(begin, store.in_tile);
      return std::pair(first, std::min(begin + length, store.in_tile + store.length) - first);
    };
    for (const Piece& load : form.loads) {
      const auto [first, length] = overlap(load.in_tile, load.length);
      if (length > 0) out.copies.push_back({load.offset + first - load.in_tile, store.offset + first - store.in_tile, length});
    }
  }
  form_arrays_.push_back(std::move(out));
}

std::size_t TileProgram::memory() const {
  const auto bytes = [](const auto& list) { return list.size() * sizeof(list[0]); };
  std::size_t total = bytes(gather_) + bytes(scatter_) + bytes(terms_) + bytes(mixes_) + bytes(parts_) + bytes(part_starts_) + bytes(table_memory_);
  for (const FormArrays& f : form_arrays_)
    total += bytes(f.loads) + bytes(f.fills) + bytes(f.stores) + bytes(f.copies) + bytes(f.in.lanes) + bytes(f.out.lanes);
  return total;
}

}  // namespace mx::kernels::relayout
