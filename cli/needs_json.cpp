#include "cli/needs_json.hpp"

#include <fmt/core.h>

#include <string>
#include <vector>

#include "model/audit/needs.hpp"
#include "model/engine/vllm/tables.hpp"

namespace mx::cli {

void add_need(Json& json, const oracle::KernelNeed& need) {
  json["of"] = oracle::name_of(need.of);
  json["statement"] = need.statement;
  json["effect"] = oracle::name_of(need.effect);
  json["consequence"] = need.consequence;
  json["grounds"] = oracle::name_of(need.grounds);
  json["source"] = need.source;
  json["reference"] = need.reference;
  json["until"] = need.versions.until ? Json(name_of(*need.versions.until)) : Json();
}

Json needs_json(Engine engine, std::span<const std::string_view> oracles) {
  Json json = json_head("needs");
  json["engine"] = name_of(engine);
  json["oracles"] = Json::array();
  for (const std::string_view name : oracles) {
    Json rows = Json::array();
    for (const oracle::BackendRow& backend : oracle::tables_of(engine, name).backends) {
      for (const std::string_view kernel_class : backend.classes) {
        Json needs = Json::array();
        for (const oracle::KernelNeed* need : oracle::needs_of(engine, name, backend.name, kernel_class)) {
          if (oracle::is_around(*need)) continue;
          needs.push_back({{"id", need->id}});
          add_need(needs.back(), *need);
        }
        rows.push_back({{"backend", backend.name}, {"kernel_class", kernel_class}, {"needs", std::move(needs)}});
      }
    }
    json["oracles"].push_back({{"oracle", name}, {"rows", std::move(rows)}});
  }
  return json;
}

void print_needs(const Json& json) {
  std::vector<std::vector<std::string>> rows{{"oracle", "backend", "class", "constraint", "of", "if broken", "grounds", "what must hold"}};
  for (const Json& oracle : json["oracles"]) {
    for (const Json& row : oracle["rows"]) {
      for (const Json& need : row["needs"]) {
        rows.push_back({oracle["oracle"].text(), row["backend"].text(), row["kernel_class"].text(), need["id"].text(), need["of"].text(),
                        need["effect"].text(), need["grounds"].text(), need["statement"].text()});
      }
    }
  }
  print_table(rows);
}

}  // namespace mx::cli
