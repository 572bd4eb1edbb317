#include "checkpoint/maker/makers.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "checkpoint/compare/matrix_values.hpp"
#include "checkpoint/compare/side.hpp"
#include "checkpoint/inspect/producers.hpp"
#include "model/error.hpp"
#include "support/rescue.hpp"

namespace mx::checkpoint {
namespace {

/// Each thread holds at most some 8 MB.
constexpr int kThreads = 24;

/// Formats of a file's dtypes, as codes of a base and as scales.
struct DtypeRow {
  std::string_view dtype;
  const Format* format;
};
constexpr std::array<DtypeRow, 6> kDtypes{
    {{"BF16", &kBf16}, {"F16", &kFp16}, {"F32", &kF32}, {"F8_E4M3", &kE4m3fn}, {"F8_E8M0", &kE8m0}, {"U8", &kE8m0}}};
const Format* format_of(std::string_view dtype) {
  const auto* const row = std::ranges::find(kDtypes, dtype, &DtypeRow::dtype);
  return row == kDtypes.end() ? nullptr : row->format;
}

/// Whether a form's matrices are blocks that some recipe could give.
bool has_blocks(const FoundGroup& layer_group) {
  const std::vector<FoundTensor>& tensors = layer_group.layers.begin()->second.experts;
  const auto weight = std::ranges::find(tensors, Piece::weight, [](const FoundTensor& tensor) { return tensor.row->piece; });
  return codes_of(*layer_group.form, *weight).element != nullptr;
}
bool is_base(const FoundGroup& layer_group) {
  return std::ranges::all_of(layer_group.layers.begin()->second.experts,
                             [](const FoundTensor& tensor) { return tensor.row->piece != Piece::weight || is_plain(tensor.at->view->dtype->name); });
}

/// A matrix of both checkpoints.
struct Pair {
  int expert;
  MatrixKind kind;
  std::uint32_t amax = 0;  ///< of the base
  std::optional<StoredNumber> number = {};
  bool one_block = false;
  std::string name = {};
  std::string omitted = {};  ///< why it was not looked at
  bool wanted = true;
  MadeBy made = {};
};

CodedMatrix matrix_of(const Pair& pair, MatrixValues& base, MatrixValues& coded) {
  const MatrixValues::Cover cover = coded.cover();
  CodedMatrix matrix{.rows = coded.rows(),
                     .columns = coded.columns(),
                     .source = format_of(base.dtype()),
                     .element = coded.codes().element,
                     .scale = pair.one_block ? &kF32 : format_of(coded.scale_dtype()),
                     .block_rows = cover.rows,
                     .block_columns = cover.columns,
                     .number = pair.number,
                     .read = {}};
  matrix.read = [&base, &coded](std::int64_t first, std::int64_t count) {
    CodedRows rows{{}, coded.code_rows(first, count), coded.scale_rows(first, count)};
    const std::vector<std::uint8_t> words = base.code_rows(first, count);
    rows.base.resize(words.size());
    std::memcpy(rows.base.data(), words.data(), words.size());
    return rows;
  };
  return matrix;
}

double amax_number(std::uint32_t bits, const Format& source) { return static_cast<double>(std::bit_cast<float>(to_f32(bits, source))); }

constexpr std::string_view kNoAmax = "of no magnitude of this expert: calibrated, or of more tensors together";

/// What a global scale of NVFP4 is of one of these magnitudes: 6 * 448 fills both ranges; 256 where a block may choose to end at 4; 448 alone where
/// codes times scales are to be E4M3's (ModelOpt's W4A8_NVFP4_FP8).
std::string origin_of(const StoredNumber& number, std::span<const std::pair<std::string_view, double>> amaxes) {
  constexpr std::array<std::pair<float, std::string_view>, 3> kRanges{
      {{2688.0F, ""}, {1536.0F, ", 256 of E4M3's range used"}, {448.0F, ", a sixth of E4M3's range used"}}};
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  const std::uint32_t factor = number.divides ? bits(1.0F / std::bit_cast<float>(number.bits)) : number.bits;
  for (const auto& [whose, amax] : amaxes) {
    const auto most = static_cast<float>(amax);
    for (const auto& [range, remark] : kRanges) {
      const bool is_it = number.bits == bits(most / range) || number.bits == bits(range / most) || factor == bits(1.0F / (range / most)) ||
                         number.bits == bits(most / 6.0F / (range / 6.0F)) || number.bits == bits(range / 6.0F * 6.0F / most);
      if (is_it) return fmt::format("of the largest magnitude of {}{}", whose, remark);
    }
  }
  return std::string(kNoAmax);
}

class Search {
 public:
  Search(const std::filesystem::path& base, const std::filesystem::path& quantized, const CompareOptions& options)
      : options_(options), stop_(options.stop), a_(base), b_(quantized) {
    result_.base_form = a_.forms();
    result_.quantized_form = b_.forms();
    result_.producer = producer_of(b_.config.quantization).name;
    for (const int layer : options.layers) {
      if (!a_.layers.contains({"", layer})) throw Error(ErrorCode::usage, fmt::format("layer {} has no experts in the base", layer), "--layer");
    }
    for (const auto& [key, of] : a_.layers) total_ += wanted(key) ? bytes_of(*of.second) : 0;
  }

  Makers run() {
    try {
      for (const auto& [key, of] : a_.layers) {
        if (!wanted(key)) continue;
        look(key, of);
      }
      for (const auto& [key, of] : b_.layers) {
        if (wanted(key) && !a_.layers.contains(key)) omit(of.second->prefix, "only the quantized has these experts");
      }
      result_.finished = true;
    } catch (const support::Stopped&) {
    }
    share();
    return std::move(result_);
  }

 private:
  using Of = std::pair<const FoundGroup*, const FoundLayer*>;
  bool wanted(const NumberedLayer& key) const {
    return options_.layers.empty() || (key.first.empty() && std::ranges::find(options_.layers, key.second) != options_.layers.end());
  }
  bool wanted(std::string_view name) const {
    return options_.tensors.empty() ||
           std::ranges::any_of(options_.tensors, [&](const std::string& part) { return name.find(part) != std::string_view::npos; });
  }
  void omit(std::string name, std::string why) { result_.others.omitted.push_back({std::move(name), std::move(why), true}); }
  void say(std::string_view what) const {
    if (options_.progress) options_.progress(std::string(what), std::min<std::uint64_t>(done_, total_), total_);
  }

  void look(const NumberedLayer& key, const Of& base) {
    stop_.check();
    say(base.second->prefix);
    const std::uint64_t bytes = bytes_of(*base.second), before = done_;
    const auto other = b_.layers.find(key);
    if (other == b_.layers.end()) {
      omit(base.second->prefix, "only the base has these experts");
    } else if (std::string why = unlike(base, other->second); !why.empty()) {
      omit(base.second->prefix, std::move(why));
    } else if (!is_base(*base.first)) {
      omit(base.second->prefix, fmt::format("the base has {} here", base.first->form->title));
    } else if (!has_blocks(*other->second.first)) {
      omit(base.second->prefix, fmt::format("no rule is known here that gives {}", other->second.first->form->title));
    } else {
      look_at(key.second, base, other->second, bytes);
    }
    done_ = before + bytes;
  }

  void look_at(int layer, const Of& base, const Of& quantized, std::uint64_t bytes) {
    std::vector<Pair> pairs;
    for (int expert = 0; expert < base.second->sizes.experts; ++expert) {
      for (const MatrixKind kind : {MatrixKind::gate, MatrixKind::up, MatrixKind::down}) {
        if (kind != MatrixKind::gate || base.first->gated) pairs.push_back({expert, kind});
      }
    }
    const auto of_all = [&](const auto& work) {
      support::Rescue rescue;
#pragma omp parallel for schedule(dynamic) num_threads(std::min(omp_get_max_threads(), kThreads))
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (!rescue.has_one()) rescue.run([&] { work(pairs[i]); });
      }
      rescue.rethrow();
    };
    of_all([&](Pair& pair) { open(pair, base, quantized); });
    const auto stopped = [&] {
      stop_.check();
      return false;
    };
    const std::uint64_t before = done_;
    std::atomic<std::uint64_t> count = 0;
    of_all([&](Pair& pair) {
      if (pair.wanted && pair.omitted.empty()) {
        MatrixValues a(*base.first, *base.second, pair.expert, pair.kind), b(*quantized.first, *quantized.second, pair.expert, pair.kind);
        const CodedMatrix matrix = matrix_of(pair, a, b);
        MakerOptions how{.producer = result_.producer, .amax = pair.amax, .further_amax = {}, .stop = stopped};
        if (const std::uint32_t both = pair.one_block ? joint_amax(pairs, pair) : 0; both != 0) how.further_amax.push_back({both, "gate and up"});
        pair.made = made_by(matrix, how);
        pair.amax = pair.made.amax;
      }
      const std::uint64_t number = ++count;
#pragma omp critical(mxact_makers)
      {
        done_ = before + bytes * number / pairs.size();
        say(base.second->prefix);
      }
    });
    const Format& source = *format_of(
        std::ranges::find(base.second->experts, Piece::weight, [](const FoundTensor& tensor) { return tensor.row->piece; })->at->view->dtype->name);
    for (Pair& pair : pairs) add(layer, pair, pairs, source);
  }

  void open(Pair& pair, const Of& base, const Of& quantized) const {
    const MatrixValues coded(*quantized.first, *quantized.second, pair.expert, pair.kind);
    pair.name = coded.name();
    pair.wanted = wanted(pair.name);
    if (!pair.wanted) return;
    MatrixValues plain(*base.first, *base.second, pair.expert, pair.kind);
    const MatrixValues::Cover cover = coded.cover();
    if (const auto& number = coded.number())
      pair.number = StoredNumber{std::bit_cast<std::uint32_t>(static_cast<float>(number->stored)), number->meaning == Meaning::reciprocal};
    pair.one_block = cover.rows == 0;
    if (plain.rows() != coded.rows() || plain.columns() != coded.columns()) {
      pair.omitted = fmt::format("[{}, {}] and [{}, {}]", plain.rows(), plain.columns(), coded.rows(), coded.columns());
    } else if (cover.rows > 1 && quantized.first->form->input_major && coded.rows() % cover.rows != 0) {
      pair.omitted = "a square of its scales is of gate and up";
    } else if (pair.one_block) {
      pair.amax = amax_of_all(plain);
    }
  }
  /// One scale may be made of gate and up together.
  std::uint32_t amax_of_all(MatrixValues& base) const {
    std::uint32_t most = 0;
    const std::int64_t rows = std::max<std::int64_t>((std::int64_t{1} << 18) / base.columns(), 1);
    for (std::int64_t row = 0; row < base.rows(); row += rows) {
      stop_.check();
      const std::vector<std::uint8_t> words = base.code_rows(row, std::min(rows, base.rows() - row));
      most = std::max(most, amax_of(std::as_bytes(std::span(words)), *format_of(base.dtype())));
    }
    return most;
  }

  /// Of gate and up of an expert; 0 for down, or where there is no gate.
  static std::uint32_t joint_amax(const std::vector<Pair>& pairs, const Pair& of) {
    std::uint32_t most = 0;
    int halves = 0;
    for (const Pair& pair : pairs) {
      if (pair.expert != of.expert || pair.kind == MatrixKind::down) continue;
      ++halves;
      most = std::max(most, pair.amax);
    }
    return of.kind != MatrixKind::down && halves == 2 ? most : 0;
  }

  void add(int layer, Pair& pair, const std::vector<Pair>& pairs, const Format& source) {
    if (!pair.wanted) return;
    if (!pair.omitted.empty()) return omit(std::move(pair.name), std::move(pair.omitted));
    MatrixMaker one{std::move(pair.name), layer, std::move(pair.made), {}};
    if (pair.one_block) {
      one.number = !one.made.given ? std::string() : one.made.cause.empty() ? std::string(kNoAmax) : one.made.cause;
    } else if (pair.number) {
      std::vector<std::pair<std::string_view, double>> amaxes{{"the matrix", amax_number(pair.amax, source)}};
      if (const std::uint32_t both = joint_amax(pairs, pair); both != 0) amaxes.emplace_back("gate and up", amax_number(both, source));
      one.number = origin_of(*pair.number, amaxes);
    }
    result_.matrices.push_back(std::move(one));
  }

  /// For how many matrices each rule is exact.
  void share() {
    for (const MatrixMaker& one : result_.matrices) {
      for (const Maker& maker : one.made.exact) {
        const auto found = std::ranges::find(result_.shares, maker, &MakerShare::maker);
        if (found == result_.shares.end()) {
          result_.shares.push_back({maker, 1});
        } else {
          ++found->exact;
        }
      }
    }
    std::ranges::stable_sort(result_.shares, std::ranges::greater(), &MakerShare::exact);
  }

  const CompareOptions& options_;
  const support::StopPoint stop_;
  const Side a_;
  const Side b_;
  Makers result_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace

std::int64_t Makers::exact() const {
  return std::ranges::count_if(matrices, [](const MatrixMaker& one) { return one.made.is_exact(); });
}
std::int64_t Makers::lossless() const {
  return std::ranges::count_if(matrices, [](const MatrixMaker& one) { return one.made.lossless; });
}

bool Makers::explained() const {
  return others.same() && std::ranges::all_of(matrices, [](const MatrixMaker& one) { return one.made.is_exact() || one.made.lossless; });
}

std::string Makers::sentence() const {
  const auto of = std::ssize(matrices);
  std::string text;
  if (shares.empty()) {
    text = fmt::format("0 of {} matrices are a plain rounding of this base by a rule that is known here", of);
  } else {
    const MakerShare& first = shares.front();
    text = fmt::format("{} of {} matrices are {}'s ({}) {}", first.exact, of, first.maker.profile, first.maker.release, first.maker.made_from);
    std::string alike;
    for (const MakerShare& other : std::span(shares).subspan(1)) {
      if (other.exact == first.exact) alike += fmt::format("{}{}", alike.empty() ? "" : ", ", other.maker.profile);
    }
    if (!alike.empty()) text += fmt::format(", and {}'s: nothing here tells them apart", alike);
    if (exact() > first.exact) text += fmt::format("; {} are those of other rules", exact() - first.exact);
  }
  if (exact() < of) text += fmt::format("; {} {} none's", of - exact(), of - exact() == 1 ? "is" : "are");
  if (lossless() > 0) text += fmt::format("; {} {} lossless", lossless(), lossless() == 1 ? "is" : "are");
  const auto differ = std::ssize(others.differences) + std::ranges::count_if(others.omitted, &TensorOmitted::differs);
  if (differ > 0) text += fmt::format("; {} other {}", differ, differ == 1 ? "tensor differs" : "tensors differ");
  return text;
}

bool are_base_and_quantized(const std::filesystem::path& first, const std::filesystem::path& second) {
  const Side a(first), b(second);
  return is_base(a.layer_groups.front()) && !is_base(b.layer_groups.front());
}

Makers find_makers(const std::filesystem::path& base, const std::filesystem::path& quantized, const CompareOptions& options) {
  Makers found = Search(base, quantized, options).run();
  if (found.finished && options.layers.empty()) {
    CompareOptions others = options;
    others.experts = false;
    CheckpointComparison rest = compare_checkpoints(base, quantized, others);
    found.finished = rest.finished;
    rest.omitted.insert(rest.omitted.end(), found.others.omitted.begin(), found.others.omitted.end());
    found.others = std::move(rest);
  }
  if (found.finished && !options.tensors.empty() && found.matrices.empty() && found.others.tensors == 0 && found.others.omitted.empty())
    throw Error(ErrorCode::usage, fmt::format("no tensor that is compared has '{}' in its name", options.tensors.front()), "--tensor");
  return found;
}

}  // namespace mx::checkpoint
