#include "golden/vectors/p3109_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "golden/vectors/number_bins.hpp"
#include "golden/vectors/unit_ops.hpp"
#include "model/error.hpp"
#include "model/numerics/p3109.hpp"

namespace mx::golden {
namespace {

using p3109::Kind;
using p3109::Projection;
using p3109::Saturation;
using p3109::Specialization;

constexpr std::string_view kFamily = "P3109";
constexpr int kMostBits = 16;  // of operands of which every pair is tried
constexpr int kNarrow = 8;
constexpr std::array kSaturations{Saturation::finite, Saturation::propagate, Saturation::none};
constexpr std::array kRoundings{Rounding::nearest_even,    Rounding::nearest_away, Rounding::toward_positive,
                                Rounding::toward_negative, Rounding::toward_zero,  Rounding::to_odd};

/// Without blanks, which no header of a stream may have in a name.
std::string name_of(const Specialization& specialization) {
  std::string text = p3109::text_of(specialization);
  std::erase(text, ' ');
  return text;
}

bool is_of_numbers(Kind kind) {
  return kind == Kind::scalar || kind == Kind::comparison || kind == Kind::predicate || kind == Kind::neighbour || kind == Kind::scaled;
}

int random_bits(const Specialization& specialization) { return specialization.projections.empty() ? 0 : specialization.projections[0].random_bits; }

std::vector<Specialization> with_other_projections(const Specialization& specialization) {
  std::vector<Specialization> others;
  if (specialization.projections.empty()) return others;
  const Projection& own = specialization.projections[0];
  for (const int choices : {1, 2}) {
    for (const Rounding rounding : kRoundings) {
      for (const Saturation saturation : kSaturations) {
        const bool rounds = rounding != own.rounding, saturates = saturation != own.saturation;
        if ((rounds ? 1 : 0) + (saturates ? 1 : 0) != choices || (rounds && own.random_bits > 0)) continue;
        Specialization other = specialization;
        other.projections[0] = {rounds ? rounding : own.rounding, saturation, own.random_bits};
        others.push_back(std::move(other));
      }
    }
  }
  return others;
}

/// Codes of every kind: all of a narrow format where there are few operands, else the ends of each quarter and their neighbours.
std::vector<std::uint32_t> codes_of(const Format& format, std::size_t operands) {
  if (format.width > kNarrow + 8) return unit::landmarks(format, operands > 1);
  const std::uint32_t all = 1U << format.width;
  std::set<std::uint32_t> codes;
  for (std::uint32_t eighth = 0; eighth <= 8; ++eighth) {
    const bool ends = eighth % 4 == 0;
    for (std::uint32_t near = 0; near < (ends ? 7U : operands < 4 ? 3U : 1U); ++near)
      codes.insert((eighth * (all / 8) + near - (ends ? 3U : 1U)) % all);
  }
  return {codes.begin(), codes.end()};
}

class P3109Op final : public VectorOp {
 public:
  P3109Op(const Specialization& specialization, Edition edition)
      : VectorOp(name_of(specialization), kFamily, edition), own_(specialization), result_(p3109::results_of(own_).front()) {
    const std::vector<const Format*> formats = p3109::operands_of(own_);
    for (std::size_t i = 0; i < formats.size(); ++i)
      operands_.push_back({std::string(1, static_cast<char>('a' + i)), 1, formats[i]->width, formats[i]});
    if (random_bits(own_) > 0) operands_.push_back({"random", 1, random_bits(own_)});
    results_.push_back(result_ == nullptr ? Column{"r", 1, 1} : Column{"r", 1, result_->width, result_});
    axes_ = {{"a", number_classes()}, {"result", result_ == nullptr ? std::vector<std::string>{"false", "true"} : number_classes()}};
    settings_ = {{"operation", own_.operation->name}};
  }

  void evaluate(Lanes operands, MutableLanes results) const override { answer(own_, operands, results); }

  void bins(Lanes operands, Lanes results, std::span<std::uint8_t> bins) const override {
    bins[0] = number_class(operands[0], *operands_[0].format);
    bins[1] = result_ == nullptr ? static_cast<std::uint8_t>(results[0] + 1U) : number_class(results[0], *result_);
  }

  std::string why_unreachable(std::size_t axis, std::size_t bin) const override {
    const Format* const format = axis == 0 ? operands_[0].format : result_;
    const std::string why = format == nullptr ? std::string() : why_no_class(bin, *format);
    return why.empty() ? "no operands give it" : why;
  }

  void directed(const std::function<void(Lanes)>& sink) const override {
    int bits = 0;
    for (const Column& column : operands_) bits += column.bits;
    std::vector<std::vector<std::uint32_t>> codes;
    for (const Column& column : operands_) {
      codes.emplace_back();
      if (bits <= kMostBits) {
        for (std::uint32_t code = 0; code >> column.bits == 0; ++code) codes.back().push_back(code);
      } else if (column.format == nullptr) {
        const std::uint32_t most = unit::lane_mask(column.bits);
        codes.back() = most < 4 ? std::vector<std::uint32_t>{0, most} : std::vector<std::uint32_t>{0, 1, most / 2, most / 2 + 1, most};
      } else {
        codes.back() = codes_of(*column.format, operands_.size());
      }
    }
    std::vector<std::uint32_t> lanes(operands_.size());
    every(codes, 0, lanes, sink);
  }

  void random(support::SplitMix64& random, MutableLanes operands) const override {
    for (std::size_t i = 0; i < operands.size(); ++i) operands[i] = static_cast<std::uint32_t>(random.next() >> (64 - operands_[i].bits));
  }

  std::string_view kind(Lanes operands, Lanes /*right*/) const override {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (operands_[i].format != nullptr && is_nan_code(*operands_[i].format, operands[i])) return "a NaN";
    }
    return "numbers";
  }

  std::vector<WrongRule> wrong_rules() const override {
    std::vector<WrongRule> rules;
    for (const Specialization& other : with_other_projections(own_)) {
      const bool rounds = other.projections[0].rounding != own_.projections[0].rounding;
      rules.push_back({rounds ? FaultClass::rounding : FaultClass::saturation, name_of(other),
                       [other](Lanes operands, Lanes, MutableLanes results) { answer(other, operands, results); }});
    }
    if (operands_.size() > 1 && operands_[0].format == operands_[1].format) {
      rules.push_back({FaultClass::order, "the first two operands are exchanged", [own = own_](Lanes operands, Lanes, MutableLanes results) {
                         std::vector<std::uint32_t> other(operands.begin(), operands.end());
                         std::swap(other[0], other[1]);
                         answer(own, other, results);
                       }});
    }
    if (result_ == nullptr) {
      rules.push_back({FaultClass::value, "the opposite", [](Lanes, Lanes right, MutableLanes results) { results[0] = right[0] ^ 1U; }});
    }
    for (WrongRule& rule : common_wrong_rules(results_)) rules.push_back(std::move(rule));
    return rules;
  }

  std::vector<Composition> compositions(std::span<const WrongAnswer> /*wrong*/) const override {
    std::vector<Composition> all;
    for (const Specialization& other : with_other_projections(own_)) {
      const Projection &mine = own_.projections[0], &its = other.projections[0];
      all.push_back({name_of(other), (mine.rounding != its.rounding ? 1 : 0) + (mine.saturation != its.saturation ? 1 : 0),
                     [other](Lanes operands, MutableLanes results) { answer(other, operands, results); }});
    }
    return all;
  }

 private:
  static void answer(const Specialization& specialization, Lanes operands, MutableLanes results) {
    const std::size_t numbers = operands.size() - (random_bits(specialization) > 0 ? 1 : 0);
    results[0] = p3109::evaluate(specialization, operands.first(numbers), operands.subspan(numbers)).front();
  }

  static void every(const std::vector<std::vector<std::uint32_t>>& codes, std::size_t at, std::vector<std::uint32_t>& lanes,
                    const std::function<void(Lanes)>& sink) {
    if (at == codes.size()) return sink(lanes);
    for (const std::uint32_t code : codes[at]) {
      lanes[at] = code;
      every(codes, at + 1, lanes, sink);
    }
  }

  Specialization own_;
  const Format* result_;
};

}  // namespace

std::vector<std::string> p3109_names() {
  constexpr std::string_view kOf = "Binary8p4se";
  std::vector<std::string> names;
  for (const p3109::Operation& operation : p3109::all_operations()) {
    if (!operation.required || !is_of_numbers(operation.kind)) continue;
    const bool rounds = operation.kind == Kind::scalar || operation.kind == Kind::scaled;
    const int formats = operation.kind == Kind::scalar       ? operation.arity + 1
                        : operation.kind == Kind::scaled     ? 2 * operation.arity + 1
                        : operation.kind == Kind::comparison ? 2
                                                             : 1;
    std::string parameters;
    for (int i = 0; i < formats; ++i) parameters += (i == 0 ? "" : ",") + std::string(kOf);
    names.push_back(
        name_of(p3109::specialization_of(fmt::format("{}<{}{}>", operation.name, parameters, rounds ? ",(NearestTiesToEven,SatFinite)" : ""))));
  }
  return names;
}

std::unique_ptr<VectorOp> make_p3109(std::string_view name, const OpOptions& options) {
  if (name.find('<') == std::string_view::npos) return nullptr;
  const Specialization specialization = p3109::specialization_of(name);
  require_taken(name, options, {});
  if (!is_of_numbers(specialization.operation->kind))
    throw Error(ErrorCode::usage,
                fmt::format("{} is no operation on numbers with a number or a truth as its result: its vectors are mxact.p3109's, from Python",
                            specialization.operation->name));
  return std::make_unique<P3109Op>(specialization, options.edition());
}

}  // namespace mx::golden
