#include "sim/checkpoint/form_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>

#include "model/error.hpp"
#include "support/quote.hpp"

namespace mx::sim {
namespace {

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

/// A set of forms: one bit for each row of source_forms().
using Forms = std::uint32_t;
static_assert(sizeof(Forms) * 8 > 16);

template <class Keeps>
Forms forms_that(Keeps keeps) {
  Forms forms = 0;
  for (std::size_t i = 0; i < source_forms().size(); ++i) {
    if (keeps(source_forms()[i])) forms |= Forms{1} << i;
  }
  return forms;
}

std::string titles_of(Forms forms) {
  std::string text;
  for (std::size_t i = 0; i < source_forms().size(); ++i) {
    if ((forms >> i & 1U) != 0) text += fmt::format("{}{}", text.empty() ? "" : " or ", source_forms()[i].title);
  }
  return text;
}

const SourceForm& first_of(Forms forms) { return source_forms()[static_cast<std::size_t>(__builtin_ctz(forms))]; }

/// Every naming once, in the order of the forms.
std::vector<const Naming*> all_namings() {
  std::vector<const Naming*> namings;
  for (const SourceForm& form : source_forms()) {
    for (const Naming& naming : form.namings) {
      if (std::ranges::find(namings, naming.title, &Naming::title) == namings.end()) namings.push_back(&naming);
    }
  }
  return namings;
}

bool has_naming(const SourceForm& form, const Naming& naming) {
  return std::ranges::find(form.namings, naming.title, &Naming::title) != form.namings.end();
}

std::string_view take_digits(std::string_view& text) {
  const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789"));
  text.remove_prefix(digits.size());
  return digits;
}

int number_of(std::string_view digits, std::string_view what, const std::string& place) {
  if (digits.size() > 4 || (digits.size() > 1 && digits.front() == '0')) {
    fail(place, fmt::format("the {} number {} is not from 0 to 9999 without leading zeros", what, in_quotes(digits)));
  }
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

/// The part of a name before the experts, where the naming leaves it open: "model.layers.7.mlp" of "model.layers.7.mlp.experts.0.gate_proj.weight".
struct OpenName {
  std::string_view before;
  std::string_view after;
  std::string_view digits;
  std::string_view rest;
};
std::optional<OpenName> split_open(const Naming& naming, std::string_view name) {
  const std::size_t at = name.find(naming.experts);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view left = name.substr(0, at);
  const std::size_t dot = left.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::size_t last = left.substr(0, dot).find_last_not_of("0123456789");
  if (last == std::string_view::npos) return std::nullopt;
  const std::string_view before = left.substr(0, last + 1);
  const std::string_view digits = left.substr(last + 1, dot - last - 1);
  if (digits.empty() || !before.ends_with("layers.")) return std::nullopt;
  return OpenName{before, left.substr(dot), digits, name.substr(at + naming.experts.size())};
}

/// A name that goes on as those of experts do, whether or not the naming knows the rest. `projection` is none where it does not.
struct Reading {
  ExpertName name;
  bool known;
};
std::optional<Reading> read_name(const Naming& naming, std::string_view name, const LocatedTensor& at) {
  const std::string place = place_of(at, name);
  ExpertName read{&naming, naming.before, 0, naming.after, 0, 0, {}, name, &at};
  std::string_view rest;
  if (naming.before.empty()) {
    const std::optional<OpenName> open = split_open(naming, name);
    if (!open) return std::nullopt;
    read.before = open->before;
    read.after = open->after;
    read.layer = number_of(open->digits, "layer", place);
    rest = open->rest;
  } else {
    const std::optional<LayerName> split = split_layer(name, naming.before, naming.after, place);
    if (!split || !split->suffix.starts_with(naming.experts)) return std::nullopt;
    read.layer = split->layer;
    rest = split->suffix.substr(naming.experts.size());
  }
  const std::string_view digits = naming.experts.ends_with('.') ? take_digits(rest) : std::string_view();
  const bool is_numbered = !digits.empty() && rest.starts_with('.');
  if (is_numbered != naming.numbered) return std::nullopt;
  if (naming.numbered) {
    read.expert = number_of(digits, "expert", place);
    rest.remove_prefix(1);
  }
  for (std::size_t p = 0; p < naming.projections.size(); ++p) {
    const std::string_view projection = naming.projections[p].name;
    if (!rest.starts_with(projection)) continue;
    read.projection = p;
    read.suffix = rest.substr(projection.size());
    return Reading{read, true};
  }
  return Reading{read, false};
}

/// An expert tensor with the forms that have its name.
struct Hit {
  ExpertName name;
  Forms forms;
};

[[noreturn]] void refuse_unknown(const ExpertName& name) {
  const Forms forms = forms_that([&](const SourceForm& form) { return has_naming(form, *name.naming); });
  const std::string place = place_of(*name.at, name.name);
  if (!name.naming->numbered) fail(place, "is no MXFP4 expert tensor of the form " + titles_of(forms));
  std::set<std::string_view> suffixes;
  for (const SourceForm& form : source_forms()) {
    if (!has_naming(form, *name.naming)) continue;
    for (const TensorRow& row : form.tensors) suffixes.insert(row.suffix);
  }
  std::string known;
  for (const std::string_view suffix : suffixes) known += fmt::format("{}{}", known.empty() ? "" : ", ", suffix);
  fail(place, fmt::format("is an expert tensor of no known form: {} go on with {}", name.naming->title, known));
}

std::vector<Hit> find_hits(const CheckpointFiles& files) {
  const std::vector<const Naming*> namings = all_namings();
  std::vector<Hit> hits;
  for (const auto& [name, tensor] : files.tensors) {
    std::optional<ExpertName> unknown;
    bool found = false;
    for (const Naming* const naming : namings) {
      const std::optional<Reading> reading = read_name(*naming, name, tensor);
      if (!reading) continue;
      const Forms forms = !reading->known ? 0 : forms_that([&](const SourceForm& form) {
        return has_naming(form, *naming) && find_row(form, reading->name.suffix) != nullptr;
      });
      if (forms == 0) {
        if (!unknown) unknown = reading->name;
        continue;
      }
      hits.push_back({reading->name, forms});
      found = true;
    }
    if (!found && unknown) refuse_unknown(*unknown);
    if (found && !tensor.indexed) fail(place_of(tensor, name), "is in this shard, but the index does not list it");
  }
  return hits;
}

/// Forms that all hits have in common by `forms_of`. Where there is none, the fewer of the two kinds are called the wrong ones.
template <class FormsOf>
Forms common_forms(const std::vector<Hit>& hits, FormsOf forms_of) {
  Forms common = ~Forms{0};
  for (const Hit& hit : hits) {
    const Forms forms = forms_of(hit);
    if ((common & forms) != 0) {
      common &= forms;
      continue;
    }
    const auto of_kind = [&](Forms kind) {
      return [&, kind](const Hit& other) { return (forms_of(other) & kind) != 0 && (forms_of(other) & (kind == forms ? common : forms)) == 0; };
    };
    const bool these = std::ranges::count_if(hits, of_kind(forms)) <= std::ranges::count_if(hits, of_kind(common));
    const Forms wrong = these ? forms : common;
    const auto first = std::ranges::find_if(hits, of_kind(wrong));
    const ExpertName& name = first == hits.end() ? hit.name : first->name;
    fail(place_of(*name.at, name.name), fmt::format("is named in the form {}, but other tensors are in the form {}: forms are not mixed",
                                                    titles_of(wrong), titles_of(these ? common : forms)));
  }
  return common;
}

Forms with_dtype(const Hit& hit, Forms among) {
  return among & forms_that([&](const SourceForm& form) {
           const TensorRow* const row = find_row(form, hit.name.suffix);
           return row != nullptr && std::ranges::find(row->dtypes, hit.name.at->view->dtype->name) != row->dtypes.end();
         });
}

/// Of forms that share their names, those that the dtypes fit.
Forms by_dtypes(const std::vector<Hit>& hits, Forms among) {
  for (const Hit& hit : hits) {
    if (with_dtype(hit, among) != 0) continue;
    std::string known;
    for (const SourceForm& form : source_forms()) {
      const TensorRow* const row = find_row(form, hit.name.suffix);
      if ((among >> (&form - source_forms().data()) & 1U) == 0 || row == nullptr) continue;
      known += fmt::format("{}{} in {}", known.empty() ? "" : ", ", fmt::join(row->dtypes, " or "), form.title);
    }
    fail(place_of(*hit.name.at, hit.name.name), fmt::format("dtype is {}, expected {}", hit.name.at->view->dtype->name, known));
  }
  return common_forms(hits, [&](const Hit& hit) { return with_dtype(hit, among); });
}

/// Of several forms, those whose tensors are all there.
Forms by_presence(const std::vector<Hit>& hits, Forms among) {
  std::set<std::string_view> seen;
  for (const Hit& hit : hits) seen.insert(hit.name.suffix);
  const Forms whole = among & forms_that([&](const SourceForm& form) {
                        return std::ranges::all_of(form.tensors, [&](const TensorRow& row) {
                          return row.piece == Piece::aside || row.piece == Piece::bias || seen.contains(row.suffix);
                        });
                      });
  return whole != 0 ? whole : among;
}

bool is_path(std::string_view pattern, std::string_view path) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == path;
  const std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  if (path.size() < head.size() + tail.size() || !path.starts_with(head) || !path.ends_with(tail)) return false;
  return path.substr(head.size(), path.size() - head.size() - tail.size()).find('.') == std::string_view::npos;
}

/// What the configuration says against a form, in words; empty: nothing.
std::string contradiction(const SourceForm& form, const CheckpointConfig& config) {
  for (const ConfigFact& fact : form.facts) {
    for (const auto& [path, value] : config.words) {
      if (!is_path(fact.path, path) || value == "null" || std::ranges::find(fact.values, value) != fact.values.end()) continue;
      return fmt::format("{} is {}, where {} has {}", path, in_quotes(value), form.title, fmt::join(fact.values, " or "));
    }
  }
  return {};
}

const SourceForm& by_config(Forms among, const CheckpointConfig& config, const std::string& where) {
  const Forms left = among & forms_that([&](const SourceForm& form) { return contradiction(form, config).empty(); });
  if (left == 0) fail(config.path.string(), fmt::format("{}, which is what the tensors look like", contradiction(first_of(among), config)));
  if ((left & (left - 1)) == 0) return first_of(left);
  fail(where, fmt::format("the tensors may be {}: quantization_config in config.json would tell", titles_of(left)));
}

/// The tensors of one model lie under one name.
void check_place(const std::vector<Hit>& hits) {
  const ExpertName& first = hits.front().name;
  for (const Hit& hit : hits) {
    if (hit.name.naming->title != first.naming->title) {
      fail(place_of(*hit.name.at, hit.name.name),
           fmt::format("is named by {}, but {} by {}", hit.name.naming->title, in_quotes(first.name), first.naming->title));
    }
    if (hit.name.before == first.before && hit.name.after == first.after) continue;
    fail(place_of(*hit.name.at, hit.name.name), fmt::format("lies under {}N{}, but {} under {}N{}: these are the experts of two models",
                                                            hit.name.before, hit.name.after, in_quotes(first.name), first.before, first.after));
  }
}

}  // namespace

std::string place_of(const LocatedTensor& tensor, std::string_view name) {
  return fmt::format("{}: tensor {}", tensor.file->path().string(), in_quotes(name));
}

std::string tensor_name(const Naming& naming, std::string_view prefix, int expert, const Projection& projection, const TensorRow& row) {
  return fmt::format("{}{}{}{}{}", prefix, naming.experts, naming.numbered ? fmt::format("{}.", expert) : "", projection.name, row.suffix);
}

const TensorRow* find_row(const SourceForm& form, std::string_view suffix) {
  const auto row = std::ranges::find(form.tensors, suffix, &TensorRow::suffix);
  return row == form.tensors.end() ? nullptr : &*row;
}

std::optional<LayerName> split_layer(std::string_view name, std::string_view before, std::string_view after, const std::string& place) {
  if (!name.starts_with(before)) return std::nullopt;
  std::string_view rest = name.substr(before.size());
  const std::string_view digits = take_digits(rest);
  if (digits.empty() || !rest.starts_with(after)) return std::nullopt;
  return LayerName{number_of(digits, "layer", place), rest.substr(after.size())};
}

FormChoice search_form(const CheckpointFiles& files, const CheckpointConfig& config, const std::string& where) {
  const std::vector<Hit> hits = find_hits(files);
  if (hits.empty()) {
    std::string examples;
    for (const Naming* const naming : all_namings()) {
      const SourceForm& form = *std::ranges::find_if(source_forms(), [&](const SourceForm& f) { return has_naming(f, *naming); });
      const std::string before(naming->before.empty() ? "model.layers." : naming->before);
      const std::string prefix = before + "0" + std::string(naming->after.empty() ? ".mlp" : naming->after);
      examples += (examples.empty() ? "" : ", ") + tensor_name(*naming, prefix, 0, naming->projections[0], form.tensors[0]);
    }
    fail(where, fmt::format("holds no MXFP4 experts, nor those of another known form: no tensor is named like one of {}", examples));
  }
  Forms forms = common_forms(hits, [](const Hit& hit) { return hit.forms; });
  if ((forms & (forms - 1)) != 0) forms = by_presence(hits, by_dtypes(hits, forms));
  const SourceForm& form = by_config(forms, config, where);
  check_place(hits);
  FormChoice choice{&form, hits.front().name.naming, {}};
  for (const Hit& hit : hits) choice.experts.push_back(hit.name);
  return choice;
}

}  // namespace mx::sim
