#include "checkpoint/inspect/producers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <sstream>

#include "model/embedded.hpp"
#include "model/error.hpp"
#include "support/info.hpp"
#include "support/quote.hpp"

namespace mx::embedded {
extern const std::span<const EmbeddedFile> producers;
}  // namespace mx::embedded

namespace mx::checkpoint {
namespace {

using Text = std::string_view;

/// Where a method's quantizer leaves its name and its version.
struct ProducerRow {
  Text method;  ///< empty: any
  Text name;
  Text version_key;
  Text name_key = {};  ///< whose word counts in the place of `name`
};
/// The first that says something. Source: NVIDIA/Model-Optimizer modelopt/torch/export/unified_export_hf.py (producer); compressed-tensors
/// src/compressed_tensors/config/base.py and compressors/model_compressors (version); intel/auto-round auto_round/export (autoround_version).
constexpr std::array kProducers{ProducerRow{"", "", "producer.version", "producer.name"},
                                ProducerRow{"compressed-tensors", "compressed-tensors", "version"},
                                ProducerRow{"auto-round", "auto-round", "autoround_version"}, ProducerRow{"quark", "quark", "version"}};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

[[noreturn]] void fail(const std::string& message, const support::InfoNode& node) { throw Error(ErrorCode::input, message, node.where()); }

constexpr std::array kFormats{layout::WeightFormat::mxfp4,    layout::WeightFormat::nvfp4,      layout::WeightFormat::mxfp8,
                              layout::WeightFormat::int4,     layout::WeightFormat::fp8_tensor, layout::WeightFormat::fp8_channel,
                              layout::WeightFormat::fp8_block};

ProducerFault read_fault(const std::string& id, const support::InfoNode& node) {
  ProducerFault fault{id,    node.text("producer"), node.text_or("mended", ""), {}, node.boolean_or("always", false), {},
                      false, node.text("what"),     node.text("source")};
  const std::string of = node.text_or("of", "");
  if (!of.empty() && of != "inputs") fail(fmt::format("of: {} is not inputs", support::in_quotes(of)), node);
  fault.of_inputs = !of.empty();
  for (const std::string& format : words_of(node.text("formats"))) {
    if (format == "any") continue;
    if (std::ranges::none_of(kFormats, [&](layout::WeightFormat one) { return layout::name_of(one) == format; }))
      fail(fmt::format("formats: {} is no format of weights", support::in_quotes(format)), node);
    fault.formats.push_back(format);
  }
  for (const std::string& name : words_of(node.text_or("shows", ""))) {
    const std::optional<ValueFault> known = fault_named(name);
    if (!known) fail(fmt::format("shows: {} is no finding", support::in_quotes(name)), node);
    fault.shows.push_back(*known);
  }
  if (fault.source.find('#') == std::string::npos) fail("source must name a report as repository#number", node);
  return fault;
}

/// The numbers that a version begins with.
std::vector<int> numbers_of(Text version) {
  std::vector<int> numbers;
  for (std::size_t at = 0; at < version.size() && numbers.size() < 4;) {
    int number = 0;
    const std::size_t begin = at;
    for (; at < version.size() && std::isdigit(static_cast<unsigned char>(version[at])) != 0 && at - begin < 8; ++at)
      number = 10 * number + (version[at] - '0');
    if (at == begin) break;
    numbers.push_back(number);
    if (at == version.size() || version[at] != '.') break;
    ++at;
  }
  return numbers;
}

std::string known_text(const ProducerFault& row) {
  return fmt::format("{}{}: {} ({})", row.producer, row.mended.empty() ? "" : fmt::format(" before {}", row.mended), row.what, row.source);
}

}  // namespace

Producer producer_of(const Configuration& configuration) {
  const auto word = [&](Text key) {
    const auto found = configuration.words().find(std::string(key));
    return found == configuration.words().end() || found->second == "null" ? std::string() : found->second;
  };
  for (const ProducerRow& row : kProducers) {
    if (!row.method.empty() && row.method != configuration.method()) continue;
    std::string name = row.name_key.empty() ? std::string(row.name) : word(row.name_key);
    if (name.empty()) continue;
    const std::string version = word(row.version_key);
    return {std::move(name), version, version.empty() ? std::string() : fmt::format("{}.{}", configuration.root(), row.version_key)};
  }
  return {};
}

std::vector<ProducerFault> parse_producer_faults(Text text, const std::string& where) {
  const support::InfoNode root = support::InfoNode::parse(text, where);
  std::vector<ProducerFault> faults;
  for (const auto& [id, node] : root.blocks()) faults.push_back(read_fault(id, node));
  root.finish();
  return faults;
}

std::span<const ProducerFault> producer_faults() {
  static const std::vector<ProducerFault> kFaults = parse_producer_faults(embedded::producers[0].bytes, std::string(embedded::producers[0].path));
  return kFaults;
}

bool is_before(Text version, Text other) {
  const std::vector<int> numbers = numbers_of(version);
  return !numbers.empty() && std::ranges::lexicographical_compare(numbers, numbers_of(other));
}

std::vector<const ProducerFault*> faults_of(const Producer& producer, layout::WeightFormat format, std::span<const ProducerFault> ledger) {
  std::vector<const ProducerFault*> known;
  for (const ProducerFault& row : ledger) {
    const bool is_of = row.formats.empty() || std::ranges::find(row.formats, layout::name_of(format)) != row.formats.end();
    if (row.producer != producer.name || !is_of) continue;
    if (row.mended.empty() || is_before(producer.version, row.mended)) known.push_back(&row);
  }
  return known;
}

void explain(std::vector<ScannedFault>& faults, const Producer& producer, layout::WeightFormat format, const FoundTensor* first) {
  for (const ProducerFault* const row : faults_of(producer, format)) {
    for (ScannedFault& fault : faults) {
      if (std::ranges::find(row->shows, fault.fault) == row->shows.end() || (row->of_inputs && fault.piece != Piece::aside)) continue;
      fault.detail += fmt::format("{}known of {}", fault.detail.empty() ? "" : "; ", known_text(*row));
    }
    if (row->always && first != nullptr)
      faults.push_back({ValueFault::known_producer,
                        first->row->piece,
                        std::string(first->name),
                        1,
                        {},
                        fmt::format("{} {}; {}", producer.name, producer.version, known_text(*row))});
  }
}

}  // namespace mx::checkpoint
