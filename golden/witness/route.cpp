// The operations `router_logits` and `route`: the parts that an entry states are the router; its model's row adds what they do not say.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "golden/witness/numbers.hpp"
#include "model/moe/routing.hpp"

namespace mx::golden {

namespace {

constexpr EnumWord<moe::Score> kScores[] = {{"sigmoid", moe::Score::sigmoid},
                                            {"sqrt_softplus", moe::Score::sqrt_softplus},
                                            {"softmax", moe::Score::softmax},
                                            {"softmax_selected", moe::Score::softmax_selected}};
constexpr EnumWord<moe::Choice> kChoices[] = {
    {"score", moe::Choice::score}, {"score_plus_bias", moe::Choice::score_plus_bias}, {"logit", moe::Choice::logit}};
constexpr EnumWord<moe::GroupScore> kGroupScores[] = {
    {"none", moe::GroupScore::none}, {"max", moe::GroupScore::max}, {"top2_sum", moe::GroupScore::top2_sum}};
constexpr EnumWord<moe::Renormalise> kRenormalises[] = {
    {"none", moe::Renormalise::none}, {"sum", moe::Renormalise::sum}, {"sum_plus_eps", moe::Renormalise::sum_plus_eps}};

enum class Order { descending, ids_ascending, dense };
constexpr EnumWord<Order> kOrders[] = {{"descending", Order::descending}, {"ids_ascending", Order::ids_ascending}, {"dense", Order::dense}};

struct RouteCase {
  std::int64_t tokens, experts;
  moe::RouterRecipe recipe;
  moe::RouterSizes sizes;
  Order order;
};

// The row of the implementation, else the row of no one in particular.
const moe::RouterRecipe& row_of_model(const std::string& model, const std::string& implementation) {
  const moe::RouterRecipe* found = nullptr;
  for (const moe::RouterRecipe& row : moe::all_routers()) {
    if (row.model != model) continue;
    if (row.implementation == implementation) return row;
    if (row.implementation.empty()) found = &row;
  }
  if (found == nullptr) throw Unmodelled(fmt::format("unknown router model '{}'", model));
  return *found;
}

RouteCase read_route(Fields& params, const Entry& entry) {
  const moe::RouterRecipe& row = row_of_model(params.text("model"), entry.profile.implementation);
  RouteCase read{params.integer("T", 1, kLargestExtent), params.integer("E", 1, kLargestExtent), row, {}, {}};
  moe::RouterRecipe& recipe = read.recipe;
  recipe.score = row_named(kScores, "score", params.text("score")).value;
  recipe.choice = row_named(kChoices, "select", params.text("select")).value;
  recipe.group_score = row_named(kGroupScores, "group_score", params.text("group_score")).value;
  recipe.renormalise = row_named(kRenormalises, "renormalise", params.text("renormalise")).value;
  const bool says_the_same = recipe.score == row.score && recipe.choice == row.choice && recipe.group_score == row.group_score;
  if (!says_the_same) throw Unmodelled(fmt::format("the parameters state another router than model '{}' is", row.model));
  constexpr int kF32Digits = 8;
  const bool adds_eps = recipe.renormalise == moe::Renormalise::sum_plus_eps;
  if (adds_eps && !params.has("eps")) throw Unmodelled("renormalise sum_plus_eps without eps");
  // Known words that do not apply are read and change nothing.
  const auto eps = params.has("eps") ? static_cast<std::uint32_t>(params.hex("eps", kF32Digits)) : 0U;
  recipe.eps = adds_eps ? eps : 0U;
  read.sizes.top_k = params.integer("top_k", 1, kLargestExtent);
  const bool in_groups = recipe.group_score != moe::GroupScore::none;
  const auto extent = [&](std::string_view key) { return in_groups || params.has(key) ? params.integer(key, 1, kLargestExtent) : 0; };
  const std::int64_t groups = extent("groups");
  const std::int64_t topk_groups = extent("topk_groups");
  if (in_groups) {
    read.sizes.groups = groups;
    read.sizes.topk_groups = topk_groups;
  }
  read.sizes.factor = real_parameter(params, "factor");
  read.order = row_named(kOrders, "order", params.text("order")).value;
  return read;
}

// Logits of all tokens, from the entry's own or from x and the router's weights.
template <class A>
std::vector<std::vector<typename A::Number>> logits_of(const OpContext& context, const A& arithmetic, std::int64_t tokens, std::int64_t experts,
                                                       std::int64_t hidden) {
  const std::string& where = context.entry.where;
  const auto rows = static_cast<std::size_t>(tokens);
  const auto columns = static_cast<std::size_t>(experts);
  std::vector<std::vector<typename A::Number>> logits(rows);
  if (context.entry.inputs.contains("logits")) {
    const std::vector<Value> given = values_of(input_of(context, "logits", {tokens, experts}), "logits", where);
    for (std::size_t i = 0; i < given.size(); ++i) logits[i / columns].push_back(A::from(given[i]));
    return logits;
  }
  const auto width = static_cast<std::size_t>(hidden);
  const std::vector<Value> x = values_of(input_of(context, "x", {tokens, hidden}), "x", where);
  const moe::Router router = read_router(context, experts, hidden);
  for (std::size_t token = 0; token < rows; ++token) {
    logits[token] = moe::router_logits(arithmetic, std::span(x).subspan(token * width, width), router);
  }
  return logits;
}

// Slots of one token in the entry's order, as rows of the outputs.
struct RouteRows {
  std::vector<std::int64_t> ids;
  std::vector<Value> weights;
  std::vector<Value> dense;
};

template <class A>
void append(RouteRows& rows, std::vector<moe::SlotOf<typename A::Number>> slots, const RouteCase& route) {
  if (route.order == Order::ids_ascending) std::sort(slots.begin(), slots.end(), [](const auto& a, const auto& b) { return a.expert < b.expert; });
  std::vector<Value> dense(static_cast<std::size_t>(route.experts));
  for (const auto& slot : slots) {
    rows.ids.push_back(slot.expert);
    rows.weights.push_back(A::value(slot.weight));
    dense[static_cast<std::size_t>(slot.expert)] = rows.weights.back();
  }
  rows.dense.insert(rows.dense.end(), dense.begin(), dense.end());
}

template <class A>
RouteRows route_in(const OpContext& context, const A& arithmetic, const RouteCase& route, std::int64_t hidden) {
  std::vector<typename A::Number> bias;
  if (context.entry.inputs.contains("bias")) {
    for (const Value& value : values_of(input_of(context, "bias", {route.experts}), "bias", context.entry.where)) bias.push_back(A::from(value));
  }
  RouteRows rows;
  for (const auto& logits : logits_of(context, arithmetic, route.tokens, route.experts, hidden)) {
    append<A>(rows, moe::route_logits<A>(route.recipe, route.sizes, logits, bias), route);
  }
  return rows;
}

ModelOutputs outputs_of(const OpContext& context, const RouteCase& route, const RouteRows& rows) {
  const auto token = [](std::int64_t columns) { return [columns](std::int64_t i) { return fmt::format("token {}", i / columns); }; };
  ModelOutputs outputs;
  if (route.order == Order::dense) {
    outputs.emplace("scores", real_output(context, "scores", {route.tokens, route.experts}, rows.dense, token(route.experts)));
    return outputs;
  }
  const std::vector<std::int64_t> shape{route.tokens, route.sizes.top_k};
  Tensor ids{&dtype_named("i32"), shape, std::vector<std::uint8_t>(rows.ids.size() * 4)};
  for (std::size_t i = 0; i < rows.ids.size(); ++i) ids.set_word(static_cast<std::int64_t>(i), static_cast<std::uint32_t>(rows.ids[i]));
  outputs.emplace("ids", ModelOutput{std::move(ids), nullptr, false, token(route.sizes.top_k)});
  outputs.emplace("weights", real_output(context, "weights", shape, rows.weights, token(route.sizes.top_k)));
  return outputs;
}

void require_outputs(const OpContext& context, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (!context.entry.outputs.contains(std::string(name))) broken("no output '" + std::string(name) + "'", context.entry.where);
  }
}

}  // namespace

moe::Router read_router(const OpContext& context, std::int64_t experts, std::int64_t hidden) {
  const std::string& where = context.entry.where;
  moe::Router router{experts, hidden, values_of(input_of(context, "router_w", {experts, hidden}), "router_w", where), {}};
  if (!context.entry.inputs.contains("router_b")) return router;
  for (const Value& value : values_of(input_of(context, "router_b", {experts}), "router_b", where)) router.bias.push_back(to_f32(value));
  return router;
}

ModelOutputs evaluate_router_logits(const OpContext& context) {
  require_inputs_among(context, {"x", "router_w", "router_b"});
  Fields params = params_of(context.entry);
  const std::int64_t tokens = params.integer("T", 1, kLargestExtent);
  const std::int64_t experts = params.integer("E", 1, kLargestExtent);
  const std::int64_t hidden = params.integer("H", 1, kLargestExtent);
  const std::string compute = params.text("compute");
  const std::string out_format = params.text("out_format");
  params.finish();
  require_outputs(context, {"logits"});
  if (context.entry.outputs.at("logits").dtype->word != out_format) broken("'logits' is not " + out_format, context.entry.where);
  std::vector<Value> values;
  in_arithmetic(compute, Contract::f32_sequential, [&](const auto& arithmetic) {
    for (const auto& row : logits_of(context, arithmetic, tokens, experts, hidden)) {
      for (const auto& logit : row) values.push_back(arithmetic.value(logit));
    }
  });
  ModelOutputs outputs;
  const auto origin = [experts](std::int64_t i) { return fmt::format("token {}, expert {}", i / experts, i % experts); };
  outputs.emplace("logits", real_output(context, "logits", {tokens, experts}, values, origin));
  return outputs;
}

ModelOutputs evaluate_route(const OpContext& context) {
  require_inputs_among(context, {"x", "router_w", "router_b", "bias", "logits"});
  Fields params = params_of(context.entry);
  const RouteCase route = read_route(params, context.entry);
  const std::string compute = params.text("compute");
  const bool from_x = !context.entry.inputs.contains("logits");
  const std::int64_t hidden = from_x || params.has("H") ? params.integer("H", 1, kLargestExtent) : 0;
  params.finish();
  if (route.order == Order::dense) {
    require_outputs(context, {"scores"});
  } else {
    require_outputs(context, {"ids", "weights"});
  }
  RouteRows rows;
  in_arithmetic(compute, Contract::f32_sequential, [&](const auto& arithmetic) { rows = route_in(context, arithmetic, route, hidden); });
  return outputs_of(context, route, rows);
}

}  // namespace mx::golden
