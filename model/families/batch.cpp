#include "model/families/batch.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "model/families/batch_rows.hpp"
#include "model/numerics/rows.hpp"

namespace mx::families {
namespace {

/// Of each family that has some.
constexpr std::array kTables{&kTritonKernelsBatches, &kMarlinBatches,    &kHummingBatches,    &kTritonMoeBatches,
                             &kDeepgemmBatches,      &kEmulationBatches, &kVllmCutlassBatches};

constexpr rows::Word<Batch> kWords[] = {
    {Batch::unknown, "unknown"}, {Batch::invariant, "invariant"}, {Batch::changes, "changes"}, {Batch::not_repeatable, "not repeatable"}};

/// One scale for what all tokens bring.
bool scales_together(const Quantizer* quantizer) {
  return quantizer != nullptr && quantizer->scope == ScaleScope::tensor && quantizer->tensor == TensorNumber::none;
}

bool is_steady(Steady steady, const LaunchChoice& choice) {
  if (steady == Steady::by_nothing) return false;
  if (is_batch_invariant(choice)) return true;
  if (steady == Steady::by_tile) return choice.has_tile();
  return choice.find(LaunchKey::stream_k, kFirstProduct) == 0 && choice.find(LaunchKey::stream_k, kSecondProduct) == 0;
}

std::string from(std::int64_t slots) { return "from " + std::to_string(slots) + " slots on"; }

/// Where such a row changes.
std::string changes_text(const BatchRow& row) {
  std::string text = row.last == 0 ? std::string(row.of)
                                   : "from " + std::to_string(row.last) + " to " + std::to_string(row.last + 1) + " " + std::string(row.of) +
                                         (row.steady == Steady::by_tile ? ", without a tuned file" : "");
  if (row.unsteady != 0) text += "; not repeatable " + from(row.unsteady);
  if (!row.where.empty()) text += "; not repeatable " + std::string(row.where);
  return text;
}

bool speaks_of(const BatchRow& row, const BatchQuery& query) {
  return row.backend == query.backend && std::ranges::find(row.formats, query.format) != row.formats.end();
}

/// Why nothing is known of a row.
std::string_view unknown_because(const BatchQuery& query) {
  Operation on_hopper = query.operation;
  on_hopper.arch = Arch::sm90;
  bool is_there = false;
  for (const BatchRow& row : batch_rows()) {
    if (!speaks_of(row, query)) continue;
    if (row.on(on_hopper)) return "its launches were compared on sm90 alone";
    is_there = true;
  }
  return is_there ? "its launches were compared with scales of 128 x 128 alone" : "no launches of its kernel were compared";
}

}  // namespace

std::span<const BatchRow> batch_rows() {
  static const std::vector<BatchRow> all = [] {
    std::vector<BatchRow> rows;
    for (const std::span<const BatchRow>* const table : kTables) rows.insert(rows.end(), table->begin(), table->end());
    return rows;
  }();
  return all;
}

std::string_view name_of(Batch batch) { return rows::word_of<Batch>(kWords, batch); }

std::string text_of(const BatchWord& word) { return std::string(name_of(word.word)) + (word.where.empty() ? "" : ": " + word.where); }

BatchWord batch_of(const BatchQuery& query) {
  static const LaunchChoice kEngines;
  const LaunchChoice& choice = query.choice == nullptr ? kEngines : *query.choice;
  const std::span<const BatchRow> rows = batch_rows();
  const auto row = std::ranges::find_if(
      rows, [&](const BatchRow& one) { return speaks_of(one, query) && one.on(query.operation) && one.engines.has(query.engine); });
  const bool is_known = row != rows.end();
  if (is_known && row->unsteady != 0 && query.slots && *query.slots >= row->unsteady)
    return {Batch::not_repeatable, from(row->unsteady), row->grounds, row->source};
  for (const Quantizer* quantizer : {query.first, query.second}) {
    if (scales_together(quantizer))
      return {Batch::changes, std::string(kBeside) + ", for one scale serves all activations", quantizer->grounds, quantizer->source};
  }
  if (!is_known) return {Batch::unknown, std::string(unknown_because(query))};
  if (row->is_tuned && choice.tuned && !is_batch_invariant(choice) && !choice.has_tile()) {
    if (choice.tuned->is_one()) return {Batch::invariant, {}, Grounds::read, row->source};
    return {Batch::changes, "where the tiles of " + choice.tuned->file + " compute otherwise", Grounds::read, row->source};
  }
  if (row->word == Batch::invariant || is_steady(row->steady, choice)) return {Batch::invariant, {}, row->grounds, row->source};
  return {Batch::changes, changes_text(*row), row->grounds, row->source};
}

}  // namespace mx::families
