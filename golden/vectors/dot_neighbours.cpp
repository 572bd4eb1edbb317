#include "golden/vectors/dot_neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "golden/vectors/dot_operand_c.hpp"
#include "golden/vectors/dot_patterns.hpp"
#include "model/error.hpp"
#include "model/numerics/chain.hpp"

namespace mx::golden {
namespace {

/// A field and the value that a neighbour has.
struct Change {
  std::string key, value;
  std::string text() const { return key + "=" + value; }
};

std::string with(const std::string& record, const Change& change) {
  std::string text;
  bool found = false;
  for (std::size_t first = 0; first < record.size();) {
    const std::size_t end = std::min(record.find(':', first), record.size());
    std::string part = record.substr(first, end - first);
    if (part.starts_with(change.key + "=")) {
      part = change.text();
      found = true;
    }
    text += (text.empty() ? "" : ":") + part;
    first = end + 1;
  }
  return found ? text : text + ":" + change.text();
}

/// The record, unless the change makes none, or the same.
std::optional<Contract> changed(const std::string& record, const Change& change) {
  try {
    const Contract contract = contract_named(with(record, change));
    return text_of(row_of(contract)) == record ? std::nullopt : std::optional(contract);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<Change> width_changes(const ContractRow& row) {
  std::vector<Change> changes;
  const auto number = [&](const char* key, int value) { changes.push_back({key, std::to_string(value)}); };
  for (const int by : {-1, 1}) {
    number("align", row.alignment_bits + by);
    number("keep", row.kept_bits + by);
  }
  number("group", row.group / 2);
  number("group", row.group * 2);
  changes.push_back({"round", row.result_loss == Loss::toward_zero ? "nearest" : "zero"});
  changes.push_back({"align-rounding", row.alignment_loss == Loss::floor ? "zero" : "floor"});
  changes.push_back({"c", row.addend_place == AddendPlace::last ? "term" : "last"});
  changes.push_back({"order", row.order.size() == 1 ? "1.0" : "0"});
  if (row.step == Step::fused && row.lanes > 1) {
    changes.push_back({"lanes", "1"});
    // Each block backwards, its chains too.
    std::string backwards;
    for (int k = row.restart; k-- > 0;) backwards += (backwards.empty() ? "" : ".") + std::to_string(k);
    changes.push_back({"order", backwards});
  }
  // Groups exchanged: within a group the order shows nothing.
  constexpr int kLongestOrder = 128;
  if (row.group > 1 && 2 * row.group <= kLongestOrder) {
    std::string order;
    for (int k = 0; k < 2 * row.group; ++k) order += (k == 0 ? "" : ".") + std::to_string((k + row.group) % (2 * row.group));
    changes.push_back({"order", order});
  }
  return changes;
}

/// Whether products change places within a group alone, in which every order gives the same sum.
bool stays_in_group(const ContractRow& row, const ContractRow& other) {
  const auto divides = [&](const ContractRow& one) {
    const auto period = static_cast<int>(one.order.size());
    return row.group > 0 && row.group % period == 0 && (row.presum == 1 || row.presum % period == 0);
  };
  const bool has_no_order = row.step == Step::aligned || row.step == Step::exact;
  return has_no_order && row.lanes == 1 && divides(row) && divides(other);
}

std::vector<Change> all_changes(const ContractRow& row) {
  std::vector<Change> changes = width_changes(row);
  for (const int by : {-1, 1}) {
    if (row.least_exponent != kAnyExponent) changes.push_back({"least", std::to_string(row.least_exponent + by)});
    if (row.presum > 1) changes.push_back({"presum", std::to_string(by < 0 ? row.presum / 2 : row.presum * 2)});
    if (row.join != Join{}) {
      const std::string reach = row.join.addend_reach == 0 ? "any" : std::to_string(row.join.addend_reach);
      changes.push_back({"join", fmt::format("{}.{}.{}.{}", row.join.sum_bits, row.join.addend_bits + by, reach, row.join.normal_bits)});
      changes.push_back({"join", fmt::format("{}.{}.{}.{}", row.join.sum_bits, row.join.addend_bits, reach, row.join.normal_bits + by)});
    }
  }
  if (row.least_exponent != kAnyExponent) changes.push_back({"least", "none"});
  changes.push_back({"zero-term", row.zero_exponent == kAnyExponent ? "0" : "none"});
  changes.push_back({"align-rounding", "nearest"});
  changes.push_back({"align-rounding", "odd"});
  changes.push_back({"reference", row.reference == Reference::scale ? "product" : "scale"});
  changes.push_back({"restart", row.restart == 0 ? std::to_string(std::max(row.group, 1)) : "never"});
  // Of chains apart only what is flushed beside a C of -0 would show it.
  if (row.step != Step::fused || row.lanes == 1) changes.push_back({"zero", row.zero_sign == SumZero::plus ? "ieee" : "plus"});
  changes.push_back({"overflow", row.overflow_is_largest ? "inf" : "largest"});
  changes.push_back({"nan", fmt::format("0x{:08x}", row.nan ^ 0x80000000U)});
  changes.push_back({"flush", row.flush ? "none" : "signed"});
  return changes;
}

std::vector<DotNeighbour> neighbours_of(const DotSubject& subject, const std::vector<Change>& changes) {
  const std::string record = text_of(row_of(subject.contract));
  std::vector<DotNeighbour> neighbours;
  for (const Change& change : changes) {
    const std::optional<Contract> contract = changed(record, change);
    const auto known = [&](const DotNeighbour& one) { return one.contract == *contract; };
    if (contract && std::ranges::none_of(neighbours, known)) neighbours.push_back({change.text(), *contract});
  }
  return neighbours;
}

/// The sum under another contract; none where that takes no such operands.
std::optional<std::uint32_t> sum_of(const DotSubject& subject, Contract contract, Lanes operands) {
  try {
    return dot_of(subject, row_of(contract), operands);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// A number of operand C about 2^exponent.
std::uint32_t c_about(int exponent, std::uint64_t bits) {
  const auto field = static_cast<std::uint32_t>(std::clamp(exponent + 127, 1, 254));
  return static_cast<std::uint32_t>(bits >> 63U) << 31U | field << 23U | (static_cast<std::uint32_t>(bits) & 0x7FFFFFU);
}

/// One try: a few products at chosen distances, or codes drawn of all magnitudes, with C beside.
class Tries {
 public:
  Tries(const DotSubject& subject, std::uint64_t seed)
      : subject_(subject),
        row_(row_of(subject.contract)),
        random_(seed),
        keep_([this](Lanes lanes) { operands_.assign(lanes.begin(), lanes.end()); }),
        patterns_(subject, keep_) {}

  Lanes next() {
    switch (draw(6)) {
      case 0: dense(); break;
      case 1: sparse(static_cast<int>(draw(4))); break;
      case 2: subject_.has_c ? far_below_c() : distances(); break;
      case 3:
      case 4: row_.scales == ScaleEntry::term ? low() : reaches_bound() ? tiny() : distances(); break;
      default: distances(); break;
    }
    return operands_;
  }

 private:
  std::uint64_t draw(std::uint64_t below) { return random_.next() % below; }
  int top() {
    return patterns_.top() - static_cast<int>(draw(3) == 0 ? draw(static_cast<std::uint64_t>(std::max(patterns_.top() - patterns_.bottom(), 1))) : 0);
  }

  /// Large ones that cancel or nearly do, and small ones so far below that the last kept bits decide.
  void distances() {
    const int large = top();
    const int bits = row_.step == Step::aligned ? (draw(2) == 0 ? row_.alignment_bits : row_.kept_bits) : 24;
    patterns_.clear();
    const std::size_t n = patterns_.length();
    const std::uint64_t count = 1 + draw(5);
    patterns_.place(draw(n), large, draw(2) == 0);
    if (draw(2) == 0) patterns_.place(draw(n), large, draw(2) == 0);
    for (std::uint64_t i = 0; i < count; ++i) patterns_.place(draw(n), large - bits + 3 - static_cast<int>(draw(6)), draw(2) == 0);
    scales();
    finish(draw(3) == 0 ? large : large - bits + 2 - static_cast<int>(draw(5)));
  }

  /// C and products alone that decide its last bit, or lie just below what does.
  void far_below_c() {
    patterns_.clear();
    const int large = top() + static_cast<int>(draw(24));
    const std::size_t n = patterns_.length();
    const int last = std::max({row_.alignment_bits, row_.join.sum_bits, 24});
    patterns_.place(draw(n), large - 24 - static_cast<int>(draw(2)), draw(2) == 0);
    for (std::uint64_t i = 0; i < 1 + draw(3); ++i) patterns_.place(draw(n), large - last + 2 - static_cast<int>(draw(5)), draw(2) == 0);
    patterns_.set_c(c_about(large, draw(2) == 0 ? random_.next() : draw(4) | draw(2) << 63U));
    patterns_.give();
  }

  /// Scales with which the largest product lies just below the lower bound of the alignment.
  void low() {
    patterns_.clear();
    const int exponent = std::max(row_.least_exponent, -140) - patterns_.top() - static_cast<int>(draw(12));
    for (const bool of_b : {false, true}) {
      const Format& format = patterns_.element(of_b);
      for (std::uint32_t& code : of_b ? patterns_.b() : patterns_.a())
        code = static_cast<std::uint32_t>(draw(max_finite_code(format) + 1U)) | (draw(2) == 0 ? 0U : negated(0, format));
      const std::uint32_t one = scale_of_one(patterns_.scale(of_b));
      const int code = static_cast<int>(one) + (of_b ? exponent - exponent / 2 : exponent / 2) * (1 << patterns_.scale(of_b)->mantissa_bits);
      for (std::uint32_t& scale : patterns_.scales(of_b)) scale = static_cast<std::uint32_t>(std::max(code, 1));
    }
    if (subject_.has_c) patterns_.set_c(0);
    patterns_.give();
  }

  /// Whether products of unscaled numbers lie below the lower bound of the alignment.
  bool reaches_bound() const {
    const auto is_wide = [](const Format& format) { return format.encoding == Encoding::floating && format.exponent_bits == kF32.exponent_bits; };
    return row_.least_exponent != kAnyExponent && is_wide(patterns_.element(false)) && is_wide(patterns_.element(true));
  }

  /// Such products about the least number: what is cut off of them below the bound adds up to a bit of the result.
  void tiny() {
    patterns_.clear();
    const auto code = [&](const Format& format, std::uint32_t field) {
      const auto bits = static_cast<std::uint32_t>(random_.next());
      const std::uint32_t mantissa = bits & ((1U << format.mantissa_bits) - 1U);
      return field << format.mantissa_bits | mantissa | (bits >> 31U) << (format.width - 1);
    };
    for (std::size_t k = 0; k < patterns_.length(); ++k) {
      const auto field = static_cast<std::uint32_t>(20 + draw(40));
      // The exponents of a product add up to one of -153 to -142.
      patterns_.a()[k] = code(patterns_.element(false), field);
      patterns_.b()[k] = code(patterns_.element(true), 112U - field - static_cast<std::uint32_t>(draw(12)));
    }
    if (subject_.has_c) patterns_.set_c(0);
    patterns_.give();
  }

  /// Codes of any magnitude everywhere.
  void dense() {
    patterns_.clear();
    for (const bool of_b : {false, true}) {
      const Format& format = patterns_.element(of_b);
      for (std::uint32_t& code : of_b ? patterns_.b() : patterns_.a()) {
        do {
          code = static_cast<std::uint32_t>(random_.next() >> (64 - format.width));
        } while (is_nan_code(format, code) || is_inf_code(format, code));
      }
    }
    scales();
    finish(static_cast<int>(draw(40)) - 20);
  }

  /// Special ones among few: zeros of both signs, the largest, the least, a NaN.
  void sparse(int kind) {
    patterns_.clear();
    const std::size_t n = patterns_.length();
    const Format& format = patterns_.element(false);
    const std::uint32_t codes[] = {negated(0, format), max_finite_code(format), 1U,
                                   format.specials == Specials::ieee ? exponent_mask(format) | 1U : 1U};
    for (std::uint64_t i = 0; i < 1 + draw(n); ++i) {
      const std::size_t k = draw(n);
      patterns_.a()[k] = draw(2) == 0 ? codes[kind] : negated(codes[kind], format);
      patterns_.b()[k] = kind == 2 ? 1U : max_finite_code(patterns_.element(true));
    }
    if (subject_.has_c && draw(2) == 0) patterns_.set_c(0x80000000U);
    patterns_.give();
  }

  void scales() {
    for (const bool of_b : {false, true}) {
      for (std::uint32_t& scale : patterns_.scales(of_b)) {
        if (draw(3) == 0) scale = scale_of_one(patterns_.scale(of_b)) + static_cast<std::uint32_t>(draw(9)) - 4U;
      }
    }
  }

  void finish(int exponent) {
    if (subject_.has_c) patterns_.set_c(draw(4) == 0 ? 0U : c_about(exponent, random_.next()));
    patterns_.give();
  }

  const DotSubject& subject_;
  const ContractRow& row_;
  support::SplitMix64 random_;
  std::vector<std::uint32_t> operands_;
  std::function<void(Lanes operands)> keep_;
  DotPatterns patterns_;
};

constexpr int kTries = 4000;
constexpr int kEach = 3;

/// Exponents of the least and of the largest product that is not zero.
std::pair<int, int> exponents_of(const DotSubject& subject) {
  const auto of = [](const Format& format) { return std::pair{1 - format.bias, max_exponent(format)}; };
  const ContractRow& row = row_of(subject.contract);
  const auto [low_a, high_a] = of(row.cast != nullptr ? *row.cast : *subject.a.element);
  const auto [low_b, high_b] = of(row.cast != nullptr ? *row.cast : *subject.b.element);
  return {low_a + low_b, high_a + high_b};
}

/// Exponent of the last bit of the least product.
int last_bit(const DotSubject& subject) {
  const ContractRow& row = row_of(subject.contract);
  const auto of = [&](const Format& element) {
    const Format& format = row.cast != nullptr ? *row.cast : element;
    return 1 - format.bias - format.mantissa_bits;
  };
  return of(*subject.a.element) + of(*subject.b.element);
}

/// Why no sum overflows: products and their sum are far below the largest number, and beside a C near it they are cut off.
bool never_overflows(const DotSubject& subject, int high) {
  const ContractRow& row = row_of(subject.contract);
  const int of_scales = row.scales == ScaleEntry::term ? 2 * max_exponent(*row.scale_format) : 0;
  const int sum = high + 2 + of_scales + static_cast<int>(std::bit_width(subject.length));
  return sum < max_exponent(*row.result) - (subject.has_c ? std::max({row.alignment_bits, row.join.sum_bits, row.kept_bits}) : 0);
}

}  // namespace

bool has_neighbours(const DotSubject& subject) { return subject.contract > Contract::hopper_bf16_v1; }

std::vector<DotNeighbour> dot_neighbours(const DotSubject& subject) {
  return has_neighbours(subject) ? neighbours_of(subject, all_changes(row_of(subject.contract))) : std::vector<DotNeighbour>{};
}

std::vector<DotNeighbour> second_neighbours(const DotSubject& subject) {
  std::vector<DotNeighbour> all;
  if (!has_neighbours(subject)) return all;
  for (const DotNeighbour& first : neighbours_of(subject, width_changes(row_of(subject.contract)))) {
    const ContractRow& row = row_of(first.contract);
    DotSubject beside = subject;
    beside.contract = first.contract;
    const std::string key = first.change.substr(0, first.change.find('=') + 1);
    for (const DotNeighbour& second : neighbours_of(beside, width_changes(row))) {
      const auto known = [&](const DotNeighbour& one) { return one.contract == second.contract; };
      if (second.change.starts_with(key) || second.contract == subject.contract || std::ranges::any_of(all, known)) continue;
      all.push_back({first.change + ":" + second.change, second.contract});
    }
  }
  return all;
}

bool is_told(const DotSubject& subject, const DotNeighbour& neighbour, Lanes operands, std::uint32_t right) {
  const std::optional<std::uint32_t> sum = sum_of(subject, neighbour.contract, operands);
  return sum && *sum != right;
}

void deciding_neighbours(const DotSubject& subject, const std::function<void(Lanes operands)>& sink) {
  std::vector<DotNeighbour> left = dot_neighbours(subject);
  std::vector<int> found(left.size(), 0);
  Tries tries(subject, 85);
  for (int i = 0; i < kTries && std::ranges::any_of(found, [](int count) { return count < kEach; }); ++i) {
    const Lanes operands = tries.next();
    const std::optional<std::uint32_t> right = sum_of(subject, subject.contract, operands);
    bool tells = false;
    for (std::size_t n = 0; right && n < left.size(); ++n) {
      if (found[n] >= kEach || !is_told(subject, left[n], operands, *right)) continue;
      ++found[n];
      tells = true;
    }
    if (tells) sink(operands);
  }
}

std::string why_same_neighbour(const DotSubject& subject, const DotNeighbour& neighbour) {
  const ContractRow& row = row_of(subject.contract);
  const ContractRow& other = row_of(neighbour.contract);
  const auto [low, high] = exponents_of(subject);
  const auto length = static_cast<int>(subject.length);
  if (neighbour.change.starts_with("group=") && std::min(row.group, other.group) >= length) return fmt::format("one group holds {} products", length);
  if (neighbour.change.starts_with("least=") && row.scales != ScaleEntry::term && low >= std::max(row.least_exponent, other.least_exponent))
    return fmt::format("no product of {} and {} lies below 2^{}", subject.a.element->name, subject.b.element->name, low);
  if (neighbour.change.starts_with("c=") && !subject.has_c) return "there is no operand C";
  if (neighbour.change.starts_with("order=") && row.group >= length) return "one group holds all products, in any order";
  if (neighbour.change.starts_with("order=") && stays_in_group(row, other))
    return "products change places within their group, whose sum has no order";
  if (neighbour.change.starts_with("overflow=") && never_overflows(subject, high))
    return fmt::format("no sum of products of {} and {} is beyond {}{}", subject.a.element->name, subject.b.element->name, row.result->name,
                       subject.has_c ? ", and beside a C near its end they are cut off" : "");
  if (neighbour.change.starts_with("zero=") && row.zero_sign == SumZero::rounded_only && row.scales != ScaleEntry::term && last_bit(subject) >= -149)
    return fmt::format("no sum of products of {} and {} rounds to zero", subject.a.element->name, subject.b.element->name);
  if (neighbour.change.starts_with("zero=") && !subject.has_c && row.step == Step::aligned &&
      last_bit(subject) >= 2 - row.result->bias - row.kept_bits)
    return "every sum begins with +0, and none rounds to zero";
  const bool one_block = row.lanes > 1 && row.step == Step::fused && length <= row.restart;
  if (neighbour.change.starts_with("restart=") && one_block) return "one block holds all products";
  if (row.lanes == 2 && neighbour.change == "order=1.0") return "the two lanes change places";
  if (row.step == Step::pairwise && row.flush_to_plus && neighbour.change.starts_with("zero=")) return "every sum ends with C, which is never -0";
  if (row.step == Step::pairwise && neighbour.change.starts_with("restart=")) return "each group's tree is added to the sum before as it is";
  if (row.step == Step::pairwise && neighbour.change == "order=1.0") return "the two of a pair are added to each other first";
  const bool by_scales = row.reference == Reference::scale && 2 * (1 - row.scale_format->bias) >= std::max(row.least_exponent, other.least_exponent);
  if (neighbour.change.starts_with("least=") && by_scales && row.scale_format->encoding == Encoding::floating)
    return fmt::format("no two scales of {} have an exponent below 2^{}", row.scale_format->name, 2 * (1 - row.scale_format->bias));
  if (neighbour.change.starts_with("restart=") && row.group >= length && !subject.has_c)
    return "one group holds all products, and there is no operand C";
  return {};
}

}  // namespace mx::golden
