#include "golden/witness/relation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include "golden/witness/ledger.hpp"
#include "golden/witness/witness.hpp"
#include "model/numerics/convert.hpp"
#include "model/numerics/value.hpp"

namespace mx::golden {

namespace {

struct RelationRow {
  std::string_view word;
  RelationKind kind;
  bool max, max_count, row_max;  ///< which other keys the row has
};
constexpr RelationRow kRelations[] = {
    {"bits", RelationKind::bits, false, false, false}, {"bits_nan_equal", RelationKind::bits_nan_equal, false, false, false},
    {"ulp", RelationKind::ulp, true, false, false},    {"steps", RelationKind::steps, true, true, false},
    {"rel", RelationKind::rel, false, false, true},    {"ids_as_set", RelationKind::ids_as_set, false, false, false},
};

// fp64 has exponents down to -1074; a bound below that would mean equality.
constexpr std::int64_t kLeastPow2 = -1100;
constexpr std::int64_t kMostPow2 = 1024;

double f64_of(std::uint64_t word, const Dtype& dtype) {
  if (dtype.format != nullptr) return static_cast<double>(std::bit_cast<float>(to_f32(static_cast<std::uint32_t>(word), *dtype.format)));
  return std::bit_cast<double>(word);
}

bool is_floating(const Dtype& dtype) { return dtype.format != nullptr || dtype.word == "f64"; }

bool is_nan(std::uint64_t word, const Dtype& dtype) { return is_floating(dtype) && std::isnan(f64_of(word, dtype)); }

// Distance of two patterns in the order of the numbers: ord is the pattern, or minus the rest of it when the sign bit is set.
std::uint64_t code_distance(std::uint64_t a, std::uint64_t b, int bits) {
  const std::uint64_t sign = std::uint64_t{1} << static_cast<unsigned>(bits - 1);
  const std::uint64_t magnitude_a = a & (sign - 1);
  const std::uint64_t magnitude_b = b & (sign - 1);
  if (((a ^ b) & sign) != 0) return magnitude_a + magnitude_b;
  return magnitude_a > magnitude_b ? magnitude_a - magnitude_b : magnitude_b - magnitude_a;
}

// Collects what is found wrong with one output.
class Findings {
 public:
  Findings(const Recorded& recorded, const ModelOutput& model, int max_differences, EntryResult& result)
      : recorded_(recorded),
        model_(model),
        most_(static_cast<std::size_t>(std::max(max_differences, 1))),
        result_(result),
        compared_before_(result.compared),
        excusable_(recorded.excuses.size()) {}

  void differs(std::int64_t i, const std::string& remark = {}) {
    if (const auto row = excuse_of(i)) {
      excusable_[*row].push_back({i, remark});
    } else {
      count_difference(i, remark);
    }
  }

  // Once every element was seen: a row that would excuse more than its share excuses none.
  void settle() {
    const std::int64_t compared = result_.compared - compared_before_;
    for (std::size_t k = 0; k < excusable_.size(); ++k) {
      const LedgerRow& row = *recorded_.excuses[k].row;
      const auto matching = static_cast<std::int64_t>(excusable_[k].size());
      const std::int64_t most = most_excused(row, compared);
      if (matching > most) {
        for (const Difference& one : excusable_[k])
          count_difference(one.element, fmt::format("{}; {} values meet a row of the ledger, which excuses at most {} of {}", one.remark, matching,
                                                    most, compared));
      } else if (matching > 0) {
        result_.excused += matching;
        result_.excuses.push_back({&row, matching});
      }
    }
  }

 private:
  struct Difference {
    std::int64_t element;
    std::string remark;
  };

  std::optional<std::size_t> excuse_of(std::int64_t i) const {
    if (recorded_.values.dtype->bytes != model_.values.dtype->bytes) return std::nullopt;
    for (std::size_t k = 0; k < recorded_.excuses.size(); ++k) {
      const std::uint64_t distance = code_distance(recorded_.values.word(i), model_.values.word(i), 8 * recorded_.values.dtype->bytes);
      if (covers(recorded_.excuses[k], i, distance)) return k;
    }
    return std::nullopt;
  }

  void count_difference(std::int64_t i, const std::string& remark) {
    ++result_.differing;
    if (result_.differences.size() < most_) result_.differences.push_back(text(i) + remark);
  }

  std::string text(std::int64_t i) const {
    std::string line = fmt::format("{}: recorded {}, model {}", element_name(recorded_.name, recorded_.values.shape, i),
                                   value_text(recorded_.values.word(i), *recorded_.values.dtype, model_.format, model_.pairs),
                                   value_text(model_.values.word(i), *model_.values.dtype, model_.format, model_.pairs));
    if (model_.origin) line += "; from " + model_.origin(i);
    const auto rows = static_cast<std::int64_t>(recorded_.row_names.size());
    if (rows > 0 && rows == recorded_.values.shape.front()) {
      line += "; row '" + recorded_.row_names[static_cast<std::size_t>(i / (recorded_.values.size() / rows))] + "'";
    }
    return line + "; relation " + recorded_.relation.text;
  }

  const Recorded& recorded_;
  const ModelOutput& model_;
  std::size_t most_;
  EntryResult& result_;
  std::int64_t compared_before_;
  std::vector<std::vector<Difference>> excusable_;  ///< by row of the ledger
};

bool skipped_at(const Recorded& recorded, std::int64_t i) { return !recorded.skipped.empty() && recorded.skipped[static_cast<std::size_t>(i)]; }

// Calls judge(i) for every element that counts, after counting it.
template <typename Judge>
void each_element(const Recorded& recorded, EntryResult& result, Judge judge) {
  for (std::int64_t i = 0; i < recorded.values.size(); ++i) {
    if (skipped_at(recorded, i)) {
      ++result.skipped;
    } else {
      ++result.compared;
      judge(i);
    }
  }
}

/// Whether no single value would agree with all that counts: with bits one of them is another, with a distance they lie further apart than twice
/// that, with a bound that grows with its row zero is outside of it somewhere.
bool discriminates(const Recorded& recorded) {
  std::vector<std::uint64_t> words;
  for (std::int64_t i = 0; i < recorded.values.size(); ++i) {
    if (!skipped_at(recorded, i)) words.push_back(recorded.values.word(i));
  }
  if (recorded.relation.kind == RelationKind::rel)
    return recorded.relation.max_pow2 < 0 &&
           std::ranges::any_of(words, [&](std::uint64_t word) { return f64_of(word, *recorded.values.dtype) != 0; });
  const int bits = 8 * recorded.values.dtype->bytes;
  const bool exact = recorded.relation.kind != RelationKind::ulp && recorded.relation.kind != RelationKind::steps;
  const std::uint64_t apart = exact ? 0 : 2 * static_cast<std::uint64_t>(recorded.relation.max);
  return std::ranges::any_of(words, [&](std::uint64_t word) { return code_distance(word, words.front(), bits) > apart; });
}

/// Whether a value that counts is not what another rule would give.
bool tells_from_rival(const Recorded& recorded, const std::vector<std::uint64_t>& rival) {
  for (std::size_t i = 0; i < rival.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    if (!skipped_at(recorded, place) && recorded.values.word(place) != rival[i]) return true;
  }
  return false;
}

/// NaN in the output's dtype, or in the format of its codes.
bool is_nan(std::uint64_t word, const Recorded& recorded, const ModelOutput& model) {
  const Dtype& dtype = *recorded.values.dtype;
  if (dtype.format != nullptr || model.format == nullptr || model.pairs) return is_nan(word, dtype);
  return word >> static_cast<unsigned>(model.format->width) == 0 && is_nan_code(*model.format, static_cast<std::uint32_t>(word));
}

/// Whether an element without one value may have this word.
bool may_be(const ModelOutput& model, std::int64_t i, std::uint64_t word) {
  const auto found = model.possible.find(i);
  return found != model.possible.end() && std::ranges::find(found->second, word) != found->second.end();
}

void compare_bits(const Recorded& recorded, const ModelOutput& model, bool nan_equal, EntryResult& result, Findings& findings) {
  each_element(recorded, result, [&](std::int64_t i) {
    const std::uint64_t want = recorded.values.word(i);
    const std::uint64_t got = model.values.word(i);
    if (want == got || (nan_equal && is_nan(want, recorded, model) && is_nan(got, recorded, model)) || may_be(model, i, want)) return;
    findings.differs(i);
  });
}

void compare_steps(const Recorded& recorded, const ModelOutput& model, bool counted, EntryResult& result, Findings& findings) {
  const int bits = 8 * recorded.values.dtype->bytes;
  std::vector<std::int64_t> within;
  each_element(recorded, result, [&](std::int64_t i) {
    const std::uint64_t distance = code_distance(recorded.values.word(i), model.values.word(i), bits);
    if (distance > static_cast<std::uint64_t>(recorded.relation.max)) {
      findings.differs(i, fmt::format("; {} steps apart", distance));
    } else if (recorded.values.word(i) != model.values.word(i)) {
      within.push_back(i);
    }
  });
  if (!counted) return;
  const auto allowed = static_cast<std::size_t>(recorded.relation.max_count);
  for (std::size_t k = allowed; k < within.size(); ++k) {
    findings.differs(within[k], fmt::format("; {} elements differ, {} may", within.size(), allowed));
  }
}

// The bound is stated in fp64 and holds for numbers: a NaN on either side is outside it.
void compare_rel(const Recorded& recorded, const ModelOutput& model, EntryResult& result, Findings& findings) {
  const std::int64_t columns = recorded.values.shape.back();
  std::vector<double> bound(static_cast<std::size_t>(recorded.values.size() / columns), 0.0);
  for (std::int64_t i = 0; i < recorded.values.size(); ++i) {
    double& largest = bound[static_cast<std::size_t>(i / columns)];
    const double magnitude = std::fabs(f64_of(recorded.values.word(i), *recorded.values.dtype));
    // An Inf would make the bound of its whole row Inf, which holds for anything.
    if (std::isfinite(magnitude)) largest = std::fmax(largest, magnitude);
  }
  for (double& largest : bound) largest = std::ldexp(largest, recorded.relation.max_pow2);
  each_element(recorded, result, [&](std::int64_t i) {
    const double want = f64_of(recorded.values.word(i), *recorded.values.dtype);
    const double got = f64_of(model.values.word(i), *model.values.dtype);
    const double most = bound[static_cast<std::size_t>(i / columns)];
    if (std::isfinite(got) && std::isfinite(want) ? std::fabs(got - want) <= most : got == want) return;
    findings.differs(i, fmt::format("; |difference| {} above {}", std::fabs(got - want), most));
  });
}

void compare_ids(const Recorded& recorded, const ModelOutput& model, EntryResult& result, Findings& findings) {
  const std::int64_t columns = recorded.values.shape.back();
  for (std::int64_t row = 0; row < recorded.values.size() / columns; ++row) {
    std::vector<std::uint64_t> want;
    std::vector<std::uint64_t> got;
    for (std::int64_t c = 0; c < columns; ++c) {
      want.push_back(recorded.values.word(row * columns + c));
      got.push_back(model.values.word(row * columns + c));
    }
    result.compared += columns;
    for (std::int64_t c = 0; c < columns; ++c) {
      const auto k = static_cast<std::size_t>(c);
      const bool missing = std::find(got.begin(), got.end(), want[k]) == got.end();
      const bool extra = std::find(want.begin(), want.end(), got[k]) == want.end();
      if (missing || extra)
        findings.differs(row * columns + c, fmt::format("; row recorded {{{}}}, model {{{}}}", fmt::join(want, ","), fmt::join(got, ",")));
    }
  }
}

}  // namespace

bool below_pow2(const Value& value, std::int64_t exponent) {
  if (value.cls == ValueClass::zero) return true;
  return value.cls == ValueClass::finite && value.exponent + static_cast<std::int64_t>(std::bit_width(value.significand)) <= exponent;
}

Relation read_relation(const Json& json, const std::string& output, const std::string& where) {
  Fields fields(json, "relation of " + output, where);
  const RelationRow& row = row_named(kRelations, "relation", fields.text("kind"));
  Relation relation;
  relation.kind = row.kind;
  relation.text = json.dump();
  if (row.max) relation.max = fields.integer("max", 0);
  if (row.max_count) relation.max_count = fields.integer("max_count", 0);
  if (row.row_max) {
    const std::string of = fields.text("of");
    if (of != "row_max") throw Unmodelled("unknown word '" + of + "' for relation key 'of'");
    relation.max_pow2 = static_cast<int>(fields.integer("max_pow2", kLeastPow2, kMostPow2));
  }
  fields.finish();
  return relation;
}

SkipRule read_skip_rule(const Json& json, const std::string& output, const std::filesystem::path& directory, const std::string& where) {
  Fields fields(json, "skip rule of " + output, where);
  SkipRule rule;
  if (const Json* mask = fields.find("mask")) {
    rule.mask = read_tensor_spec(*mask, "skip mask of " + output, directory, where);
    if (rule.mask->dtype->word != "u8") throw Unmodelled("skip mask of " + output + " is not u8");
  }
  if (fields.has("abs_below_pow2")) rule.abs_below_pow2 = fields.integer("abs_below_pow2", kLeastPow2, kMostPow2);
  if (fields.has("input_nan")) rule.input_nan = fields.boolean("input_nan");
  fields.finish();
  return rule;
}

std::vector<bool> skipped_elements(const SkipRule& rule, const TensorSpec& output, const Tensor* x, const std::filesystem::path& directory,
                                   const std::string& where) {
  std::vector<bool> skipped(static_cast<std::size_t>(output.elements), false);
  if (rule.mask) {
    if (rule.mask->shape != output.shape) broken("the skip mask has another shape than its output", where);
    const Tensor mask = load(*rule.mask, directory, where);
    for (std::int64_t i = 0; i < output.elements; ++i) skipped[static_cast<std::size_t>(i)] = mask.word(i) != 0;
  }
  if (!rule.abs_below_pow2 && !rule.input_nan) return skipped;
  if (x == nullptr || x->shape != output.shape) broken("a skip rule looks at input x, which has not the shape of the output", where);
  if (x->dtype->format == nullptr) throw Unmodelled("a skip rule looks at input x, which is " + std::string(x->dtype->word));
  for (std::int64_t i = 0; i < output.elements; ++i) {
    const Value value = decode(*x->dtype->format, static_cast<std::uint32_t>(x->word(i)));
    const bool tiny = rule.abs_below_pow2 && below_pow2(value, *rule.abs_below_pow2);
    const bool nan = rule.input_nan && value.cls == ValueClass::nan;
    if (tiny || nan) skipped[static_cast<std::size_t>(i)] = true;
  }
  return skipped;
}

void compare(const Recorded& recorded, const ModelOutput& model, int max_differences, const std::string& where, EntryResult& result) {
  const std::string& name = recorded.name;
  const Dtype& theirs = *recorded.values.dtype;
  const Dtype& ours = *model.values.dtype;
  const RelationKind kind = recorded.relation.kind;
  if (recorded.values.shape != model.values.shape) broken("'" + name + "' has another shape than its inputs and parameters give", where);
  if (kind == RelationKind::rel ? !is_floating(theirs) || !is_floating(ours) : theirs.bytes != ours.bytes) {
    broken(fmt::format("'{}' is {}, the operation gives {}", name, theirs.word, ours.word), where);
  }
  if (kind == RelationKind::ids_as_set && !recorded.skipped.empty())
    throw Unmodelled("a skip rule on '" + name + "', whose rows are compared as sets");

  Findings findings(recorded, model, max_differences, result);
  switch (kind) {
    case RelationKind::bits: compare_bits(recorded, model, false, result, findings); break;
    case RelationKind::bits_nan_equal: compare_bits(recorded, model, true, result, findings); break;
    case RelationKind::ulp: compare_steps(recorded, model, false, result, findings); break;
    case RelationKind::steps: compare_steps(recorded, model, true, result, findings); break;
    case RelationKind::rel: compare_rel(recorded, model, result, findings); break;
    case RelationKind::ids_as_set: compare_ids(recorded, model, result, findings); break;
  }
  findings.settle();
  result.discriminates = result.discriminates || discriminates(recorded) || tells_from_rival(recorded, model.rival);
}

std::string value_text(std::uint64_t word, const Dtype& dtype, const Format* format, bool pairs) {
  const std::string bits = fmt::format("0x{:0{}X}", word, 2 * dtype.bytes);
  if (format == nullptr) format = dtype.format;
  if (format == nullptr) {
    if (dtype.word == "f64") return fmt::format("{} = {}", bits, std::bit_cast<double>(word));
    return fmt::format("{} = {}", bits, word);
  }
  const auto number = [format](std::uint64_t code) -> std::string {
    if (format->width < 32 && code >> static_cast<unsigned>(format->width) != 0) return "no code of " + std::string(format->name);
    return fmt::format("{}", std::bit_cast<float>(to_f32(static_cast<std::uint32_t>(code), *format)));
  };
  if (pairs) return fmt::format("{} = {}, {}", bits, number(word & 0xFU), number(word >> 4U));
  return fmt::format("{} = {}", bits, number(word));
}

}  // namespace mx::golden
