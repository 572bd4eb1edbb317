#include "sim/checkpoint/expert_tensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "model/error.hpp"
#include "sim/checkpoint/form_search.hpp"
#include "support/quote.hpp"

namespace mx::sim {
namespace {

using layout::Sizes;

constexpr std::int64_t kBlock = 128;

[[noreturn]] void fail(const std::string& where, const std::string& message) { throw Error(ErrorCode::input, message, where); }

std::string place_of_tensor(const FoundTensor& tensor) { return place_of(*tensor.at, tensor.name); }

/// Builds the layers of a chosen form, then checks them.
class Finder {
 public:
  Finder(const CheckpointFiles& files, const CheckpointConfig& config, const std::string& where)
      : files_(files), config_(config), where_(where), choice_(search_form(files, config, where)) {
    found_.form = choice_.form;
    found_.naming = choice_.naming;
  }

  FoundExperts run() {
    collect();
    collect_routers();
    check_presence();
    check_layer_numbers();
    check_sizes();
    check_config();
    return std::move(found_);
  }

 private:
  const SourceForm& form() const { return *found_.form; }
  const Naming& naming() const { return *found_.naming; }

  std::string prefix_of(int layer) const {
    const ExpertName& any = choice_.experts.front();
    return fmt::format("{}{}{}", any.before, layer, any.after);
  }

  void collect() {
    for (const ExpertName& name : choice_.experts) {
      FoundLayer& layer = found_.layers[name.layer];
      layer.prefix = prefix_of(name.layer);
      const TensorRow* const row = find_row(form(), name.suffix);
      (row->piece == Piece::aside ? layer.aside : layer.experts)
          .push_back({row, &naming().projections[name.projection], name.expert, name.name, name.at});
      experts_ = std::max(experts_, name.expert + 1);
    }
    for (auto& [index, layer] : found_.layers) {
      for (std::vector<FoundTensor>* tensors : {&layer.experts, &layer.aside})
        std::ranges::sort(*tensors, {}, [](const FoundTensor& t) { return std::tuple(t.expert, t.projection, t.row); });
    }
  }

  void collect_routers() {
    if (naming().router_weight.empty()) return;
    for (const auto& [name, tensor] : files_.tensors) {
      const std::optional<LayerName> split = split_layer(name, naming().before, naming().after, place_of(tensor, name));
      if (!split || (split->suffix != naming().router_weight && split->suffix != naming().router_bias)) continue;
      if (!tensor.indexed) fail(place_of(tensor, name), "is in this shard, but the index does not list it");
      FoundLayer& layer = found_.layers[split->layer];
      layer.prefix = prefix_of(split->layer);
      (split->suffix == naming().router_weight ? layer.router_weight : layer.router_bias) = &tensor;
    }
  }

  [[noreturn]] void missing(const std::string& name, std::string_view seen) const {
    fail(where_, fmt::format("tensor '{}' is missing{}", name, seen.empty() ? "" : fmt::format(", though there is {}", in_quotes(seen))));
  }

  /// What one layer has, every layer has; biases are there for all projections or for none, and so are routers.
  void check_presence() const {
    std::string_view bias, any;
    for (const auto& [index, layer] : found_.layers) {
      for (const FoundTensor& tensor : layer.experts) (tensor.row->piece == Piece::bias ? bias : any) = tensor.name;
    }
    for (const auto& [index, layer] : found_.layers) {
      auto next = layer.experts.begin();
      for (int expert = 0; expert < experts_; ++expert) {
        for (const Projection& projection : naming().projections) {
          for (const TensorRow& row : form().tensors) {
            if (row.piece == Piece::aside || (row.piece == Piece::bias && bias.empty())) continue;
            const bool is_it = next != layer.experts.end() && next->expert == expert && next->projection == &projection && next->row == &row;
            if (!is_it) missing(tensor_name(naming(), layer.prefix, expert, projection, row), row.piece == Piece::bias ? bias : any);
            ++next;
          }
        }
      }
      check_router(layer);
    }
  }

  void check_router(const FoundLayer& layer) const {
    const auto has_any = [](const auto& entry) { return entry.second.router_weight != nullptr || entry.second.router_bias != nullptr; };
    if (std::ranges::none_of(found_.layers, has_any)) return;
    if (layer.router_weight == nullptr) missing(layer.prefix + std::string(naming().router_weight), {});
    if (layer.router_bias == nullptr) missing(layer.prefix + std::string(naming().router_bias), {});
  }

  /// A layer whose tensors lie where those of experts would, without experts.
  bool is_dense(int layer) const {
    if (!naming().numbered) return false;
    return std::ranges::any_of(naming().projections, [&](const Projection& projection) {
      const std::string begin = fmt::format("{}.{}.", prefix_of(layer), projection.name);
      const auto at = files_.tensors.lower_bound(begin);
      return at != files_.tensors.end() && at->first.starts_with(begin);
    });
  }

  void check_layer_numbers() const {
    const int last = found_.layers.rbegin()->first;
    for (int layer = files_.whole ? 0 : found_.layers.begin()->first; layer <= last; ++layer) {
      if (found_.layers.contains(layer) || is_dense(layer)) continue;
      fail(where_, fmt::format("layer {} is missing: the weights hold layers up to {}", layer, last));
    }
    if (!files_.whole || !config_.layers) return;
    const std::int64_t more = config_.more_layers ? config_.more_layers->value : 0;
    int held = last + 1;
    while (is_dense(held)) ++held;
    if (held >= config_.layers->value && held <= config_.layers->value + more) return;
    fail(config_.path.string(),
         fmt::format("{} is {}, but the weights hold {} layers with experts", config_.layers->key, config_.layers->value, held));
  }

  const FoundTensor& first_weight(const FoundLayer& layer) const { return layer.experts.front(); }

  /// Sizes as the first weight of w13 has them.
  Sizes sizes_of(const FoundLayer& layer) const {
    const FoundTensor& weight = first_weight(layer);
    const std::string where = place_of_tensor(weight);
    const std::vector<std::int64_t>& shape = weight.at->view->shape;
    const std::span<const Extent> extents = weight.row->extents;
    Sizes sizes{experts_, 0, 0, std::max<std::int64_t>(layout::group_of(form().form.format), 1)};
    const bool positive = std::ranges::all_of(shape, [](std::int64_t extent) { return extent > 0; });
    bool fits = positive && shape.size() == extents.size();
    std::int64_t rows = 0;
    for (std::size_t axis = 0; fits && axis < extents.size(); ++axis) {
      switch (extents[axis]) {
        case Extent::experts: sizes.experts = shape[axis]; break;
        case Extent::rows: rows = shape[axis]; break;
        case Extent::columns: sizes.hidden = shape[axis]; break;
        case Extent::packed_columns: sizes.hidden = 2 * shape[axis]; break;
        case Extent::groups: sizes.hidden = sizes.group * shape[axis]; break;
        case Extent::bytes_of_group: fits = shape[axis] == sizes.group / 2; break;
        case Extent::blocks_of_rows:
        case Extent::blocks_of_columns: break;
      }
    }
    if (!fits) fail(where, fmt::format("shape is {}, expected {} with positive sizes", shape_text(shape), weight.row->formula));
    const int halves = weight.projection->halves;
    if (rows % (halves * sizes.group) != 0) {
      fail(where,
           fmt::format("shape is {}: {}I = {} is not a multiple of {}", shape_text(shape), halves == 2 ? "2" : "", rows, halves * sizes.group));
    }
    if (sizes.hidden % sizes.group != 0) {
      fail(where, fmt::format("shape is {}: H = {} is not a multiple of {}", shape_text(shape), sizes.hidden, sizes.group));
    }
    sizes.intermediate = rows / halves;
    return sizes;
  }

  static std::int64_t extent_of(Extent extent, const Projection& projection, const Sizes& sizes) {
    const std::int64_t rows = projection.w13 ? projection.halves * sizes.intermediate : sizes.hidden;
    const std::int64_t columns = projection.w13 ? sizes.hidden : sizes.intermediate;
    switch (extent) {
      case Extent::experts: return sizes.experts;
      case Extent::rows: return rows;
      case Extent::columns: return columns;
      case Extent::packed_columns: return columns / 2;
      case Extent::groups: return columns / sizes.group;
      case Extent::bytes_of_group: return sizes.group / 2;
      case Extent::blocks_of_rows: return (rows + kBlock - 1) / kBlock;
      case Extent::blocks_of_columns: return (columns + kBlock - 1) / kBlock;
    }
    return 0;
  }

  void check_shape(const FoundLayer& layer, std::string_view place, const LocatedTensor& at, const std::vector<std::int64_t>& expected,
                   std::string_view formula) const {
    if (at.view->shape == expected) return;
    const Sizes& sizes = layer.sizes;
    fail(std::string(place),
         fmt::format("shape is {}, expected {} = {} with E={}, I={}, H={} as {} has", shape_text(at.view->shape), shape_text(expected), formula,
                     sizes.experts, sizes.intermediate, sizes.hidden, in_quotes(first_weight(layer).name)));
  }

  void check_tensor(const FoundLayer& layer, const FoundTensor& tensor) {
    const TensorRow& row = *tensor.row;
    const TensorView& view = *tensor.at->view;
    const std::string place = place_of_tensor(tensor);
    if (std::ranges::find(row.dtypes, view.dtype->name) == row.dtypes.end()) {
      fail(place, fmt::format("dtype is {}, expected {}", view.dtype->name, fmt::join(row.dtypes, " or ")));
    }
    const auto [first, is_first] = dtypes_.emplace(&row, &tensor);
    if (view.dtype != first->second->at->view->dtype) {
      fail(place,
           fmt::format("dtype is {}, but that of {} is {}", view.dtype->name, in_quotes(first->second->name), first->second->at->view->dtype->name));
    }
    if (row.extents.empty()) {
      const bool one = view.shape.empty() || view.shape == std::vector<std::int64_t>{1};
      if (!one) fail(place, fmt::format("shape is {}, expected one number, [] or [1]", shape_text(view.shape)));
      return;
    }
    std::vector<std::int64_t> expected;
    for (const Extent extent : row.extents) expected.push_back(extent_of(extent, *tensor.projection, layer.sizes));
    check_shape(layer, place, *tensor.at, expected, tensor.projection->w13 ? row.formula : row.w2_formula);
  }

  void check_router_tensors(const FoundLayer& layer) const {
    if (layer.router_weight == nullptr) return;
    const auto check = [&](const LocatedTensor& at, std::string_view suffix, const std::vector<std::int64_t>& shape, std::string_view formula) {
      const std::string place = place_of(at, layer.prefix + std::string(suffix));
      if (at.view->dtype->name != "BF16") fail(place, fmt::format("dtype is {}, expected BF16", at.view->dtype->name));
      check_shape(layer, place, at, shape, formula);
    };
    check(*layer.router_weight, naming().router_weight, {layer.sizes.experts, layer.sizes.hidden}, "[E, H]");
    check(*layer.router_bias, naming().router_bias, {layer.sizes.experts}, "[E]");
  }

  void check_sizes() {
    const Sizes first = sizes_of(found_.layers.begin()->second);
    for (auto& [index, layer] : found_.layers) {
      const FoundTensor& weight = first_weight(layer);
      layer.sizes = sizes_of(layer);
      if (layer.sizes != first) {
        fail(place_of_tensor(weight),
             fmt::format("has E={}, I={}, H={}, but layer {} has E={}, I={}, H={}", layer.sizes.experts, layer.sizes.intermediate, layer.sizes.hidden,
                         found_.layers.begin()->first, first.experts, first.intermediate, first.hidden));
      }
      for (const FoundTensor& tensor : layer.experts) check_tensor(layer, tensor);
      check_router_tensors(layer);
    }
  }

  void check_config() const {
    const Sizes& sizes = found_.layers.begin()->second.sizes;
    const auto check = [&](const std::optional<ConfigSize>& size, std::int64_t actual) {
      if (size && size->value != actual) {
        fail(config_.path.string(), fmt::format("{} is {}, but the tensors have {}", size->key, size->value, actual));
      }
    };
    check(config_.experts, sizes.experts);
    check(config_.hidden, sizes.hidden);
    check(config_.expert_intermediate ? config_.expert_intermediate : config_.intermediate, sizes.intermediate);
    if (config_.top_k && config_.top_k->value > sizes.experts) {
      fail(config_.path.string(), fmt::format("{} is {}, but there are {} experts", config_.top_k->key, config_.top_k->value, sizes.experts));
    }
  }

  const CheckpointFiles& files_;
  const CheckpointConfig& config_;
  const std::string& where_;
  const FormChoice choice_;
  FoundExperts found_;
  std::map<const TensorRow*, const FoundTensor*> dtypes_;  ///< the first tensor of each row: all others have its dtype
  int experts_ = 0;
};

}  // namespace

bool FoundExperts::has(Piece piece) const {
  return std::ranges::any_of(layers.begin()->second.experts, [&](const FoundTensor& tensor) { return tensor.row->piece == piece; });
}

FoundExperts find_experts(const CheckpointFiles& files, const CheckpointConfig& config, const std::string& where) {
  return Finder(files, config, where).run();
}

}  // namespace mx::sim
