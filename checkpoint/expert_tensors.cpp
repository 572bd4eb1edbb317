#include "checkpoint/expert_tensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <tuple>

#include "checkpoint/form_search.hpp"
#include "model/error.hpp"
#include "support/quote.hpp"

namespace mx::checkpoint {
namespace {

using layout::Sizes;

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

std::string place_of_tensor(const FoundTensor& tensor) { return place_of(*tensor.at, tensor.name); }

/// Builds the layers of one layer group, then checks them.
class GroupFinder {
 public:
  GroupFinder(FoundGroup& layer_group, const std::string& where) : layer_group_(layer_group), where_(where) {}

  void add(int layer, const std::string& prefix, const LayerForm& found) {
    FoundLayer& of = layer_group_.layers[layer];
    of.prefix = prefix;
    for (const ExpertName& name : found.experts) {
      const TensorRow* const row = find_row(*layer_group_.form, name.suffix);
      const auto [known, is_new] = layer_group_.suffixes.emplace(row, name.suffix);
      if (known->second != name.suffix)
        fail(place_of(*name.at, name.name), fmt::format("ends with {}, but others of its kind with {}", name.suffix, known->second));
      (row->piece == Piece::aside ? of.aside : of.experts)
          .push_back({row, &layer_group_.naming->projections[name.projection], name.expert, name.name, name.at});
    }
    for (std::vector<FoundTensor>* tensors : {&of.experts, &of.aside})
      std::ranges::sort(*tensors, {}, [](const FoundTensor& t) { return std::tuple(t.expert, t.projection, t.row); });
    if (!of.experts.empty()) experts_ = std::max(experts_, of.experts.back().expert + 1);
  }

  void check() {
    check_presence();
    check_sizes();
  }

 private:
  const SourceForm& form() const { return *layer_group_.form; }
  const Naming& naming() const { return *layer_group_.naming; }

  [[noreturn]] void missing(const std::string& name, std::string_view seen) const {
    fail(where_, fmt::format("tensor '{}' is missing{}", name, seen.empty() ? "" : fmt::format(", though there is {}", support::in_quotes(seen))));
  }

  /// What one layer has, every layer has; biases are there for all projections or for none, and so are routers.
  void check_presence() const {
    std::string_view bias, any;
    for (const auto& [index, layer] : layer_group_.layers) {
      for (const FoundTensor& tensor : layer.experts) (tensor.row->piece == Piece::bias ? bias : any) = tensor.name;
    }
    if (experts_ == 0) check_alone();
    for (const auto& [index, layer] : layer_group_.layers) {
      auto next = layer.experts.begin();
      for (int expert = 0; expert < experts_; ++expert) {
        for (const Projection* const projection : layer_group_.projections()) {
          for (const TensorRow& row : form().tensors) {
            if (row.piece == Piece::aside || (row.piece == Piece::bias && bias.empty())) continue;
            const bool is_it = next != layer.experts.end() && next->expert == expert && next->projection == projection && next->row == &row;
            if (!is_it) missing(layer_group_.name_of(layer.prefix, expert, *projection, row), row.piece == Piece::bias ? bias : any);
            ++next;
          }
        }
      }
      check_router(layer);
    }
  }

  /// Layers of nothing but what is not converted, such as a scale of activations, have no experts.
  [[noreturn]] void check_alone() const {
    const FoundLayer& layer = layer_group_.layers.begin()->second;
    const auto weight = std::ranges::find(form().tensors, Piece::weight, &TensorRow::piece);
    missing(layer_group_.name_of(layer.prefix, layer.aside.front().expert, *layer.aside.front().projection, *weight), layer.aside.front().name);
  }

  void check_router(const FoundLayer& layer) const {
    const auto has_any = [](const auto& entry) { return entry.second.router_weight != nullptr || entry.second.router_bias != nullptr; };
    if (std::ranges::none_of(layer_group_.layers, has_any)) return;
    if (layer.router_weight == nullptr) missing(layer.prefix + std::string(naming().router_weight), {});
    if (layer.router_bias == nullptr) missing(layer.prefix + std::string(naming().router_bias), {});
  }

  const FoundTensor& first_weight(const FoundLayer& layer) const { return layer.experts.front(); }

  /// Elements of one scale along K; of int4, which has no one size of them, as the first scales have it.
  std::int64_t group_in(const FoundLayer& layer, std::int64_t columns) const {
    if (form().converts()) return group_of(form());
    const auto scale = std::ranges::find_if(layer.experts, [](const FoundTensor& tensor) { return tensor.row->piece == Piece::scale; });
    if (scale == layer.experts.end() || scale->at->view->shape.size() != 2) return 1;
    const std::int64_t scales = scale->at->view->shape[1];
    return scales > 0 && columns % scales == 0 ? columns / scales : 1;
  }

  /// Sizes as the first weight of w13 has them.
  Sizes sizes_of(const FoundLayer& layer) const {
    const FoundTensor& weight = first_weight(layer);
    const std::string where = place_of_tensor(weight);
    const std::vector<std::int64_t>& shape = weight.at->view->shape;
    const std::optional<MatrixSizes> matrix = matrix_of(*weight.row, *weight.at->view, group_of(form()));
    if (!matrix) fail(where, fmt::format("shape is {}, expected {} with positive sizes", support::shape_text(shape), weight.row->shapes.front().formula));
    Sizes sizes{naming().numbered ? experts_ : matrix->experts, 0, matrix->columns, group_in(layer, matrix->columns)};
    const int halves = weight.projection->halves;
    const std::int64_t multiple = form().converts() ? halves * sizes.group : halves;
    if (matrix->rows % multiple != 0) {
      fail(where, fmt::format("shape is {}: {}I = {} is not a multiple of {}", support::shape_text(shape), halves == 2 ? "2" : "", matrix->rows, multiple));
    }
    if (sizes.hidden % sizes.group != 0) {
      fail(where, fmt::format("shape is {}: H = {} is not a multiple of {}", support::shape_text(shape), sizes.hidden, sizes.group));
    }
    sizes.intermediate = matrix->rows / halves;
    if (halves == 2) check_squares(sizes.intermediate, where);
    return sizes;
  }

  /// Of gate and up in one tensor: no scale of a square belongs to both.
  void check_squares(std::int64_t intermediate, const std::string& where) const {
    constexpr std::int64_t kSquare = 128;
    const bool has_squares = std::ranges::any_of(form().tensors, [](const TensorRow& row) { return in_squares(row); });
    if (intermediate % kSquare == 0 || !has_squares) return;
    fail(where, fmt::format("I = {} is not a multiple of {}: a square of its scales would lie in gate and in up", intermediate, kSquare));
  }

  static MatrixSizes matrix_of_projection(const Projection& projection, const Sizes& sizes) {
    return {sizes.experts, projection.w13 ? projection.halves * sizes.intermediate : sizes.hidden,
            projection.w13 ? sizes.hidden : sizes.intermediate};
  }

  [[noreturn]] void refuse_shape(const FoundLayer& layer, const std::string& place, const LocatedTensor& at,
                                 const std::vector<std::int64_t>& expected, std::string_view formula) const {
    const Sizes& sizes = layer.sizes;
    fail(place, fmt::format("shape is {}, expected {} = {} with E={}, I={}, H={} as {} has", support::shape_text(at.view->shape), support::shape_text(expected),
                            formula, sizes.experts, sizes.intermediate, sizes.hidden, support::in_quotes(first_weight(layer).name)));
  }

  void check_tensor(const FoundLayer& layer, const FoundTensor& tensor) {
    const TensorRow& row = *tensor.row;
    const support::TensorView& view = *tensor.at->view;
    const std::string place = place_of_tensor(tensor);
    if (std::ranges::find(row.dtypes, view.dtype->name) == row.dtypes.end()) {
      fail(place, fmt::format("dtype is {}, expected {}", view.dtype->name, fmt::join(row.dtypes, " or ")));
    }
    const auto [first, is_first] = firsts_.emplace(&row, &tensor);
    const support::TensorView& like = *first->second->at->view;
    if (view.dtype != like.dtype) {
      fail(place, fmt::format("dtype is {}, but that of {} is {}", view.dtype->name, support::in_quotes(first->second->name), like.dtype->name));
    }
    if (row.shapes.empty()) {
      if (is_number(view, naming().numbered ? 1 : layer.sizes.experts)) return;
      fail(place, fmt::format("shape is {}, expected one number, [], [1] or [1, 1]", support::shape_text(view.shape)));
    }
    const MatrixSizes sizes = matrix_of_projection(*tensor.projection, layer.sizes);
    const ShapeRow* wanted = &row.shapes.front();
    for (const ShapeRow& shape : row.shapes) {
      if (shape.extents.size() == view.shape.size()) wanted = &shape;
      if (view.shape == shape_of(shape, sizes, view.dtype->bits, layer.sizes.group)) return;
    }
    refuse_shape(layer, place, *tensor.at, shape_of(*wanted, sizes, view.dtype->bits, layer.sizes.group), formula_of(*wanted, *tensor.projection));
  }

  /// Of gate and up of an expert in one, in the place of those of one half.
  std::string formula_of(const ShapeRow& row, const Projection& projection) const {
    std::string formula(projection.w13 ? row.formula : row.w2_formula);
    if (naming().numbered && projection.halves == 2) formula.replace(1, 1, "2I");
    return formula;
  }

  void check_router_tensors(const FoundLayer& layer) const {
    if (layer.router_weight == nullptr || naming().router_weight.empty()) return;
    const auto check = [&](const LocatedTensor& at, std::string_view suffix, const std::vector<std::int64_t>& shape, std::string_view formula) {
      const std::string place = place_of(at, layer.prefix + std::string(suffix));
      if (at.view->dtype->name != "BF16") fail(place, fmt::format("dtype is {}, expected BF16", at.view->dtype->name));
      if (at.view->shape != shape) refuse_shape(layer, place, at, shape, formula);
    };
    check(*layer.router_weight, naming().router_weight, {layer.sizes.experts, layer.sizes.hidden}, "[E, H]");
    check(*layer.router_bias, naming().router_bias, {layer.sizes.experts}, "[E]");
  }

  void check_sizes() {
    const Sizes first = sizes_of(layer_group_.layers.begin()->second);
    for (auto& [index, layer] : layer_group_.layers) {
      const FoundTensor& weight = first_weight(layer);
      layer.sizes = sizes_of(layer);
      if (layer.sizes != first) {
        fail(place_of_tensor(weight),
             fmt::format("has E={}, I={}, H={}, but layer {} has E={}, I={}, H={}", layer.sizes.experts, layer.sizes.intermediate, layer.sizes.hidden,
                         layer_group_.layers.begin()->first, first.experts, first.intermediate, first.hidden));
      }
      for (const FoundTensor& tensor : layer.experts) check_tensor(layer, tensor);
      check_router_tensors(layer);
    }
  }

  FoundGroup& layer_group_;
  const std::string& where_;
  std::map<const TensorRow*, const FoundTensor*> firsts_;  ///< the first tensor of each row: all others have its dtype
  int experts_ = 0;
};

/// The numbers of the layers that lie under `before`, with experts or without.
std::set<int> numbers_under(const CheckpointFiles& files, std::string_view before) {
  std::set<int> numbers;
  for (auto at = files.tensors.lower_bound(before); at != files.tensors.end() && at->first.starts_with(before); ++at) {
    const std::string_view rest = at->first.substr(before.size());
    int number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error == std::errc{} && end != rest.data() + rest.size() && *end == '.' && number >= 0) numbers.insert(number);
  }
  return numbers;
}

/// Everything that is asked of the layers together.
class LayerNumbers {
 public:
  LayerNumbers(const CheckpointFiles& files, const CheckpointConfig& config, const std::string& where, std::string_view before)
      : files_(files), config_(config), where_(where), held_(numbers_under(files, before)) {}

  /// The first layer that is none of the hidden ones. What a model has are so many layers, from whatever number on.
  int first_further() const {
    if (!config_.layers || static_cast<std::int64_t>(held_.size()) <= config_.layers->value) return INT32_MAX;
    return static_cast<int>(config_.layers->value);
  }

  void check() const {
    const auto count = static_cast<std::int64_t>(held_.size());
    if (files_.whole && config_.layers && count == config_.layers->value) return;
    const int last = *held_.rbegin();
    for (int layer = files_.whole ? 0 : *held_.begin(); layer <= last; ++layer) {
      if (!held_.contains(layer)) fail(where_, fmt::format("layer {} is missing: the weights hold layers up to {}", layer, last));
    }
    if (!files_.whole || !config_.layers) return;
    const std::int64_t more = config_.more_layers ? config_.more_layers->value : 0;
    if (count >= config_.layers->value && count <= config_.layers->value + more) return;
    fail(config_.path.string(), fmt::format("{} is {}, but the weights hold {} layers", config_.layers->key, config_.layers->value, count));
  }

 private:
  const CheckpointFiles& files_;
  const CheckpointConfig& config_;
  const std::string& where_;
  std::set<int> held_;
};

/// What the configuration says of the model's sizes.
void check_config(const CheckpointConfig& config, const Sizes& sizes) {
  const auto check = [&](const std::optional<ConfigSize>& size, std::int64_t actual) {
    if (size && size->value != actual) fail(config.path.string(), fmt::format("{} is {}, but the tensors have {}", size->key, size->value, actual));
  };
  check(config.experts, sizes.experts);
  check(config.expert_hidden ? config.expert_hidden : config.hidden, sizes.hidden);
  check(config.expert_intermediate ? config.expert_intermediate : config.intermediate, sizes.intermediate);
  if (config.top_k && config.top_k->value > sizes.experts) {
    fail(config.path.string(), fmt::format("{} is {}, but there are {} experts", config.top_k->key, config.top_k->value, sizes.experts));
  }
}

/// A block for predicting further tokens under a prefix of its own: "mtp.layers.", "model.mtp.". Source: vllm models/qwen3_next_mtp.py, mimo_mtp.py.
bool is_of_further_tokens(std::string_view before) { return before.starts_with("mtp") || before.find(".mtp") != std::string_view::npos; }

/// Those that are of the form itself; others may lack a bias, and are looked for by the table of routers.
void find_routers(const CheckpointFiles& files, FoundGroup& layer_group) {
  if (layer_group.form->form.order != layout::SourceOrder::gpt_oss) return;
  const Naming& naming = *layer_group.naming;
  for (auto& entry : layer_group.layers) {
    FoundLayer& layer = entry.second;
    const auto find = [&](std::string_view suffix) -> const LocatedTensor* {
      if (suffix.empty()) return nullptr;
      const std::string name = layer.prefix + std::string(suffix);
      const auto found = files.tensors.find(name);
      if (found == files.tensors.end()) return nullptr;
      if (!found->second.indexed) fail(place_of(found->second, name), "is in this shard, but the index does not list it");
      return &found->second;
    };
    layer.router_weight = find(naming.router_weight);
    layer.router_bias = find(naming.router_bias);
  }
}

}  // namespace

bool FoundGroup::has(Piece piece) const {
  return std::ranges::any_of(layers.begin()->second.experts, [&](const FoundTensor& tensor) { return tensor.row->piece == piece; });
}

std::vector<const Projection*> FoundGroup::projections() const {
  std::vector<const Projection*> there;
  const std::vector<FoundTensor>& experts = layers.begin()->second.experts;
  for (const Projection& projection : naming->projections) {
    const bool is_half = projection.w13 && projection.halves == 1;
    if (gated || !is_half || std::ranges::find(experts, &projection, &FoundTensor::projection) != experts.end()) there.push_back(&projection);
  }
  return there;
}

std::string FoundGroup::name_of(std::string_view prefix, int expert, const Projection& projection, const TensorRow& row) const {
  const auto suffix = suffixes.find(&row);
  return tensor_name(*naming, prefix, expert, projection, suffix == suffixes.end() ? row.suffixes.front() : suffix->second);
}

std::vector<FoundGroup> find_layer_groups(const CheckpointFiles& files, const CheckpointConfig& config, const std::string& where) {
  const std::map<LayerPlace, LayerForm> forms = search_forms(files, config, where);
  std::map<std::string_view, int> further;
  for (const auto& [place, form] : forms) {
    if (further.contains(place.before)) continue;
    further[place.before] = LayerNumbers(files, config, where, place.before).first_further();
  }
  using Key = std::tuple<std::string, const SourceForm*, const Naming*, bool, bool, bool>;
  std::map<Key, FoundGroup> layer_groups;
  std::map<Key, GroupFinder> finders;
  for (const auto& [place, form] : forms) {
    const bool beyond = place.layer >= further.at(place.before) || is_of_further_tokens(place.before);
    const Key key{fmt::format("{}N{}", place.before, place.after), form.form, form.naming, form.gated, beyond, !form.disagreement.text.empty()};
    FoundGroup& layer_group =
        layer_groups.try_emplace(key, FoundGroup{form.form, form.naming, form.gated, beyond, form.left, form.disagreement, std::get<0>(key), {}, {}}).first->second;
    finders.try_emplace(key, layer_group, where).first->second.add(place.layer, fmt::format("{}{}{}", place.before, place.layer, place.after), form);
  }
  std::vector<const Key*> order;
  for (const auto& [key, layer_group] : layer_groups) order.push_back(&key);
  const auto rank_of = [&](const Key* key) {
    const FoundGroup& layer_group = layer_groups.at(*key);
    return std::tuple(!layer_group.disagreement.text.empty(), !layer_group.form->converts(), layer_group.further, -static_cast<std::int64_t>(layer_group.layers.size()), layer_group.layers.begin()->first,
                      layer_group.place.size());
  };
  std::ranges::stable_sort(order, {}, rank_of);
  std::vector<FoundGroup> found;
  for (const Key* const key : order) {
    find_routers(files, layer_groups.at(*key));
    finders.at(*key).check();
  }
  const LayerPlace& main = std::ranges::find_if(forms, [&](const auto& entry) {
                             return fmt::format("{}N{}", entry.first.before, entry.first.after) == layer_groups.at(*order.front()).place;
                           })->first;
  LayerNumbers(files, config, where, main.before).check();
  if (layer_groups.at(*order.front()).form->converts()) check_config(config, layer_groups.at(*order.front()).layers.begin()->second.sizes);
  for (const Key* const key : order) found.push_back(std::move(layer_groups.at(*key)));
  return found;
}

void require_agreement(std::span<const FoundGroup> groups, std::optional<int> asked) {
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const Disagreement& disagreement = groups[group].disagreement;
    const bool is_asked = asked == static_cast<int>(group);
    if (disagreement.text.empty() || (is_asked ? disagreement.loads : groups[group].further)) continue;
    throw Error(ErrorCode::input, disagreement.text, disagreement.place);
  }
}

}  // namespace mx::checkpoint
