#include "checkpoint/compare/compare_checkpoints.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <map>

#include "checkpoint/compare/bridges.hpp"
#include "checkpoint/compare/matrix_pair.hpp"
#include "checkpoint/compare/matrix_values.hpp"
#include "checkpoint/compare/side.hpp"
#include "checkpoint/source_memory.hpp"
#include "model/error.hpp"
#include "support/quote.hpp"
#include "support/rescue.hpp"

namespace mx::checkpoint {
namespace {

/// Numbers of a matrix that are held at a time, of each side.
constexpr std::int64_t kHeld = std::int64_t{1} << 16;

/// Each thread holds some megabytes of each side, and all of them at most 300 MB.
constexpr int kThreads = 32;

constexpr const char* kRounded = "one is the other, rounded to the numbers of its file";

/// A matrix of both sides, and what was found of it.
struct Pairing {
  int expert;
  MatrixKind kind;
  std::string name = {};
  std::int64_t values = 0;
  std::optional<TensorDifference> difference = {};
  std::optional<TensorOmitted> omitted = {};
  ValueDigest first = {};
  ValueDigest second = {};
};

std::string shape_of(const MatrixValues& matrix) { return fmt::format("[{}, {}]", matrix.rows(), matrix.columns()); }

class Comparison {
 public:
  Comparison(const std::filesystem::path& first, const std::filesystem::path& second, const CompareOptions& options)
      : options_(options), stop_(options.stop), a_(first), b_(second) {
    result_.first_form = a_.forms();
    result_.second_form = b_.forms();
    for (const int layer : options.layers) {
      if (a_.layers.contains({"", layer})) continue;
      throw Error(ErrorCode::usage, fmt::format("layer {} has no experts in the first checkpoint", layer), "--layer");
    }
    for (const auto& [key, of] : a_.layers) total_ += options.experts && wanted(key) ? bytes_of(*of.second) : 0;
    for (const auto& [name, tensor] : a_.files.tensors) total_ += options.layers.empty() && is_other(name) ? tensor.view->bytes.size() : 0;
  }

  CheckpointComparison run() {
    try {
      for (const auto& [key, of] : a_.layers) {
        if (!options_.experts || !wanted(key)) continue;
        const std::uint64_t before = done_;
        compare_layer(key, *of.first, *of.second);
        done_ = before + bytes_of(*of.second);
      }
      for (const auto& [key, of] : b_.layers) {
        if (options_.experts && wanted(key) && !a_.layers.contains(key)) omit(of.second->prefix, "only the second has these experts", true);
      }
      if (options_.layers.empty()) compare_others();
      if (options_.experts && !options_.tensors.empty() && result_.tensors == 0 && result_.omitted.empty())
        throw Error(ErrorCode::usage, fmt::format("no tensor that is compared has '{}' in its name", options_.tensors.front()), "--tensor");
      result_.finished = true;
    } catch (const support::Stopped&) {
    }
    return std::move(result_);
  }

 private:
  bool wanted(const NumberedLayer& key) const {
    return options_.layers.empty() || (key.first.empty() && std::ranges::find(options_.layers, key.second) != options_.layers.end());
  }
  bool wanted(std::string_view name) const {
    return options_.tensors.empty() ||
           std::ranges::any_of(options_.tensors, [&](const std::string& part) { return name.find(part) != std::string_view::npos; });
  }
  /// What is no expert's.
  bool is_other(std::string_view name) const { return !a_.experts.contains(name) && wanted(name); }
  void say(std::string_view what) const {
    if (options_.progress) options_.progress(std::string(what), std::min(done_, total_), total_);
  }
  void omit(std::string name, std::string why, bool differs) { result_.omitted.push_back({std::move(name), std::move(why), differs}); }

  void compare_layer(const NumberedLayer& key, const FoundGroup& layer_group, const FoundLayer& layer) {
    stop_.check();
    say(layer.prefix);
    const auto other = b_.layers.find(key);
    if (other == b_.layers.end()) return omit(layer.prefix, "only the first has these experts", true);
    const FoundGroup* const other_group = other->second.first;
    const FoundLayer* const other_layer = other->second.second;
    if (std::string why = unlike({&layer_group, &layer}, other->second); !why.empty()) return omit(layer.prefix, std::move(why), true);
    std::vector<Pairing> pairs;
    for (int expert = 0; expert < layer.sizes.experts; ++expert) {
      for (const MatrixKind kind : {MatrixKind::gate, MatrixKind::up, MatrixKind::down}) {
        if (kind == MatrixKind::gate && !layer_group.gated) continue;
        pairs.push_back({expert, kind});
      }
    }
    // A matrix is a small part of a layer.
    const std::uint64_t before = done_, bytes = bytes_of(layer);
    std::size_t compared = 0;
    support::Rescue rescue;
#pragma omp parallel for schedule(dynamic) num_threads(std::min(omp_get_max_threads(), kThreads))
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      rescue.run([&] {
        compare_pair(layer_group, layer, *other_group, *other_layer, pairs[i]);
#pragma omp critical(mxact_compare)
        {
          done_ = before + bytes * ++compared / pairs.size();
          say(layer.prefix);
        }
      });
    }
    rescue.rethrow();
    explain(pairs);
    for (Pairing& pair : pairs) {
      if (pair.omitted) result_.omitted.push_back(std::move(*pair.omitted));
      if (pair.values == 0) continue;
      ++result_.tensors;
      result_.values += pair.values;
      if (!pair.difference) {
        ++result_.equal;
        continue;
      }
      pair.difference->layer = key.second;
      result_.differences.push_back(std::move(*pair.difference));
    }
  }

  void compare_pair(const FoundGroup& layer_group, const FoundLayer& layer, const FoundGroup& other_group, const FoundLayer& other_layer,
                    Pairing& pair) const {
    MatrixValues a(layer_group, layer, pair.expert, pair.kind);
    pair.name = a.name();
    if (!wanted(pair.name)) return;
    MatrixValues b(other_group, other_layer, pair.expert, pair.kind);
    if (a.rows() != b.rows() || a.columns() != b.columns()) {
      pair.omitted = TensorOmitted{pair.name, fmt::format("{} and {}", shape_of(a), shape_of(b)), true};
      return;
    }
    MatrixPair found(a.columns(), plain_bits(a.dtype()), plain_bits(b.dtype()));
    const std::int64_t rows = std::max<std::int64_t>(kHeld / a.columns(), 1);
    std::vector<double> of_a, of_b;
    for (std::int64_t row = 0; row < a.rows(); row += rows) {
      stop_.check();
      const auto count = static_cast<std::size_t>(std::min(rows, a.rows() - row) * a.columns());
      of_a.resize(count);
      of_b.resize(count);
      a.read(row, of_a);
      b.read(row, of_b);
      found.add(of_a, of_b);
      pair.first.add(of_a);
      if (found.differing() == 0) {
        pair.second = pair.first;
      } else {
        pair.second.add(of_b);
      }
    }
    pair.values = found.values();
    if (found.differing() == 0) return;
    pair.difference =
        TensorDifference{pair.name, 0, found.values(), found.differing(), found.ratio(), found.first(), found.first_a(), found.first_b(), {}};
    std::string& cause = pair.difference->cause;
    if (const std::optional<double> factor = found.factor()) cause = factor_text(*factor, a, b);
    if (found.is_rounded()) cause = kRounded;
    if (!cause.empty()) return;
    const std::optional<ScaledCodes> codes = is_plain(b.dtype()) ? a.scaled_codes() : is_plain(a.dtype()) ? b.scaled_codes() : std::nullopt;
    MatrixValues& plain = is_plain(b.dtype()) ? b : a;
    if (codes) cause = bridged(*codes, plain.dtype(), [&](std::int64_t first, std::span<double> out) { plain.read(first, out); });
    if (cause.empty()) cause = rest_text(found);
  }

  std::string bridged(const ScaledCodes& codes, std::string_view dtype, std::function<void(std::int64_t, std::span<double>)> read) const {
    const int bits = plain_bits(dtype);
    return bridge_between(codes, {bits == 0 ? 24 : bits, std::move(read)}, [&] { stop_.check(); });
  }
  /// "the same numbers, rounded to those of the file, but for 2048, the first at [96, 0]".
  static std::string rest_text(const MatrixPair& found) {
    const auto beyond = found.beyond_rounding();
    if (!beyond) return {};
    const std::vector<std::int64_t> place = found.place(beyond->first);
    return fmt::format("the same numbers, rounded to those of the file, but for {}, the first at [{}, {}]", beyond->count, place[0], place[1]);
  }

  static std::string factor_text(double factor) {
    const std::string known = known_ratio(factor);
    return fmt::format("every number of the second is {} times that of the first{}{}", factor, known.empty() ? "" : ", ", known);
  }
  static std::string factor_text(double factor, const MatrixValues& a, const MatrixValues& b) {
    std::string text = factor_text(factor);
    // The quotient of two exact numbers is the rounded reciprocal itself.
    if (a.global() != 1 && factor == 1 / a.global()) text += ": the first's global scale, which is lost";
    if (b.global() != 1 && factor == b.global()) text += ": the second's global scale, which the first lost";
    return text;
  }

  /// Matrices that lie in another's place.
  static void explain(std::vector<Pairing>& pairs) {
    std::map<ValueDigest, const Pairing*> by_value;
    for (const Pairing& pair : pairs) {
      if (pair.values > 0) by_value.try_emplace(pair.first, &pair);
    }
    for (Pairing& pair : pairs) {
      if (!pair.difference) continue;
      const auto found = by_value.find(pair.second);
      if (found == by_value.end()) continue;
      const Pairing& of = *found->second;
      pair.difference->cause = of.expert == pair.expert ? fmt::format("the second has the first's {} here", name_of(of.kind))
                                                        : fmt::format("the second has the first's expert {}, {} here", of.expert, name_of(of.kind));
    }
  }

  /// What is no expert's.
  void compare_others() {
    for (const auto& [name, tensor] : a_.files.tensors) {
      if (!is_other(name)) continue;
      stop_.check();
      say(name);
      const auto other = b_.files.tensors.find(name);
      if (other == b_.files.tensors.end() || b_.experts.contains(name)) {
        omit(std::string(name), "only in the first", !is_scale(name));
      } else {
        compare_other(std::string(name), tensor, other->second);
      }
      done_ += tensor.view->bytes.size();
    }
    for (const auto& [name, tensor] : b_.files.tensors) {
      if (!b_.experts.contains(name) && wanted(name) && !a_.files.tensors.contains(name))
        omit(std::string(name), "only in the second", !is_scale(name));
    }
  }

  /// Scales of one form have no counterpart in another.
  static bool is_scale(std::string_view name) {
    const std::string_view end = name.substr(std::min(name.rfind('.'), name.size()));
    return end.find("scale") != std::string_view::npos || end.find("zero_point") != std::string_view::npos || end.ends_with("weight_shape");
  }

  void compare_other(const std::string& name, const LocatedTensor& a, const LocatedTensor& b) {
    const std::string_view of_a = a.view->dtype->name, of_b = b.view->dtype->name;
    if (a.view->shape != b.view->shape)
      return omit(name, fmt::format("{} and {}", support::shape_text(a.view->shape), support::shape_text(b.view->shape)), true);
    const std::optional<ScaledCodes> codes_a = dense_codes(a_.files, name), codes_b = dense_codes(b_.files, name);
    const bool numbers = (is_plain(of_a) || codes_a) && (is_plain(of_b) || codes_b);
    if (a.view->dtype != b.view->dtype && !numbers)
      return omit(name, fmt::format("{} and {}, and no expert's: its scales are not read", of_a, of_b), true);
    const std::int64_t columns = a.view->shape.empty() ? 1 : std::max<std::int64_t>(a.view->shape.back(), 1);
    MatrixPair found(columns, plain_bits(of_a), plain_bits(of_b));
    // What is no number is compared byte by byte.
    const std::uint64_t count = numbers ? a.view->bytes.size() * 8 / static_cast<std::uint64_t>(a.view->dtype->bits) : a.view->bytes.size();
    const auto wide = static_cast<std::uint64_t>(columns),
               step = codes_a || codes_b ? std::max<std::uint64_t>(kHeld / wide, 1) * wide : std::uint64_t{kHeld};
    const auto read = [&](const LocatedTensor& tensor, const std::optional<ScaledCodes>& codes, std::uint64_t at, std::vector<double>& out) {
      out.resize(std::min(step, count - at));
      if (codes && numbers) return codes->read(static_cast<std::int64_t>(at / wide), out);
      read_numbers(tensor, numbers, at, out);
    };
    std::vector<double> ours, theirs;
    for (std::uint64_t at = 0; at < count; at += step) {
      stop_.check();
      read(a, codes_a, at, ours);
      read(b, codes_b, at, theirs);
      found.add(ours, theirs);
    }
    ++result_.tensors;
    result_.values += found.values();
    if (found.differing() == 0) {
      ++result_.equal;
      return;
    }
    result_.differences.push_back({name, -1, found.values(), found.differing(), found.ratio(), found.first(), found.first_a(), found.first_b(), {}});
    if (!numbers) return;
    std::string& cause = result_.differences.back().cause;
    if (const std::optional<double> factor = found.factor()) cause = factor_text(*factor);
    if (found.is_rounded()) cause = kRounded;
    if (!cause.empty()) return;
    const LocatedTensor& plain = codes_a ? b : a;
    if (codes_a.has_value() != codes_b.has_value()) {
      cause = bridged(codes_a ? *codes_a : *codes_b, plain.view->dtype->name,
                      [&](std::int64_t first, std::span<double> out) { read_numbers(plain, true, static_cast<std::uint64_t>(first) * wide, out); });
    }
    if (cause.empty()) cause = rest_text(found);
  }

  static void read_numbers(const LocatedTensor& tensor, bool plain, std::uint64_t at, std::span<double> out) {
    const std::uint64_t width = plain ? static_cast<std::uint64_t>(tensor.view->dtype->bits) / 8 : 1;
    std::vector<std::uint8_t> bytes(out.size() * width);
    tensor.file->read(*tensor.view, at * width, bytes);
    if (plain) return plain_numbers(bytes, tensor.view->dtype->name, out);
    std::ranges::copy(bytes, out.begin());
  }

  const CompareOptions& options_;
  const support::StopPoint stop_;
  const Side a_;
  const Side b_;
  CheckpointComparison result_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace

bool CheckpointComparison::same() const {
  return differences.empty() && std::ranges::none_of(omitted, [](const TensorOmitted& one) { return one.differs; });
}

CheckpointComparison compare_checkpoints(const std::filesystem::path& first, const std::filesystem::path& second, const CompareOptions& options) {
  return Comparison(first, second, options).run();
}

}  // namespace mx::checkpoint
