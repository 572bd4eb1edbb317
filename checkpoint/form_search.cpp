#include "checkpoint/form_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "checkpoint/agreement.hpp"
#include "checkpoint/expert_names.hpp"
#include "checkpoint/form_sets.hpp"
#include "checkpoint/layer_activation.hpp"
#include "model/error.hpp"
#include "support/quote.hpp"

namespace mx::checkpoint {
namespace {

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

/// An expert tensor with the forms that have its name.
struct Hit {
  ExpertName name;
  Forms forms;
};
using Layers = std::map<LayerPlace, std::vector<Hit>>;

LayerPlace place_of(const ExpertName& name) { return {name.before, name.layer, name.after}; }

/// The quantizer that is declared, where no form has it: "quantization_config.quant_method is 'awq'"; else empty.
std::string foreign_method(const CheckpointConfig& config) {
  const std::string& method = config.quantization.method();
  if (method.empty()) return {};
  const auto has_it = [&](const ConfigFact& fact) { return fact.key == "method" && agrees(fact, method); };
  const bool known = std::ranges::any_of(source_forms(), [&](const SourceForm& form) { return std::ranges::any_of(form.facts, has_it); });
  return known ? std::string() : config.quantization.method_text();
}

/// What stands before an expert in a tensor's name: "model.layers.1.mlp.experts".
std::string experts_of(const ExpertName& name) {
  const std::string_view word = name.naming->experts;
  return std::string(name.name.substr(0, name.name.rfind(word) + word.size() - (word.ends_with('.') ? 1 : 0)));
}

/// The number stands behind the projection: "experts.down_proj.0.weight", which no engine reads.
bool has_number_behind(const ExpertName& name) {
  const std::size_t begin = name.name.rfind(name.naming->experts) + name.naming->experts.size();
  const std::string_view rest = name.name.substr(std::min(begin, name.name.size()));
  const std::size_t dot = rest.find('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view number = rest.substr(dot + 1, rest.find('.', dot + 1) - dot - 1);
  return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos && number.size() < rest.size() - dot - 1;
}

/// A tensor among the experts that no form has. Where the layer has others, only their forms' names would do.
[[noreturn]] void refuse_unknown(const ExpertName& name, const Layers& layers, const CheckpointConfig& config) {
  if (const std::string method = foreign_method(config); !method.empty())
    fail(place_of(*name.at, name.name), fmt::format("is a tensor of experts in no known form: {}, a quantizer that no form here is of", method));
  if (has_number_behind(name))
    fail(place_of(*name.at, name.name),
         "has the expert's number behind its projection, experts.PROJECTION.NUMBER: the engine reads experts.NUMBER.PROJECTION");
  Forms forms = forms_that([&](const SourceForm& form) { return has_naming(form, *name.naming); });
  if (const auto layer = layers.find(place_of(name)); layer != layers.end()) {
    std::map<std::string_view, Forms> by_name;
    for (const Hit& hit : layer->second) by_name[hit.name.name] |= hit.forms;
    Forms others = ~Forms{0};
    for (const auto& [tensor, of_name] : by_name) others &= of_name;
    if (others != 0) forms = others;
  }
  const ModuleMethod method = config.quantization.method_of({.name = experts_of(name)});
  forms = allowed_by(method, forms);
  constexpr std::size_t kMost = 6;
  std::set<std::string> names;
  for (std::size_t i = 0; i < source_forms().size() && names.size() < kMost; ++i) {
    if ((forms >> i & 1U) == 0) continue;
    const SourceForm& form = source_forms()[i];
    const Naming& naming = has_naming(form, *name.naming) ? *name.naming : form.namings.front();
    for (const TensorRow& row : form.tensors) {
      for (const std::string_view suffix : row.suffixes) names.insert(std::string(naming.projections[0].name) + std::string(suffix));
    }
  }
  fail(place_of(*name.at, name.name),
       fmt::format("is no expert tensor of the form {}, whose experts have tensors such as {}{}", titles_of(forms), fmt::join(names, ", "),
                   method.method.empty() ? "" : fmt::format("; the engine's method is {} ({})", method.method, method.entry)));
}

/// Names that look like those of experts, where none was understood.
std::string names_like_experts(const CheckpointFiles& files) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> shown;
  std::size_t count = 0;
  for (const auto& [name, tensor] : files.tensors) {
    if (name.find("expert") == std::string_view::npos && name.find("moe") == std::string_view::npos) continue;
    if (++count <= kShown) shown.push_back(support::in_quotes(name));
  }
  if (count == 0) return "no tensor's name has 'expert' or 'moe' in it";
  return fmt::format("{} named like experts, in no known way: {}{}", count == 1 ? "1 tensor is" : fmt::format("{} tensors are", count),
                     fmt::join(shown, ", "), count > kShown ? ", .." : "");
}

Layers find_hits(const CheckpointFiles& files, const CheckpointConfig& config, const std::string& where) {
  const std::vector<const Naming*> namings = all_namings();
  Layers layers;
  std::vector<ExpertName> unknown;
  for (const auto& [name, tensor] : files.tensors) {
    std::optional<ExpertName> foreign;
    bool found = false;
    for (const Naming* const naming : namings) {
      const std::optional<Reading> reading = read_name(*naming, name, tensor);
      if (!reading) continue;
      const Forms forms = !reading->known ? 0 : forms_that([&](const SourceForm& form) {
        return has_naming(form, *naming) && find_row(form, reading->name.suffix) != nullptr;
      });
      if (forms == 0) {
        if (!foreign) foreign = reading->name;
        continue;
      }
      layers[place_of(reading->name)].push_back({reading->name, forms});
      found = true;
    }
    if (!found && foreign) unknown.push_back(*foreign);
    if (found && !tensor.indexed) fail(place_of(tensor, name), "is in this shard, but the index does not list it");
  }
  if (layers.empty() && unknown.empty()) fail(where, "holds no experts of a known form: " + names_like_experts(files));
  if (!unknown.empty()) refuse_unknown(unknown.front(), layers, config);
  return layers;
}

/// Forms that all hits have in common by `forms_of`. Where there is none, the fewer of the two kinds are called the wrong ones; `say` names one.
template <class FormsOf, class Say>
Forms common_forms(const std::vector<Hit>& hits, const ModuleMethod& method, FormsOf forms_of, Say say) {
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
    const Hit& named = first == hits.end() ? hit : *first;
    fail(place_of(*named.name.at, named.name.name),
         fmt::format("{} in the form {}, but other tensors of the layer are in the form {}: they are not mixed", say(named),
                     titles_of(allowed_by(method, wrong)), titles_of(allowed_by(method, these ? common : forms))));
  }
  return common;
}

std::string_view dtype_of(const Hit& hit) { return hit.name.at->view->dtype->name; }

Forms with_dtype(const Hit& hit, Forms among) {
  return among & forms_that([&](const SourceForm& form) {
           const TensorRow* const row = find_row(form, hit.name.suffix);
           return row != nullptr && std::ranges::find(row->dtypes, dtype_of(hit)) != row->dtypes.end();
         });
}

/// "dtype is BF16, expected U8 in ModelOpt NVFP4 or Quark MXFP4, F8_E4M3 in FP8 block"
[[noreturn]] void refuse_dtype(const Hit& hit, Forms among, const ModuleMethod& method) {
  among = allowed_by(method, among);
  std::map<std::string, Forms> known;
  for (std::size_t i = 0; i < source_forms().size(); ++i) {
    const TensorRow* const row = find_row(source_forms()[i], hit.name.suffix);
    if ((among >> i & 1U) != 0 && row != nullptr) known[fmt::format("{}", fmt::join(row->dtypes, " or "))] |= Forms{1} << i;
  }
  std::string text;
  for (const auto& [dtypes, forms] : known) text += fmt::format("{}{} in {}", text.empty() ? "" : ", ", dtypes, titles_of(forms));
  fail(place_of(*hit.name.at, hit.name.name), fmt::format("dtype is {}, expected {}", dtype_of(hit), text));
}

/// Of forms that share their names, those that the dtypes fit.
Forms by_dtypes(const std::vector<Hit>& hits, Forms among, const ModuleMethod& method) {
  for (const Hit& hit : hits) {
    if (with_dtype(hit, among) == 0) refuse_dtype(hit, among, method);
  }
  return common_forms(
      hits, method, [&](const Hit& hit) { return with_dtype(hit, among); },
      [](const Hit& hit) { return fmt::format("dtype is {}, as", dtype_of(hit)); });
}

bool has_all(const SourceForm& form, const std::vector<Hit>& hits) {
  return std::ranges::all_of(form.tensors, [&](const TensorRow& row) {
    const auto is_it = [&](const Hit& hit) { return std::ranges::find(row.suffixes, hit.name.suffix) != row.suffixes.end(); };
    return row.piece == Piece::aside || row.piece == Piece::bias || std::ranges::any_of(hits, is_it);
  });
}

/// Of several forms, those whose tensors are all there.
Forms by_presence(const std::vector<Hit>& hits, Forms among) {
  const Forms whole = among & forms_that([&](const SourceForm& form) { return has_all(form, hits); });
  return whole != 0 ? whole : among;
}

/// Whether a tensor's shape is one that the form gives it beside its projection's weight.
bool has_shape(const SourceForm& form, const Hit& hit, const MatrixSizes& sizes) {
  const TensorRow& row = *find_row(form, hit.name.suffix);
  const support::TensorView& view = *hit.name.at->view;
  if (row.shapes.empty()) return is_number(view, hit.name.naming->numbered ? 1 : sizes.experts);
  const std::vector<std::int64_t> groups =
      !form.converts() ? std::vector<std::int64_t>{32, 64, 128, 16, sizes.columns} : std::vector<std::int64_t>{group_of(form)};
  return std::ranges::any_of(row.shapes, [&](const ShapeRow& shape) {
    return std::ranges::any_of(groups, [&](std::int64_t group) { return view.shape == shape_of(shape, sizes, view.dtype->bits, group); });
  });
}

/// Of forms that dtypes leave, those that fit the shapes of the first expert's tensors; all of them where none does.
Forms by_shapes(const std::vector<Hit>& hits, Forms among) {
  std::vector<const Hit*> first;
  for (const Hit& hit : hits) {
    if (hit.name.expert == hits.front().name.expert) first.push_back(&hit);
  }
  const Forms fitting = among & forms_that([&](const SourceForm& form) {
                          return std::ranges::all_of(first, [&](const Hit* hit) {
                            const TensorRow* const row = find_row(form, hit->name.suffix);
                            const auto weight = std::ranges::find_if(first, [&](const Hit* other) {
                              const TensorRow* const of = find_row(form, other->name.suffix);
                              return other->name.projection == hit->name.projection && of != nullptr && of->piece == Piece::weight;
                            });
                            if (row == nullptr || weight == first.end()) return false;
                            const std::optional<MatrixSizes> sizes =
                                matrix_of(*find_row(form, (*weight)->name.suffix), *(*weight)->name.at->view, group_of(form));
                            return sizes && has_shape(form, *hit, *sizes);
                          });
                        });
  return fitting != 0 ? fitting : among;
}

/// Of forms with the same numbers: the first that lacks no scales of activations, else the first.
const SourceForm& first_with_companions(Forms among, const std::vector<Hit>& hits) {
  const Forms complete =
      among & forms_that([&](const SourceForm& form) {
        return std::ranges::all_of(form.tensors, [&](const TensorRow& row) {
          const auto is_it = [&](const Hit& hit) { return std::ranges::find(row.suffixes, hit.name.suffix) != row.suffixes.end(); };
          return row.companion == Companion::optional || std::ranges::any_of(hits, is_it);
        });
      });
  return first_of(complete != 0 ? complete : among);
}

const SourceForm& by_config(const std::vector<Hit>& hits, Forms among, const ModuleMethod& declared, const CheckpointConfig& config,
                            const std::string& where) {
  Forms left = best_declared(among & forms_that([&](const SourceForm& form) { return contradiction(form, declared).empty(); }), declared);
  // Where nothing is declared, what is converted goes first.
  const Forms converted = left & forms_that([](const SourceForm& form) { return form.converts(); });
  if (declared.facts.empty() && converted != 0) left = converted;
  if (left == 0) {
    const SourceForm& nearest = nearest_of(among, declared);
    const auto method = std::ranges::find(nearest.facts, "method", &ConfigFact::key);
    fail(config.path.string(), fmt::format("{}{}; names, dtypes and shapes of {} are those of {}", contradiction(nearest, declared),
                                           method == nearest.facts.end() ? "" : config.quantization.hook_text(method->values),
                                           support::in_quotes(hits.front().name.name), titles_of(among)));
  }
  if (is_one(left)) return first_of(left);
  const bool whole = std::ranges::all_of(
      source_forms(), [&](const SourceForm& form) { return (left >> (&form - source_forms().data()) & 1U) == 0 || has_all(form, hits); });
  if (whole && are_alike(left)) return first_with_companions(left, hits);
  fail(where, fmt::format("the tensors may be {}: quantization_config in config.json would tell", titles_of(left)));
}

/// The tensors of one layer are named in one way. Names of one projection may be those of several ways: the first that has all names counts.
void check_naming(std::vector<Hit>& hits) {
  std::vector<std::string_view> names;
  for (const Hit& hit : hits) {
    if (names.empty() || names.back() != hit.name.name) names.push_back(hit.name.name);
  }
  for (const Naming* const naming : all_namings()) {
    const auto is_other = [&](const Hit& hit) { return hit.name.naming->title != naming->title; };
    if (hits.size() - static_cast<std::size_t>(std::ranges::count_if(hits, is_other)) != names.size()) continue;
    std::erase_if(hits, is_other);
    return;
  }
  const auto repeats = std::ranges::unique(hits, {}, [](const Hit& hit) { return hit.name.name; });
  hits.erase(repeats.begin(), repeats.end());
  const ExpertName& first = hits.front().name;
  for (const Hit& hit : hits) {
    if (hit.name.naming->title == first.naming->title) continue;
    fail(place_of(*hit.name.at, hit.name.name),
         fmt::format("is named by {}, but {} by {}", hit.name.naming->title, support::in_quotes(first.name), first.naming->title));
  }
}

/// The name under which configurations speak of a layer's experts, and those of the projections that there are.
ExpertsModule module_of(const std::vector<Hit>& hits) {
  const ExpertName& first = hits.front().name;
  ExpertsModule module{.name = experts_of(first)};
  const std::span<const Projection> all = first.naming->projections;
  if (!first.naming->numbered || std::ranges::any_of(all, [](const Projection& one) { return one.halves != 1; })) return module;
  module.projections.clear();
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (std::ranges::any_of(hits, [&](const Hit& hit) { return hit.name.projection == p; })) module.projections.emplace_back(all[p].name);
  }
  return module;
}

/// A pair of halves of which no expert has one.
bool lacks_half(const Naming& naming, const std::vector<Hit>& hits) {
  for (std::size_t p = 0; p < naming.projections.size(); ++p) {
    const Projection& projection = naming.projections[p];
    if (!projection.w13 || projection.halves != 1) continue;
    if (std::ranges::none_of(hits, [&](const Hit& hit) { return hit.name.projection == p; })) return true;
  }
  const auto is_half = [](const Projection& projection) { return projection.w13 && projection.halves == 1; };
  return std::ranges::count_if(naming.projections, is_half) == 1;
}

/// The tensors that hold matrices.
std::vector<ExpertName> weights_of(const std::vector<Hit>& hits) {
  std::vector<ExpertName> weights;
  for (const Hit& hit : hits) {
    const Forms holding = hit.forms & forms_that([&](const SourceForm& form) {
                            const TensorRow* const row = find_row(form, hit.name.suffix);
                            return row != nullptr && row->piece == Piece::weight;
                          });
    if (holding != 0) weights.push_back(hit.name);
  }
  return weights;
}

LayerForm form_of(std::vector<Hit>& hits, const CheckpointConfig& config, const std::string& where) {
  check_naming(hits);
  const ExpertsModule module = module_of(hits);
  const ModuleMethod method = config.quantization.method_of(module);
  check_one_kind(weights_of(hits), module, method, config.quantization.says());
  Forms forms = common_forms(
      hits, method, [](const Hit& hit) { return hit.forms; }, [](const Hit&) { return std::string("is named"); });
  if (!is_one(forms)) forms = by_presence(hits, by_dtypes(hits, forms, method));
  if (!is_one(forms)) forms = by_shapes(hits, forms);
  Disagreement disagreement;
  if (config.quantization.says()) disagreement = disagreement_of(weights_of(hits), module, method, config.quantization.engine());
  const SourceForm& form = disagreement.place.empty() ? by_config(hits, forms, method, config, where) : first_of(best_declared(forms, method));
  const Naming& naming = *hits.front().name.naming;
  LayerForm layer{&form, &naming, !lacks_half(naming, hits) || !may_lack_gate(config), method.left ? method.entry : "", std::move(disagreement), {}};
  for (const Hit& hit : hits) layer.experts.push_back(hit.name);
  return layer;
}

}  // namespace

std::string place_of(const LocatedTensor& tensor, std::string_view name) {
  return fmt::format("{}: tensor {}", tensor.file->path().string(), support::in_quotes(name));
}

std::string tensor_name(const Naming& naming, std::string_view prefix, int expert, const Projection& projection, std::string_view suffix) {
  return fmt::format("{}{}{}{}{}", prefix, naming.experts, naming.numbered ? fmt::format("{}.", expert) : "", projection.name, suffix);
}

std::map<LayerPlace, LayerForm> search_forms(const CheckpointFiles& files, const CheckpointConfig& config, const std::string& where) {
  Layers layers = find_hits(files, config, where);
  std::map<LayerPlace, LayerForm> forms;
  for (auto& [place, hits] : layers) forms.emplace(place, form_of(hits, config, where));
  return forms;
}

}  // namespace mx::checkpoint
