#include "verbs/numbers/formats_document.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "kernels/codec/codec.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "model/numerics/affine.hpp"
#include "model/numerics/block_rule_meanings.hpp"
#include "model/numerics/block_rules.hpp"
#include "model/numerics/contract.hpp"
#include "model/numerics/further_formats.hpp"
#include "model/numerics/profile.hpp"
#include "model/numerics/rules.hpp"
#include "verbs/numbers/conversion_text.hpp"
#include "verbs/numbers/numbers.hpp"

namespace mx::verbs {
namespace {

std::uint32_t smallest_positive_code(const Format& format) {
  // E8M0 has no zero: code 0 is its smallest value.
  return format.encoding == Encoding::exponent_only ? 0 : 1;
}

std::string special_codes(const Format& format) {
  if (format.width > 8) return "IEEE 754";
  std::string inf;
  std::string nan;
  for (std::uint32_t code = 0; code >> format.width == 0; ++code) {
    if (is_inf_code(format, code)) inf += " " + hex(code, format);
    if (is_nan_code(format, code)) nan += " " + hex(code, format);
  }
  return (inf.empty() ? "" : "Inf" + inf + (nan.empty() ? "" : ", ")) + (nan.empty() ? "" : "NaN" + nan) + (inf.empty() && nan.empty() ? "none" : "");
}

/// "32", "128x128", or "any" for a format that takes whatever is handed over.
std::string block_text(const BlockFormat& format) {
  if (format.block_rows > 1) return fmt::format("{}x{}", format.block_rows, format.block / format.block_rows);
  return format.block == 0 ? "any" : std::to_string(format.block);
}

Table formats_table() {
  return {"formats",
          {{"name", "format"},
           {"bits", "bits"},
           {"exponent_bits", "exp"},
           {"mantissa_bits", "man"},
           {"bias", "bias"},
           in_json("signed"),
           in_json("max_finite_code"),
           {"max_finite", "largest"},
           {"smallest_positive", "smallest"},
           {"specials", "specials"},
           {"source", "source"}}};
}

void add_format(Table& table, const Format& format) {
  const std::uint32_t top = max_finite_code(format);
  const std::string largest = decimal(decode(format, top));
  table.add({format.name,
             format.width,
             format.exponent_bits,
             format.mantissa_bits,
             format.bias,
             format.has_sign,
             hex(top, format),
             {largest, fmt::format("{} ({})", largest, hex(top, format))},
             decimal(decode(format, smallest_positive_code(format))),
             special_codes(format),
             format.source});
}

/// The source format of a conversion; a row without one is for every source that has no row of its own.
std::string from_text(const ConversionRow& row) { return row.from == nullptr ? "any other" : std::string(row.from->name); }

/// The rows of a profile; of one that is written as rules, into the format that it says or else into every one that it can be had for.
std::vector<ConversionRow> rows_of(const Profile& profile) {
  if (!is_of_rules(profile)) return {profile.conversions.begin(), profile.conversions.end()};
  std::vector<ConversionRow> rows;
  const auto add = [&](const Format& to) {
    if (const Conversion* how = find_conversion(profile, kF32, to)) rows.push_back({nullptr, &to, *how});
  };
  const std::string_view first = profile.name.substr(0, profile.name.find(','));
  if (is_rules(profile.name) && first.find('=') == std::string_view::npos) {
    add(format_of_text(profile.name));
    return rows;
  }
  for (const std::span<const Format> formats : {all_formats(), further_formats()}) {
    for (const Format& to : formats) add(to);
  }
  return rows;
}

Table conversions_of(const Profile& profile) {
  Table table{{},
              {{"from", "from"},
               {"to", "to"},
               in_json("rounding"),
               in_json("overflow"),
               in_json("nan_rule"),
               in_json("nan_positive"),
               in_json("nan_negative"),
               in_json("zero"),
               in_json("negative"),
               in_json("random_bits"),
               in_json("flush"),
               in_json("before"),
               {"rules", "rules"}}};
  for (const ConversionRow& row : rows_of(profile)) {
    const Json how = conversion_json(row.how, *row.to);
    const auto said = [&](const char* key) { return how.contains(key) ? Cell(how[key]) : Cell::none(); };
    table.add({from_text(row), row.to->name, how["rounding"], how["overflow"], how["nan_rule"], said("nan_positive"), said("nan_negative"),
               said("zero"), said("negative"), how["random_bits"], how["flush"], said("before"), how["rules"]});
  }
  return table;
}

/// The way that the kernels take from each source: one word where it is the same for all.
Cell way_of(const Recipe& recipe) {
  Json ways = Json::object();
  std::string all;
  std::string each;
  for (const Format* source : {&kF32, &kBf16, &kFp16}) {
    if (!takes_source(recipe, *source)) continue;
    const std::string way(kernels::name_of(kernels::quantize_way(recipe, *source)));
    ways[std::string(source->name)] = way;
    each += fmt::format("{}{} from {}", each.empty() ? "" : ", ", way, source->name);
    all = all.empty() || all == way ? way : " ";
  }
  return {ways, all == " " ? each : all};
}

Table recipes_of(const Profile& profile) {
  Table table{{}, {{"format", "recipe"}, {"scale_rule", "scale rule"}, in_json("element"), {"way", "way"}, {"rules", "rules"}, {"source", "source"}}};
  for (const Recipe& recipe : profile.recipes) {
    Cell element = Cell::none();
    if (gives_codes(recipe)) element = conversion_json(element_conversion(recipe), *recipe.format->element);
    table.add({recipe.format->name, scale_rule_name(recipe), std::move(element), way_of(recipe), text_of(recipe), recipe.source});
  }
  return table;
}

Table dequantizers_of(const Profile& profile) {
  Table table{{}, {{"format", "dequantizes"}, {"target", "to"}, {"way", "way"}, {"source", "source"}}};
  for (const Dequantizer& row : profile.dequantizers) {
    table.add({row.format->name, row.target->name, kernels::name_of(kernels::dequantize_way(row)), row.source});
  }
  return table;
}

/// Names of all profiles that are called so, whatever their version.
Json versions_of(const Profile& profile) {
  Json names = Json::array();
  for (const Profile& other : all_profiles()) {
    if (base_name(other.name) == base_name(profile.name)) names.push_back(other.name);
  }
  return names;
}

Json releases_json(const Releases& releases) {
  Json json = Json::object();
  const auto add = [&](const char* key, std::string_view text) {
    if (!text.empty()) json[key] = text;
  };
  add("since", releases.since);
  add("until", releases.until);
  add("commit", releases.commit);
  add("after", releases.after);
  add("change", releases.change);
  return json;
}

/// "releases: 2.13: e4m3fn saturates; other versions: torch-cpu@2.11"
std::string releases_text(const Profile& profile) {
  std::string text = "releases: " + text_of(profile.releases);
  if (!profile.releases.change.empty()) text += ": " + std::string(profile.releases.change);
  std::string others;
  for (const Profile& other : all_profiles()) {
    if (other.name != profile.name && base_name(other.name) == base_name(profile.name))
      others += (others.empty() ? "" : ", ") + std::string(other.name);
  }
  return others.empty() ? text : text + "; other versions: " + others;
}

std::string grounds_text(const ContractRow& row) {
  return std::string(name_of(row.grounds)) + (row.known_to_differ.empty() ? "" : fmt::format(", {}", kKnownToDiffer));
}

/// Each field of a record that is not as in an empty one, in the order of its text.
Table fields_of(const ContractRow& row) {
  Table table{{}, {{"field", "field"}, {"value", "value"}, {"meaning", "meaning"}, {"values", "values"}}};
  std::map<std::string, std::string> said;
  const std::string text = text_of(row);
  for (std::size_t first = 0; first < text.size();) {
    const std::size_t end = std::min(text.find(':', first), text.size());
    const std::string part = text.substr(first, end - first);
    said.emplace(part.substr(0, part.find('=')), part.substr(part.find('=') + 1));
    first = end + 1;
  }
  for (const RecordField& field : record_fields()) {
    if (const auto found = said.find(std::string(field.key)); found != said.end()) table.add({field.key, found->second, field.meaning, field.values});
  }
  return table;
}

/// Codes are listed where there are few enough to be read.
const Format& narrow_format(const std::string& name) {
  constexpr int kWidest = 8;
  const Format& format = factor_format_named(name);
  if (format.width <= kWidest) return format;
  throw Error(ErrorCode::usage, fmt::format("{} has {} bits: codes are listed for formats of up to {}", format.name, format.width, kWidest),
              "--format");
}

}  // namespace

Document formats_document() {
  Document document{"formats"};
  Table formats = formats_table();
  for (const Format& format : factor_formats()) add_format(formats, format);
  document.table(std::move(formats));
  Table blocks{
      "block_formats",
      {{"name", "block format"}, {"element", "element"}, {"scale", "scale"}, {"block", "block"}, in_json("block_rows"), {"source", "source"}}};
  for (const BlockFormat& block : all_block_formats())
    blocks.add({block.name, block.element->name, block.scale->name, {block.block, block_text(block)}, block.block_rows, block.source});
  document.line();
  document.table(std::move(blocks));
  Table profiles{"profiles",
                 {{"name", "profile"},
                  {"implementation", "implementation"},
                  {"operation", "operation"},
                  {"device", "device"},
                  {"build", "build"},
                  {"releases", "releases"},
                  in_json("source")}};
  for (const Profile& p : all_profiles()) {
    profiles.add({p.name, p.implementation, p.operation, p.device, p.build, {releases_json(p.releases), text_of(p.releases)}, p.source});
  }
  std::string_view before;
  for (const NamedRules& row : named_rules()) {
    if (row.name == before) continue;
    before = row.name;
    const Profile& p = profile_named(row.name);
    profiles.add({p.name, p.implementation, p.operation, p.device, p.build, {releases_json(p.releases), ""}, p.source});
  }
  document.line();
  document.table(std::move(profiles));
  Table contracts{"contracts",
                  {{"name", "contract"},
                   {"grounds", "grounds"},
                   in_json("evidence"),
                   in_json("record"),
                   in_json("known_to_differ"),
                   {"operands", "operands"},
                   {"accumulation", "accumulation"},
                   {"bias", "bias"},
                   in_json("source")}};
  for (const std::span<const ContractRow> table : {all_contracts(), tensor_core_contracts()}) {
    for (const ContractRow& c : table) {
      const bool differs = !c.known_to_differ.empty();
      contracts.add({c.name,
                     {name_of(c.grounds), grounds_text(c)},
                     name_of(c.evidence),
                     text_of(c),
                     differs ? Cell(c.known_to_differ) : Cell::none(),
                     c.operands,
                     c.accumulation,
                     c.bias,
                     c.source});
    }
  }
  document.line();
  document.table(std::move(contracts));
  Table legend{"grounds", {{"name", "grounds"}, {"meaning", "meaning"}}};
  for (const GroundsWord& word : grounds_legend()) legend.add({word.name, word.meaning});
  legend.add({kKnownToDiffer, kKnownToDifferMeaning});
  document.line();
  document.table(std::move(legend));
  return document;
}

namespace {

/// Rules of integers with a zero point, which are no profile of any block format.
Document integers_document(const std::string& name) {
  const std::string rules = text_of(affine_rules(name));
  const auto named = std::ranges::find_if(named_affine_rules(), [&](const AffineRow& row) { return same_name(row.name, name); });
  const bool is_named = named != named_affine_rules().end();
  Document document{"formats"};
  const std::string shown = is_named ? std::string(named->name) : rules,
                    source = is_named ? std::string(named->source) : "rules that their user wrote";
  document.line(fmt::format("{}: integers with a scale and a zero point\nsource: {}\nrules: {}", shown, source, rules));
  document.value("integers", {{"name", shown}, {"rules", rules}, {"source", source}});
  return document;
}

}  // namespace

Document profile_document(const std::string& name) {
  if (is_affine(name)) return integers_document(name);
  const Profile& profile = profile_named(name);
  Document document{"formats"};
  Json json = {{"name", profile.name},           {"implementation", profile.implementation},
               {"operation", profile.operation}, {"device", profile.device},
               {"build", profile.build},         {"source", profile.source}};
  document.line(fmt::format("{}: {}, {}, on {}, build {}\nsource: {}\n{}", profile.name, profile.implementation, profile.operation, profile.device,
                            profile.build, profile.source, releases_text(profile)));
  json["releases"] = releases_json(profile.releases);
  json["versions"] = versions_of(profile);
  // The first table follows the head, each other one a blank line; a table without rows is left out.
  bool first = true;
  const auto add = [&](const char* key, Table table) {
    json[key] = table.json();
    if (table.rows.empty()) return;
    if (!first) document.line();
    first = false;
    document.table(std::move(table));
  };
  add("conversions", conversions_of(profile));
  add("recipes", recipes_of(profile));
  add("dequantizers", dequantizers_of(profile));
  document.value("profile", std::move(json));
  return document;
}

Document rules_document() {
  Document document{"formats"};
  Table words{"words", {{"word", "word"}, {"meaning", "meaning"}, {"values", "values"}}};
  for (const RuleWord& word : rule_words()) words.add({word.key, word.meaning, word.values});
  document.table(std::move(words));
  Table blocks{"block_words", {{"word", "word of blocks"}, {"family", "rules"}, {"meaning", "meaning"}, {"values", "values"}}};
  for (const BlockRuleWord& word : block_rule_words()) {
    blocks.add({word.key, word.family, word.meaning, word.values});
    for (const rules::ValueMeaning& value : rules::kValueMeanings) {
      if (value.family == word.family && value.word.starts_with(fmt::format("{}=", word.key)))
        blocks.add({value.word, value.family, value.meaning, ""});
    }
  }
  document.line();
  document.table(std::move(blocks));
  Table named{"named_rules", {{"name", "name"}, {"rules", "rules"}, {"source", "source"}}};
  for (const NamedRules& row : named_rules()) named.add({row.name, row.text, row.source});
  document.line();
  document.table(std::move(named));
  Table integers{"integer_words", {{"word", "word of integers"}, {"meaning", "meaning"}, {"values", "values"}}};
  for (const AffineWord& word : affine_words()) integers.add({word.key, word.meaning, word.values});
  document.line();
  document.table(std::move(integers));
  Table named_integers{"named_integers", {{"name", "name"}, {"rules", "rules"}, {"source", "source"}}};
  for (const AffineRow& row : named_affine_rules()) named_integers.add({row.name, row.text, row.source});
  document.line();
  document.table(std::move(named_integers));
  return document;
}

Document contract_document(const std::string& contract) {
  const ContractRow& row = row_of(contract_named(contract));
  Document document{"formats"};
  const std::string record = text_of(row);
  if (row.name != record) document.line(std::string(row.name));
  document.line(record);
  document.line(fmt::format("evidence: {}; grounds: {}; {}", name_of(row.evidence), grounds_text(row), row.source));
  Json json = {{"name", row.name},
               {"record", record},
               {"evidence", name_of(row.evidence)},
               {"grounds", name_of(row.grounds)},
               {"operands", row.operands},
               {"accumulation", row.accumulation},
               {"bias", row.bias},
               {"source", row.source}};
  Table fields = fields_of(row);
  json["fields"] = fields.json();
  document.table(std::move(fields));
  document.value("contract", std::move(json));
  return document;
}

Document codes_document(const std::string& name) {
  const Format& format = narrow_format(name);
  Document document{"formats"};
  Table one = formats_table();
  add_format(one, format);
  document.value("format", one.json().front());
  document.line(fmt::format("{}: {} bits, bias {}; {}", format.name, format.width, format.bias, format.source));
  Table codes{"codes", {{"code", "code"}, {"value", "value"}}};
  for (std::uint32_t code = 0; code >> format.width == 0; ++code) codes.add({hex(code, format), decimal(decode(format, code))});
  document.table(std::move(codes));
  return document;
}

}  // namespace mx::verbs
