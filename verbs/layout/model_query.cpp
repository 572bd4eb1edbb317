#include "verbs/layout/model_query.hpp"

#include <string>
#include <utility>

#include "checkpoint/served_model.hpp"
#include "model/families/setting_keys.hpp"
#include "model/names.hpp"
#include "verbs/layout/deployment_choice.hpp"
#include "verbs/select/asked.hpp"

namespace mx::verbs {
namespace {

AskedFor asked_for(const LayoutQuery& query) {
  constexpr int kMostRanks = 4096;
  AskedFor asked{.engine = value_of(query, "engine"), .platform = value_of(query, "platform")};
  if (asked.engine.empty()) asked.engine = deployment::name_of(deployment::kDefaultEngine);
  if (const std::string tp = value_of(query, "tp"); !tp.empty()) asked.tp = static_cast<int>(families::whole_number("tp", tp, 1, kMostRanks));
  for (const KeyValue& field : query.fields) {
    const std::size_t equals = field.value.find('=');
    if (same_name(field.key, "env") && equals != std::string::npos) asked.env[field.value.substr(0, equals)] = field.value.substr(equals + 1);
  }
  return asked;
}

}  // namespace

LayoutQuery of_model(LayoutQuery query) {
  if (query.name.empty() || !checkpoint::is_model(query.name)) return query;
  const Asked asked = asked_about(query.name, asked_for(query));
  const AskedKind& kind = asked.kinds.front();
  LayoutQuery made{chosen_backend(kind), {{"tensor", "w13_weight"}}};
  for (KeyValue& choice : choices_on(kind.file, made.name)) made.fields.push_back(std::move(choice));
  for (KeyValue& field : query.fields) made.fields.push_back(std::move(field));
  return made;
}

}  // namespace mx::verbs
