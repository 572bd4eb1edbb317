#include "checkpoint/maker/made_by.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "checkpoint/maker/attempt.hpp"
#include "checkpoint/maker/explain.hpp"
#include "model/fault.hpp"

namespace mx::checkpoint {
namespace {

/// Elements that are held at a time.
constexpr std::int64_t kHeld = std::int64_t{1} << 15;
/// Of the rows that are tried first: at most so many elements, in so many places.
constexpr std::int64_t kTried = std::int64_t{1} << 16;
constexpr std::int64_t kPlaces = 16;
/// A rule is left out once so many more blocks differ than of the best one.
constexpr std::int64_t kSlack = 2;
/// Rules that are held against every block where none gives them all.
constexpr std::size_t kFinalists = 4;

class Search {
 public:
  Search(const CodedMatrix& matrix, const MakerOptions& options)
      : matrix_(matrix), options_(options), stop_(options.stop), unit_(std::max<std::int64_t>(matrix.block_rows, 1)), numbers_(matrix) {}

  MadeBy run() {
    take_amax();
    take_sample();
    std::vector<Attempt> left = tried(BridgeUse::always);
    if (left.empty() || left.front().counts().differing > 0) {
      for (Attempt& one : tried(BridgeUse::nothing_fits)) left.push_back(std::move(one));
      keep_best(left);
    }
    made_.known = !left.empty();
    if (left.empty()) {
      finish_lossless();
      return std::move(made_);
    }
    settle(left);
    return std::move(made_);
  }

 private:
  std::int64_t units() const { return (matrix_.rows + unit_ - 1) / unit_; }
  CodedBlocks read(std::int64_t first_unit, std::int64_t count) const {
    stop_.check();
    const std::int64_t first = first_unit * unit_, rows = std::min(count * unit_, matrix_.rows - first);
    return blocks_of(matrix_, matrix_.read(first, rows), rows);
  }

  /// One scale of a whole matrix follows from all of it.
  void take_amax() {
    amaxes_ = options_.further_amax;
    if (!matrix_.is_one_block()) return;
    made_.amax = options_.amax;
    const std::int64_t rows = std::max<std::int64_t>(kHeld / matrix_.columns, 1);
    for (std::int64_t at = 0; at < units() && options_.amax == 0; at += rows)
      made_.amax = std::max(made_.amax, amax_of(read(at, rows).base, *matrix_.source));
    amaxes_.insert(amaxes_.begin(), Amax{made_.amax, {}});
    if (amaxes_.size() > 1) std::erase_if(amaxes_, [&](const Amax& one) { return !one.text.empty() && one.bits == made_.amax; });
  }

  void take_sample() {
    const std::int64_t most = std::max<std::int64_t>(kTried / (matrix_.columns * unit_), 1);
    whole_ = units() <= most;
    const std::int64_t places = whole_ ? units() : std::min(most, kPlaces);
    for (std::int64_t i = 0; i < places; ++i) {
      const std::int64_t unit = i * units() / places;
      sample_.push_back({read(unit, 1), unit * unit_});
      add_lossless(sample_.back().blocks);
    }
  }

  void add_lossless(const CodedBlocks& blocks) {
    if (!lossless_) return;
    for (std::size_t block = 0; block < blocks.count && lossless_; ++block) {
      const double factor = numbers_.factor(blocks, block);
      for (std::size_t i = block * blocks.length; i < (block + 1) * blocks.length && lossless_; ++i)
        lossless_ = numbers_.base_at(blocks, i) == numbers_.code_at(blocks, i) * factor;
    }
  }

  /// Rules that are left after the sample, the best first.
  std::vector<Attempt> tried(BridgeUse use) const {
    std::vector<Attempt> left;
    for (const Candidate& candidate : candidates(matrix_, amaxes_, use))
      left.emplace_back(matrix_, candidate, matrix_.is_one_block() && !candidate.given ? amaxes_[candidate.amax].bits : made_.amax);
    for (const SampleBlocks& one : sample_) {
      stop_.check();
      for (Attempt& attempt : left) attempt.add({one.blocks, one.first_row});
      const auto best = std::ranges::min_element(left, {}, differing);
      if (best == left.end()) break;
      const std::int64_t limit = differing(*best) + kSlack;
      std::erase_if(left, [&](const Attempt& attempt) { return differing(attempt) > limit; });
    }
    keep_best(left);
    return left;
  }
  static std::int64_t differing(const Attempt& attempt) { return attempt.counts().differing; }

  /// Fewer blocks that differ first, then fewer codes, then the rules of the file's own producer, then those of releases, then those whose scale was
  /// not given.
  void keep_best(std::vector<Attempt>& left) const {
    const auto rank = [&](const Attempt& one) {
      const Profile& profile = *one.candidate().profile;
      const bool own = !options_.producer.empty() && same_word(profile.implementation, options_.producer);
      return std::tuple(differing(one), one.counts().codes, one.candidate().given, !own, !profile.releases.of_release(),
                        profile.implementation == kOcp);
    };
    std::ranges::stable_sort(left, {}, rank);
  }
  /// "compressed-tensors" and "compressed_tensors".
  static bool same_word(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, [](char x, char y) { return x == y || (x == '-' && y == '_') || (x == '_' && y == '-'); });
  }

  /// Every block under one rule. False where it was given up: more blocks differ than `limit`.
  bool hold(Attempt& attempt, std::int64_t limit) {
    if (whole_ || fault::planted(fault::Fault::first_rows_stand_for_all)) return true;
    attempt.forget();
    const bool first_time = !went_through_;
    const std::int64_t count = std::max<std::int64_t>(kHeld / (matrix_.columns * unit_), 1);
    for (std::int64_t at = 0; at < units(); at += count) {
      const CodedBlocks blocks = read(at, count);
      attempt.add({blocks, at * unit_});
      if (first_time) {
        add_lossless(blocks);
        if (!matrix_.is_one_block()) made_.amax = std::max(made_.amax, amax_of(blocks.base, *matrix_.source));
      } else if (differing(attempt) > limit) {
        return false;
      }
    }
    went_through_ = true;
    return true;
  }

  void settle(std::vector<Attempt>& left) {
    Attempt* best = nullptr;
    const std::size_t exact_on_sample = static_cast<std::size_t>(std::ranges::count(left, 0, differing));
    const std::size_t finalists = std::min(left.size(), std::max(std::min(exact_on_sample, left.size()), kFinalists));
    for (std::size_t i = 0; i < finalists; ++i) {
      if (!hold(left[i], best == nullptr ? 0 : differing(*best))) continue;
      if (best == nullptr || differing(left[i]) < differing(*best)) best = &left[i];
      if (differing(*best) == 0) break;
    }
    if (whole_ && !matrix_.is_one_block()) {
      for (const SampleBlocks& one : sample_) made_.amax = std::max(made_.amax, amax_of(one.blocks.base, *matrix_.source));
    }
    made_.lossless = lossless_;
    made_.counts = best->counts();
    made_.given = best->candidate().given;
    made_.nearest = named(*best);
    if (made_.counts.differing > 0) {
      made_.cause = cause_of(matrix_, *best, sample_);
      return;
    }
    if (made_.given) made_.cause = known_scale(matrix_, made_.amax);
    made_.exact.push_back(made_.nearest);
    for (const Attempt& other : left) {
      if (&other == best || differing(other) > 0 || other.candidate().given != made_.given) continue;
      if (const Maker maker = named(other); std::ranges::find(made_.exact, maker) == made_.exact.end()) made_.exact.push_back(maker);
    }
  }
  Maker named(const Attempt& attempt) const { return maker_of(attempt.candidate(), attempt.counts().narrowed > 0, *matrix_.scale); }

  /// Where no rule is known.
  void finish_lossless() {
    const std::int64_t count = std::max<std::int64_t>(kHeld / (matrix_.columns * unit_), 1);
    for (std::int64_t at = 0; at < units() && lossless_ && !whole_; at += count) add_lossless(read(at, count));
    made_.lossless = lossless_;
  }

  const CodedMatrix& matrix_;
  const MakerOptions& options_;
  const support::StopPoint stop_;
  std::int64_t unit_;
  CodedNumbers numbers_;
  std::vector<Amax> amaxes_;
  std::vector<SampleBlocks> sample_;
  bool whole_ = false;         ///< the sample is the matrix
  bool went_through_ = false;  ///< every block was read once
  bool lossless_ = true;
  MadeBy made_;
};

}  // namespace

MadeBy made_by(const CodedMatrix& matrix, const MakerOptions& options) { return Search(matrix, options).run(); }

}  // namespace mx::checkpoint
