#include "kernels/dot/tile.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <vector>

#include "kernels/dot/kernels.hpp"
#include "kernels/dot/row.hpp"
#include "kernels/dot/tile_sides.hpp"
#include "kernels/pieces.hpp"
#include "kernels/threads.hpp"
#include "model/fault.hpp"
#include "model/numerics/f32.hpp"

namespace mx::kernels::dot {
namespace {

#if defined(__x86_64__) && !defined(MXACT_PORTABLE)
constexpr std::array kAligned{KernelRow<AlignedFunction>{"aligned portable", 0, aligned_portable},
                              KernelRow<AlignedFunction>{"aligned avx2", kAvx2, aligned_avx2},
                              KernelRow<AlignedFunction>{"aligned avx512", kAvx512, aligned_avx512}};
constexpr std::array kFp4{KernelRow<Fp4Function>{"fp4 portable", 0, fp4_portable}, KernelRow<Fp4Function>{"fp4 avx2", kAvx2, fp4_avx2},
                          KernelRow<Fp4Function>{"fp4 avx512", kAvx512, fp4_avx512}};
#else
constexpr std::array kAligned{KernelRow<AlignedFunction>{"aligned portable", 0, aligned_portable}};
constexpr std::array kFp4{KernelRow<Fp4Function>{"fp4 portable", 0, fp4_portable}};
#endif

constexpr int kMostAligned = 25;
constexpr int kMostFp4 = 36;
constexpr int kMostRun = 31;
constexpr std::size_t kLongest = std::size_t{1} << 20;

/// Who adds up.
enum class Way { model, aligned, fp4 };

/// Bits of the significand of an operand's factors.
int factor_bits(const ContractRow& row, const TileOperand& operand) {
  const Format& format = row.cast != nullptr ? *row.cast : *operand.format;
  const int of_scale = row.scales == ScaleEntry::term && operand.scale_format != nullptr ? operand.scale_format->mantissa_bits + 1 : 0;
  return format.mantissa_bits + 1 + of_scale;
}

bool rounds_as_kernels_do(const ContractRow& row) {
  const bool truncates = row.result_loss == Loss::toward_zero && *row.result == kF32;
  const bool in_fp16 = row.result_loss == Loss::nearest_even && *row.result == kFp16 && row.kept_bits == kFp16.mantissa_bits + 1;
  return truncates || in_fp16;
}

Way way_of(const ContractRow& row, const Tile& tile) {
  const bool starts_apart = !tile.c.empty() && row.addend_place == AddendPlace::term && *row.addend != *row.result;
  if (!truncates_with_c(row) || !rounds_as_kernels_do(row) || scales_chains(row.scales) || starts_apart || tile.k > kLongest) return Way::model;
  if (row.reference == Reference::product && row.presum == 1) {
    const bool fits = row.alignment_bits <= kMostAligned && factor_bits(row, tile.a) + factor_bits(row, tile.b) <= 24;
    return fits ? Way::aligned : Way::model;
  }
  const bool is_fp4 = *tile.a.format == kE2m1 && *tile.b.format == kE2m1 && row.reference == Reference::scale && row.presum <= kMostRun &&
                      row.alignment_bits <= kMostFp4 && row.order.size() == 1 && row.restart == 0 && *row.result == kF32;
  return is_fp4 ? Way::fp4 : Way::model;
}

/// fp32 bits of a row's scale of the total; 1.0 without one.
std::vector<std::uint32_t> total_scales(const ContractRow& row, const TileOperand& operand, std::size_t rows, std::size_t k) {
  std::vector<std::uint32_t> scales(rows, f32::kOne);
  if (operand.scale_format == nullptr || row.scales == ScaleEntry::term || row.scales == ScaleEntry::operand) return scales;
  TileOperand one = operand;
  for (std::size_t i = 0; i < rows; ++i) scales[i] = prepared_row(row, Side::a, one, i, k).scales.front();
  return scales;
}

/// A C from which the kernels begin.
bool is_plain_start(const ContractRow& row, std::uint32_t c) {
  const int exponent = static_cast<int>(c >> 23U & 0xFFU) - 127;
  if ((c & ~f32::kSign) == 0) return true;
  return exponent >= (row.reference == Reference::scale ? -126 : 2 * kLeastExponent) &&
         exponent < (row.reference == Reference::scale ? 128 : 2 * kLargestExponent);
}

/// The sums of one row of a by the lanes of b.
struct Sums {
  std::array<float, kLanes> totals{};
  std::array<std::int32_t, kLanes> given_up{};
};

/// One tile on its way.
class Work {
 public:
  Work(const ContractRow& row, const Tile& tile, std::span<std::uint32_t> out, const Workers& workers)
      : row_(row), tile_(tile), out_(out), workers_(workers), left_(tile.m * tile.n, 0) {}

  void by_kernels(Way way) {
    scales_a_ = total_scales(row_, tile_.a, tile_.m, tile_.k);
    scales_b_ = total_scales(row_, tile_.b, tile_.n, tile_.k);
    if (way == Way::aligned) {
      const AlignedSide a(row_, Side::a, tile_.a, tile_.m, tile_.k, 1);
      const AlignedSide b(row_, Side::b, tile_.b, tile_.n, tile_.k, kLanes);
      AlignedFunction* kernel = kernel_for(aligned_kernels(), *workers_.tier).run;
      add_up(a, b, [&](std::size_t i, std::size_t block, Sums& sums) { aligned(kernel, a, b, i, block, sums); });
    } else {
      const Fp4Side a(row_, tile_.a, tile_.m, tile_.k, 1);
      const Fp4Side b(row_, tile_.b, tile_.n, tile_.k, kLanes);
      Fp4Function* kernel = kernel_for(fp4_kernels(), *workers_.tier).run;
      add_up(a, b, [&](std::size_t i, std::size_t block, Sums& sums) {
        kernel({.lanes = b.numbers(block),
                .row = a.numbers(i),
                .lane_scales = b.scales(block),
                .row_scales = a.scales(i),
                .lane_exponents = b.exponents(block),
                .row_exponents = a.exponents(i),
                .lane_places = b.places(block),
                .row_places = a.places(i),
                .terms = a.terms(),
                .run = a.run(),
                .group = static_cast<std::size_t>(row_.group / row_.presum),
                .alignment_bits = row_.alignment_bits,
                .kept_bits = row_.kept_bits,
                .least_exponent = std::max(row_.least_exponent, kLeastScale),
                .sums = sums.totals.data(),
                .given_up = sums.given_up.data()});
      });
    }
  }

  void leave_all() { std::ranges::fill(left_, std::uint8_t{1}); }

  /// What was left, each row of an operand made ready once.
  void by_model() {
    std::vector<std::optional<PreparedOperand>> rows(tile_.m), columns(tile_.n);
    std::vector<std::size_t> wanted;
    std::vector<std::uint8_t> needs_row(tile_.m, 0), needs_column(tile_.n, 0);
    for (std::size_t at = 0; at < left_.size(); ++at) {
      if (left_[at] == 0) continue;
      wanted.push_back(at);
      needs_row[at / tile_.n] = needs_column[at % tile_.n] = 1;
    }
    if (wanted.empty()) return;
    for_each_piece(tile_.m + tile_.n, workers_.threads, [&](std::size_t i) {
      if (i < tile_.m && needs_row[i] != 0) rows[i] = prepared_row(row_, Side::a, tile_.a, i, tile_.k);
      if (i >= tile_.m && needs_column[i - tile_.m] != 0) columns[i - tile_.m] = prepared_row(row_, Side::b, tile_.b, i - tile_.m, tile_.k);
    });
    for_each_piece(wanted.size(), workers_.threads, [&](std::size_t i) {
      const std::size_t at = wanted[i];
      out_[at] = narrowed(row_, mx::dot(row_, *rows[at / tile_.n], *columns[at % tile_.n], addends(at)), *tile_.output);
    });
  }

 private:
  /// A zero factor's exponent lies below; E8M0's least sum of two is above.
  static constexpr int kLeastScale = -300;

  Addends addends(std::size_t at) const {
    Addends addends;
    if (!tile_.c.empty()) addends.c = tile_.c[at];
    if (!tile_.bias.empty()) addends.bias = tile_.bias[at % tile_.n];
    return addends;
  }

  /// Chain by chain: the first or only one starts from C; with restarts each starts from +0 and is added.
  void aligned(AlignedFunction* kernel, const AlignedSide& a, const AlignedSide& b, std::size_t i, std::size_t block, Sums& sums) const {
    const std::size_t chain = row_.restart == 0 ? a.length() : static_cast<std::size_t>(row_.restart);
    for (std::size_t first = 0; first < a.length(); first += chain) {
      Sums part;
      if (row_.restart == 0) part.totals = sums.totals;
      kernel({.lanes = b.values(block) + first * kLanes,
              .lane_exponents = b.exponents(block) + first * kLanes,
              .row = a.values(i) + first,
              .row_exponents = a.exponents(i) + first,
              .length = std::min(chain, a.length() - first),
              .group = static_cast<std::size_t>(row_.group),
              .alignment_bits = row_.alignment_bits,
              .kept_bits = row_.kept_bits,
              .least_exponent = std::max(row_.least_exponent, 2 * kLeastExponent),
              .rounding = *row_.result == kFp16 ? GroupRounding::fp16 : GroupRounding::truncated,
              .sums = part.totals.data(),
              .given_up = part.given_up.data()});
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        sums.given_up[lane] |= part.given_up[lane];
        if (row_.restart == 0) {
          sums.totals[lane] = part.totals[lane];
        } else {
          sums.totals[lane] =
              std::bit_cast<float>(added(row_, std::bit_cast<std::uint32_t>(sums.totals[lane]), std::bit_cast<std::uint32_t>(part.totals[lane])));
        }
      }
    }
  }

  template <class SideOfTile, class Kernel>
  void add_up(const SideOfTile& a, const SideOfTile& b, const Kernel& kernel) {
    constexpr std::size_t kRows = 16;  // of a, in one piece of work
    const std::size_t row_pieces = (tile_.m + kRows - 1) / kRows;
    const std::size_t blocks = (tile_.n + kLanes - 1) / kLanes;
    for_each_piece(blocks * row_pieces, workers_.threads, [&](std::size_t piece) {
      const std::size_t block = piece / row_pieces;
      const std::size_t first = piece % row_pieces * kRows;
      for (std::size_t i = first; i < std::min(first + kRows, tile_.m); ++i) one_row(a, b, kernel, i, block);
    });
  }

  template <class SideOfTile, class Kernel>
  void one_row(const SideOfTile& a, const SideOfTile& b, const Kernel& kernel, std::size_t i, std::size_t block) {
    const std::size_t columns = std::min(kLanes, tile_.n - block * kLanes);
    const std::size_t at = i * tile_.n + block * kLanes;
    const bool from_c = !tile_.c.empty() && row_.addend_place == AddendPlace::term;
    Sums sums;
    std::array<bool, kLanes> starts{};
    for (std::size_t lane = 0; lane < columns; ++lane) {
      const std::uint32_t start = from_c ? tile_.c[at + lane] : 0;
      // A C to which finished chains are added may be any number but NaN or Inf: the processor adds as the contract does.
      starts[lane] = row_.restart != 0 ? (start >> 23U & 0xFFU) != 0xFFU : is_plain_start(row_, start);
      if (starts[lane] && !fault::planted(fault::Fault::kernel_drops_c)) sums.totals[lane] = std::bit_cast<float>(start);
    }
    kernel(i, block, sums);
    const bool is_done = is_finished_by_itself();
    for (std::size_t lane = 0; lane < columns; ++lane) {
      const std::size_t j = block * kLanes + lane;
      if (!starts[lane] || sums.given_up[lane] != 0 || !a.is_plain(i) || !b.is_plain(j)) {
        left_[at + lane] = 1;
        continue;
      }
      const auto total = std::bit_cast<std::uint32_t>(sums.totals[lane]);
      out_[at + lane] = is_done ? total : narrowed(row_, finished(row_, total, scales_a_[i], scales_b_[j], addends(at + lane)), *tile_.output);
    }
  }

  /// Nothing follows the sum, which is a number.
  bool is_finished_by_itself() const {
    const bool unscaled = row_.scales == ScaleEntry::term || row_.scales == ScaleEntry::operand;
    return unscaled && row_.restart == 0 && tile_.bias.empty() && (tile_.c.empty() || row_.addend_place == AddendPlace::term) &&
           *tile_.output == kF32;
  }

  const ContractRow& row_;
  const Tile& tile_;
  std::span<std::uint32_t> out_;
  const Workers& workers_;
  std::vector<std::uint8_t> left_;  ///< of each sum: 1 where the model has to be asked
  std::vector<std::uint32_t> scales_a_, scales_b_;
};

}  // namespace

std::span<const KernelRow<AlignedFunction>> aligned_kernels() { return kAligned; }
std::span<const KernelRow<Fp4Function>> fp4_kernels() { return kFp4; }

bool is_quick(const ContractRow& contract, const Tile& tile) { return way_of(contract, tile) != Way::model; }

void multiply(const ContractRow& contract, const Tile& tile, std::span<std::uint32_t> out, const Workers& workers) {
  require_threads(workers.threads);
  require_runs_here(*workers.tier);
  check_tile(contract, tile, out.size());
  // What the contract refuses, it refuses here.
  const PreparedOperand first = prepared_row(contract, Side::a, tile.a, 0, tile.k);
  mx::dot(contract, first, prepared_row(contract, Side::b, tile.b, 0, tile.k), {});
  Work work(contract, tile, out, workers);
  const Way way = way_of(contract, tile);
  if (way == Way::model) {
    work.leave_all();
  } else {
    work.by_kernels(way);
  }
  work.by_model();
}

}  // namespace mx::kernels::dot
