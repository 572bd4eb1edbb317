#include "verbs/layout/model_query.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "checkpoint/served_model.hpp"
#include "model/error.hpp"
#include "model/families/setting_keys.hpp"
#include "model/names.hpp"
#include "verbs/layout/deployment_choice.hpp"
#include "verbs/select/asked.hpp"

namespace mx::verbs {
namespace {

/// What is a model's alone. Its sizes on a rank stand for these and for tp afterwards.
constexpr std::array<std::string_view, 5> kOfModel{"dp", "ep", "all2all", "moe-backend", "layer"};

bool is_of_model(std::string_view key) {
  return std::ranges::any_of(kOfModel, [&](std::string_view one) { return same_name(one, key); });
}

std::optional<int> size_of(const LayoutQuery& query, std::string_view key, int low) {
  constexpr int kMost = 4096;
  const std::string value = value_of(query, key);
  return value.empty() ? std::nullopt : std::optional(static_cast<int>(families::whole_number(key, value, low, kMost)));
}

bool flag_of(const LayoutQuery& query, std::string_view key) {
  const std::string value = value_of(query, key);
  if (!value.empty() && value != "yes" && value != "no") throw Error(ErrorCode::usage, fmt::format("{} is '{}', must be yes or no", key, value));
  return value == "yes";
}

AskedFor asked_for(const LayoutQuery& query) {
  AskedFor asked{.engine = value_of(query, "engine"),
                 .platform = value_of(query, "platform"),
                 .tp = size_of(query, "tp", 1),
                 .dp = size_of(query, "dp", 1),
                 .expert_parallel = flag_of(query, "ep"),
                 .all2all = value_of(query, "all2all"),
                 .moe_backend = value_of(query, "moe-backend")};
  if (asked.engine.empty()) asked.engine = deployment::name_of(deployment::kDefaultEngine);
  for (const KeyValue& field : query.fields) {
    const std::size_t equals = field.value.find('=');
    if (same_name(field.key, "env") && equals != std::string::npos) asked.env[field.value.substr(0, equals)] = field.value.substr(equals + 1);
  }
  return asked;
}

bool is_read(const std::string& model, const AskedFor& asked) {
  try {
    asked_about(model, asked);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// A model that is read on one rank and not on those that were typed: it is their number that is wrong, and no file.
Asked asked_on_ranks(const std::string& model, const AskedFor& asked) {
  try {
    return asked_about(model, asked);
  } catch (const Error& error) {
    AskedFor alone = asked;
    alone.tp = alone.dp = 1;
    if (error.code() != ErrorCode::input || (!asked.tp && !asked.dp) || !is_read(model, alone)) throw;
    alone.dp = asked.dp;
    const bool is_tp = asked.tp && is_read(model, alone);
    const std::string text = error.what(), place = error.where() + ": ";
    throw Error(ErrorCode::usage, text.starts_with(place) ? text.substr(place.size()) : text,
                fmt::format("--{} {}", is_tp ? "tp" : "dp", is_tp ? *asked.tp : asked.dp.value_or(1)));
  }
}

}  // namespace

LayoutQuery of_model(LayoutQuery query) {
  if (query.name.empty() || !checkpoint::is_model(query.name)) {
    const auto field = std::ranges::find_if(query.fields, [](const KeyValue& one) { return is_of_model(one.key); });
    if (field == query.fields.end()) return query;
    throw Error(ErrorCode::usage, fmt::format("{} is for a model's directory or configuration, not for a backend or a building block", field->key),
                query.name);
  }
  const Asked asked = asked_on_ranks(query.name, asked_for(query));
  const AskedKind& kind = kind_of(asked, size_of(query, "layer", 0));
  LayoutQuery made{chosen_backend(kind), {{"tensor", "w13_weight"}}};
  for (KeyValue& choice : choices_on(kind.file, made.name)) made.fields.push_back(std::move(choice));
  for (KeyValue& field : query.fields) {
    if (!is_of_model(field.key) && !same_name(field.key, "tp")) made.fields.push_back(std::move(field));
  }
  return made;
}

}  // namespace mx::verbs
