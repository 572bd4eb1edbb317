#include "verbs/inspect/inspect_document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "support/quote.hpp"
#include "support/safetensors.hpp"

namespace mx::verbs {
namespace {

using checkpoint::InspectedFault;
using checkpoint::InspectedGroup;
using checkpoint::Inspection;

/// Lines of one kind in the text; JSON has all of them.
constexpr std::size_t kShown = 40;

std::string plural(std::int64_t count, std::string_view what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

/// "0-23", "1, 3-5".
std::string layers_text(std::span<const int> layers) {
  std::string text;
  for (std::size_t at = 0; at < layers.size();) {
    std::size_t end = at + 1;
    while (end < layers.size() && layers[end] == layers[end - 1] + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", layers[at]);
    if (end > at + 1) text += fmt::format("-{}", layers[end - 1]);
    at = end;
  }
  return text.empty() ? "none" : text;
}

std::string group_text(const InspectedGroup& group) {
  std::string text = fmt::format("{}: {} in {} ({}), {} {}, hidden {}, intermediate {}, {} bytes; {}", group.form, plural(group.experts, "expert"),
                                 plural(std::ssize(group.layers), "layer"), group.place, group.layers.size() == 1 ? "layer" : "layers",
                                 layers_text(group.layers), group.hidden, group.intermediate, group.bytes, group.meaning);
  if (!group.gated) text += "; without a gate";
  if (group.further) text += "; for further tokens";
  if (!group.left.empty()) text += fmt::format("; named in {}", group.left);
  return text;
}

Table tensors_of(const InspectedGroup& group) {
  Table table{"tensors", {{"name", "tensors"}, {"dtype", "dtype"}, {"shape", "shape"}, {"tensors", "number"}, {"bytes", "bytes"}}};
  for (const checkpoint::TensorKind& kind : group.tensors)
    table.add({kind.name, kind.dtype, {Json(kind.shape), support::shape_text(kind.shape)}, kind.tensors, kind.bytes});
  return table;
}

Cell number_of(double number) { return {number, fmt::format("{:.6g}", number)}; }

Table scales_of(const InspectedGroup& group) {
  Table table{"scales",
              {{"name", "scales"},
               {"dtype", "dtype"},
               {"count", "number"},
               {"least", "least"},
               {"most", "largest"},
               {"zeros", "zeros"},
               {"subnormals", "subnormal"},
               {"largest", "dtype's largest"},
               in_json("binades")}};
  for (const checkpoint::ScaleRange& range : group.scales) {
    Json binades = Json::array();
    for (const auto& [exponent, count] : range.binades) binades.push_back({{"exponent", exponent}, {"count", count}});
    table.add({range.name, range.dtype, range.count, number_of(range.least), number_of(range.most), range.zeros, range.subnormals, range.largest,
               std::move(binades)});
  }
  return table;
}

void add_groups(Document& document, const Inspection& inspection) {
  Json groups = Json::array();
  for (const InspectedGroup& group : inspection.groups) {
    groups.push_back({{"form", group.form},
                      {"meaning", group.meaning},
                      {"place", group.place},
                      {"layers", group.layers},
                      {"experts", group.experts},
                      {"hidden", group.hidden},
                      {"intermediate", group.intermediate},
                      {"gated", group.gated},
                      {"converts", group.converts},
                      {"further", group.further},
                      {"named_in", group.left},
                      {"bytes", group.bytes},
                      {"tensors", tensors_of(group).json()},
                      {"scales", scales_of(group).json()}});
    document.field("experts", {}, {}, group_text(group));
  }
  document.value("groups", std::move(groups));
}

/// What holds for the whole file.
void add_whole(Document& document, const Inspection& inspection) {
  document.field("checkpoint", "checkpoint", {{"path", inspection.path}, {"files", inspection.files}, {"bytes", inspection.bytes}},
                 fmt::format("{}: {}, {} bytes", inspection.path, plural(inspection.files, "file"), inspection.bytes));
  const checkpoint::Producer& producer = inspection.producer;
  document.field("producer", "producer", {{"name", producer.name}, {"version", producer.version}, {"place", producer.place}},
                 producer.name.empty()      ? "not said"
                 : producer.version.empty() ? fmt::format("{}, version not said", producer.name)
                                            : fmt::format("{} {} ({})", producer.name, producer.version, producer.place));
  document.field("method", "method", inspection.method, inspection.method.empty() ? "none" : inspection.method);
}

void add_others(Document& document, const Inspection& inspection) {
  document.field("dense layers", "dense", Json(inspection.dense), layers_text(inspection.dense));
  document.field("shared experts", "shared_experts", inspection.shared_experts,
                 inspection.shared_experts == 0 ? "none" : fmt::format("in {}", plural(inspection.shared_experts, "layer")));
  document.field("KV scales", "kv_scales", inspection.kv_scales, inspection.kv_scales == 0 ? "none" : plural(inspection.kv_scales, "tensor"));
  document.field("left alone", "ignored", Json(inspection.ignored),
                 inspection.ignored.empty() ? "nothing is named" : support::in_quotes(fmt::format("{}", fmt::join(inspection.ignored, "; "))));
  document.field("others", "others", {{"tensors", inspection.others}, {"bytes", inspection.other_bytes}},
                 fmt::format("{}, {} bytes", plural(inspection.others, "tensor"), inspection.other_bytes));
}

void add_faults(Document& document, const Inspection& inspection) {
  Table table{"faults",
              {in_json("group"), in_json("layer"), in_json("fault"), in_json("spoils"), in_json("tensor"), in_json("count"), in_json("first"),
               in_json("detail"), in_json("means"), in_json("sure"), in_json("seen")}};
  std::size_t shown = 0;
  const std::string replay = fmt::format("mxact inspect {}{}", support::shell_word(inspection.path), inspection.deep ? " --deep" : "");
  for (const auto& [group, layer, fault] : inspection.faults) {
    const checkpoint::ValueFaultRow& row = checkpoint::row_of(fault.fault);
    table.add({group, layer, row.name, row.spoils, fault.tensor, fault.count, fault.first, fault.detail, row.means, row.sure,
               checkpoint::name_of(row.seen)});
    document.cases.push_back(
        {"mxact.inspect", fault.tensor, support::CheckEnd::failed, fault.text(), std::string(row.means), replay, inspection.path});
    if (shown++ >= kShown) continue;
    document.line(fmt::format("{}: {}", row.heading, fault.text()));
    document.line(fmt::format("  {}: {}", row.sure, row.means));
  }
  if (shown > kShown) document.line(fmt::format("and {} more; --json has all", shown - kShown));
  document.value(table.key, table.json());
}

/// What other files of the producer's release have: nothing is found of it here.
void add_known(Document& document, const Inspection& inspection) {
  Table table{"known", {in_json("id"), in_json("mended"), in_json("what"), in_json("source")}};
  for (const checkpoint::KnownOfProducer& one : inspection.known) {
    table.add({one.id, one.mended, one.what, one.source});
    document.line(fmt::format("known of some files by {} {}: {} ({}{})", inspection.producer.name,
                              one.mended.empty() ? inspection.producer.version : fmt::format("before {}", one.mended), one.what, one.source,
                              one.mended.empty() ? ", not mended that is known here" : ""));
  }
  document.value(table.key, table.json());
}

/// Where the configuration and the tensors say other things, and what the engine then does.
void add_disagreements(Document& document, const Inspection& inspection) {
  Table table{"disagreements", {in_json("place"), in_json("text")}};
  for (const InspectedGroup& group : inspection.groups) {
    if (group.disagreement.empty()) continue;
    table.add({group.place, group.disagreement});
    document.line(fmt::format("warning: {}: {}", group.place, group.disagreement));
    document.cases.push_back({"mxact.inspect", group.place, support::CheckEnd::failed, group.disagreement, {}, {}, inspection.path});
  }
  document.value(table.key, table.json());
}

void add_open(Document& document, const Inspection& inspection) {
  Table table{"open", {in_json("layer"), in_json("tensor"), in_json("count"), in_json("text")}};
  for (const checkpoint::InspectedQuestion& one : inspection.open) table.add({one.layer, one.tensor, one.count, one.text});
  document.value(table.key, table.json());
  if (inspection.open.empty()) return;
  const checkpoint::InspectedQuestion& first = inspection.open.front();
  document.line(fmt::format("open: {}: {} {}{}; --deep tells", support::in_quotes(first.tensor), first.count, first.text,
                            inspection.open.size() == 1 ? "" : fmt::format(", and {} more such tensors", inspection.open.size() - 1)));
}

}  // namespace

Document inspect_document(const Inspection& inspection) {
  Document document{"inspect"};
  add_whole(document, inspection);
  add_groups(document, inspection);
  add_others(document, inspection);
  document.field(
      "weights", "deep", inspection.deep,
      inspection.deep ? fmt::format("read, {} bytes", inspection.read) : fmt::format("not read; {} bytes of scales read", inspection.read));
  document.value("bytes_read", inspection.read);
  for (const InspectedGroup& group : inspection.groups) {
    document.line();
    document.table(text_alone(tensors_of(group)));
    if (group.scales.empty()) continue;
    document.line();
    document.table(text_alone(scales_of(group)));
  }
  document.line();
  add_faults(document, inspection);
  add_disagreements(document, inspection);
  add_open(document, inspection);
  add_known(document, inspection);
  const auto disagree = std::ranges::count_if(inspection.groups, [](const InspectedGroup& group) { return !group.disagreement.empty(); });
  const auto found = std::ssize(inspection.faults) + disagree;
  document.line(inspection.sound() ? "nothing is wrong that scales" + std::string(inspection.deep ? " and weights" : " alone") + " show"
                                   : plural(found, "finding"));
  if (inspection.sound()) document.cases.push_back({"mxact.inspect", inspection.path, support::CheckEnd::passed, {}, {}, {}, inspection.path});
  document.ended(inspection.sound() ? 0 : 1);
  return document;
}

}  // namespace mx::verbs
