// Contracts as text, by the table of record_fields.hpp. Records that are read are kept, so that a Contract may name them.

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "model/error.hpp"
#include "model/numerics/chain.hpp"
#include "model/numerics/contract.hpp"
#include "model/numerics/record_fields.hpp"
#include "model/numerics/rows.hpp"

namespace mx {
namespace {

using record::Draft;
using record::Field;
using record::parts_of;
using record::refuse;
using rows::Word;

constexpr std::array kEvidence{Word<Evidence>{Evidence::definition, "definition"}, Word<Evidence>{Evidence::silicon, "silicon"},
                               Word<Evidence>{Evidence::silicon_of_others, "silicon of others"},
                               Word<Evidence>{Evidence::simulator_of_others, "simulator of others"},
                               Word<Evidence>{Evidence::own_record, "own record"}};

/// What must hold for the fields together.
struct Rule {
  bool broken;
  std::string_view text;
};

void check(const Draft& draft) {
  const ContractRow& row = draft.row;
  const bool aligned = row.step == Step::aligned;
  const bool declared = !draft.a_formats.empty() && !draft.b_formats.empty();
  const auto narrow = [](const std::vector<const Format*>& formats) {
    return std::ranges::all_of(formats, [](const Format* format) { return format->width <= 8; });
  };
  const auto floating = [](const std::vector<const Format*>& formats) {
    return std::ranges::all_of(formats, [](const Format* format) { return format->encoding == Encoding::floating; });
  };
  const bool bytes = declared && narrow(draft.a_formats) && narrow(draft.b_formats) && row.cast == nullptr;
  const auto period = static_cast<int>(draft.order.size());
  const auto is_sum_format = [](const Format* format) { return format != nullptr && (*format == kF32 || *format == kFp16); };
  const auto is_floating = [](const Format* format) { return format == nullptr || format->encoding == Encoding::floating; };
  const Rule rules[] = {
      {!is_sum_format(row.addend) || !is_sum_format(row.result), "addend and result are f32 or fp16"},
      {!is_floating(row.cast) || !is_floating(row.product), "cast and product are floating-point formats with a sign"},
      {(row.cast != nullptr && row.cast->specials != Specials::ieee) || (row.product != nullptr && row.product->specials != Specials::ieee),
       "cast and product are bf16, fp16, tf32, f32 or e5m2"},
      {row.cast == nullptr && (row.cast_cuts || row.flush), "cast-rounding and flush are of operands that are cast"},
      {(row.step == Step::pairwise || aligned) && row.group == 0, "a step in groups needs group=N"},
      {row.step == Step::fused && row.group != 0, "step=fused has no groups"},
      {row.step == Step::pairwise && row.cast == nullptr, "step=pairwise needs a cast"},
      {row.product != nullptr && row.cast == nullptr, "a rounded product needs a cast"},
      {aligned && row.cast == nullptr && !declared, "aligned operands have a format: cast, or a and b"},
      {aligned && !(floating(draft.a_formats) && floating(draft.b_formats)), "aligned operands are of floating-point formats"},
      {aligned && row.kept_bits < 2, "step=aligned needs keep=N of 2 and more"},
      {aligned && row.alignment_bits < 1, "step=aligned needs align=N of 1 and more"},
      {aligned && row.kept_bits > row.result->mantissa_bits + 1, "keep is at most the bits of the result's format"},
      {aligned && row.group % row.presum != 0, "group is a multiple of presum"},
      {aligned && row.group / row.presum > static_cast<int>(kLargestGroup), "a group has at most 64 terms"},
      {(row.presum > 1 || row.reference == Reference::scale) && !bytes, "presum and reference=scale need a and b of 8 bits at most, and no cast"},
      {row.reference == Reference::scale && row.scales != ScaleEntry::term, "reference=scale needs scales=term"},
      {(row.scales == ScaleEntry::term) != (row.scale_format != nullptr && row.scale_block > 0), "scales=term, scale=FORMAT and block=N go together"},
      {row.scales == ScaleEntry::term && !aligned, "scales=term needs step=aligned"},
      {row.scales == ScaleEntry::term && row.cast != nullptr, "scales=term takes codes as they are: no cast"},
      {row.scales == ScaleEntry::term && row.scale_block % row.presum != 0, "block is a multiple of presum"},
      {row.scales == ScaleEntry::term && row.scale_format != nullptr && row.scale_format->width > 8, "scales of terms have 8 bits at most"},
      {!aligned && (row.presum != 1 || row.alignment_bits != 0 || row.kept_bits != 0 || row.product_limit != 0 || row.zero_exponent != kAnyExponent ||
                    row.least_exponent != kAnyExponent || row.result_loss != Loss::toward_zero || row.alignment_loss != Loss::toward_zero),
       "presum, align, keep, round, least, zero-term and product-limit are of step=aligned"},
      {row.overflow_is_largest && !aligned && row.step != Step::exact, "overflow=largest is of step=exact and step=aligned"},
      {(row.addend_place == AddendPlace::joined) != (row.join != Join{}), "c=joined and join=A.B.C.D go together"},
      {row.addend_place == AddendPlace::joined && !aligned, "c=joined needs step=aligned"},
      {row.lanes > 1 && !aligned && row.step != Step::fused, "lanes are of step=aligned and step=fused"},
      {row.lanes > 1 && aligned && row.addend_place != AddendPlace::joined, "lanes of step=aligned need c=joined"},
      {row.lanes > 1 && aligned && row.group / row.presum % row.lanes != 0, "a group has whole lanes"},
      {row.lanes > 1 && !aligned && period % row.lanes != 0, "lanes of step=fused are places of order's period: order=0.1 for two"},
      {row.restart == kScaleBlock && !scales_chains(row.scales), "restart=scales needs scales=chain, chain-one-by-one or chain-b-first"},
      {scales_chains(row.scales) && (row.restart == 0 || *row.result != kF32), "scales of chains need restart, and result=f32"},
      {row.restart > 0 && (row.restart % period != 0 || (row.group > 0 && row.restart % row.group != 0)),
       "restart is a multiple of group and of order's period"},
      {row.zero_sign == SumZero::rounded_only && (row.step == Step::fused || row.step == Step::pairwise),
       "zero=rounded is of step=exact and step=aligned"},
      {row.restart != 0 && row.addend_place == AddendPlace::last, "c=last is of sums without restart"},
      {row.bias_in_sum && (row.step != Step::exact || row.group != 0 || row.restart != 0 || row.split != 1), "bias=term is of one exact sum"},
      {(row.split > 1) != (row.split_tile > 0), "split and split-tile go together"},
      {row.split > 1 && (row.split_tile % period != 0 || (row.group > 0 && row.split_tile % row.group != 0) ||
                         (row.restart > 0 && row.split_tile % row.restart != 0) || row.restart == kScaleBlock),
       "split-tile is a multiple of group, of restart and of order's period"},
      {*row.result == kFp16 && row.flush, "flush is of sums in fp32"},
  };
  for (const Rule& rule : rules) {
    if (rule.broken) refuse(draft.text, std::string(rule.text));
  }
}

const Field& field_named(const Draft& draft, std::string_view key) {
  std::vector<std::string_view> known;
  for (const Field& field : record::fields()) {
    if (same_name(field.say.key, key)) return field;
    known.push_back(field.say.key);
  }
  refuse(draft.text, unknown_name("field", key, known));
}

const ContractRow* find_named(std::string_view name) {
  for (const std::span<const ContractRow> table : {all_contracts(), tensor_core_contracts()}) {
    const auto row = std::ranges::find_if(table, [&](const ContractRow& r) { return same_name(r.name, name); });
    if (row != table.end()) return &*row;
  }
  return nullptr;
}

[[noreturn]] void unknown(std::string_view name) {
  std::vector<std::string_view> known;
  for (const std::span<const ContractRow> table : {all_contracts(), tensor_core_contracts()}) {
    for (const ContractRow& row : table) known.push_back(row.name);
  }
  throw Error(ErrorCode::usage, unknown_name("contract", name, known));
}

/// The row of `base` with all that it points to.
Draft draft_of(std::string_view text, const ContractRow& base) {
  Draft draft{text, base, {}, {}, {base.order.begin(), base.order.end()}};
  draft.a_formats.assign(base.a_formats.begin(), base.a_formats.end());
  draft.b_formats.assign(base.b_formats.begin(), base.b_formats.end());
  return draft;
}

/// A record is shown in errors whole, on one line.
void check_text(std::string_view text) {
  constexpr std::size_t kLongest = 4096;
  if (text.size() > kLongest)
    throw Error(ErrorCode::usage, "a record of " + std::to_string(text.size()) + " characters, allowed are " + std::to_string(kLongest));
  const auto is_shown = [](char c) { return c > ' ' && c < '\x7F'; };
  const auto wrong = std::ranges::find_if_not(text, is_shown);
  if (wrong != text.end())
    throw Error(ErrorCode::usage, "a record has a byte " + std::to_string(static_cast<unsigned char>(*wrong)) + " at " +
                                      std::to_string(wrong - text.begin()) + ": fields and values joined by ':', without blanks");
}

Draft drafted(std::string_view text) {
  check_text(text);
  const std::vector<std::string_view> parts = parts_of(text, ':');
  const bool has_base = parts.front().find('=') == std::string_view::npos;
  const ContractRow* base = has_base ? find_named(parts.front()) : &record::empty();
  if (base == nullptr) unknown(parts.front());
  Draft draft = draft_of(text, *base);
  std::vector<const Field*> said;
  for (std::size_t i = has_base ? 1 : 0; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    if (equals == std::string_view::npos) refuse(text, "'" + std::string(parts[i]) + "' is no field: KEY=VALUE, separated by ':'");
    const Field& field = field_named(draft, parts[i].substr(0, equals));
    if (std::ranges::find(said, &field) != said.end()) refuse(text, "field " + std::string(field.say.key) + " twice");
    said.push_back(&field);
    const std::string_view value = parts[i].substr(equals + 1);
    field.read(draft, field.say.key, value);
  }
  check(draft);
  return draft;
}

/// Records that were asked for. They stay: a row may be in use anywhere.
struct Kept {
  std::string text;
  Draft draft;
};

class Records {
 public:
  Contract keep(Draft draft) {
    const std::scoped_lock lock(mutex_);
    draft.row.a_formats = draft.a_formats;
    draft.row.b_formats = draft.b_formats;
    draft.row.order = draft.order;
    std::string text = text_of(draft.row);
    if (const auto found = by_text_.find(text); found != by_text_.end()) return found->second;
    if (records_.size() == kMost) throw Error(ErrorCode::resource, "more than " + std::to_string(kMost) + " records of contracts in one program");
    Kept& kept = records_.emplace_back(Kept{std::move(text), std::move(draft)});
    ContractRow& row = kept.draft.row;
    row.contract = static_cast<Contract>(first() + static_cast<int>(records_.size()) - 1);
    row.name = kept.text;
    row.a_formats = kept.draft.a_formats;
    row.b_formats = kept.draft.b_formats;
    row.order = kept.draft.order;
    row.operands = row.accumulation = row.bias = record::empty().operands;
    row.evidence = Evidence::own_record;
    row.grounds = Grounds::definition;
    row.source = record::empty().source;
    row.recordings = {};
    row.known_to_differ = {};
    by_text_.emplace(kept.text, row.contract);
    return row.contract;
  }

  const ContractRow* find(Contract contract) const {
    const std::scoped_lock lock(mutex_);
    const int place = static_cast<int>(contract) - first();
    return place >= 0 && static_cast<std::size_t>(place) < records_.size() ? &records_[static_cast<std::size_t>(place)].draft.row : nullptr;
  }

 private:
  static constexpr std::size_t kMost = 100'000;
  static int first() { return static_cast<int>(tensor_core_contracts().back().contract) + 1; }

  mutable std::mutex mutex_;
  std::deque<Kept> records_;
  std::map<std::string, Contract, std::less<>> by_text_;
};

Records& records() {
  static Records kept;
  return kept;
}

}  // namespace

std::string_view name_of(Evidence evidence) { return rows::word_of<Evidence>(kEvidence, evidence); }

std::span<const RecordField> record_fields() {
  static const std::vector<RecordField> kSaid = [] {
    std::vector<RecordField> said;
    for (const Field& field : record::fields()) said.push_back(field.say);
    return said;
  }();
  return kSaid;
}

std::string text_of(const ContractRow& row) {
  std::string text;
  for (const Field& field : record::fields()) {
    const std::string value = field.print(row);
    if (&field != record::fields().data() && value == field.print(record::empty())) continue;
    text += (text.empty() ? "" : ":") + std::string(field.say.key) + "=" + value;
  }
  return text;
}

bool is_record(std::string_view text) { return text.find('=') != std::string_view::npos || text.find(':') != std::string_view::npos; }

const ContractRow& row_of(Contract contract) {
  for (const std::span<const ContractRow> table : {all_contracts(), tensor_core_contracts()}) {
    const auto row = std::ranges::find(table, contract, &ContractRow::contract);
    if (row != table.end()) return *row;
  }
  if (const ContractRow* record = records().find(contract)) return *record;
  throw Error(ErrorCode::usage, "no contract has the number " + std::to_string(static_cast<int>(contract)));
}

Contract contract_named(std::string_view name) {
  if (is_record(name)) return records().keep(drafted(name));
  const ContractRow* row = find_named(name);
  if (row == nullptr) unknown(name);
  return row->contract;
}

}  // namespace mx
