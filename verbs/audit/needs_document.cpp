#include "model/audit/needs.hpp"
#include "model/engine/vllm/tables.hpp"
#include "verbs/audit/audit_document.hpp"

namespace mx::verbs {

void add_need(Json& json, const families::KernelNeed& need) {
  json["of"] = families::name_of(need.of);
  json["statement"] = need.statement;
  json["effect"] = families::name_of(need.effect);
  json["consequence"] = need.consequence;
  json["grounds"] = name_of(need.grounds);
  json["source"] = need.source;
  json["reference"] = need.reference;
  json["until"] = need.versions.until ? Json(deployment::name_of(*need.versions.until)) : Json();
}

void note_release(Document& document, const AskedEngine& asked, std::span<const std::string_view> oracles) {
  EngineNotes notes(document, asked);
  for (const std::string_view oracle : oracles) notes.about(oracle);
  notes.libraries();
}

Document needs_document(const AskedEngine& asked, std::span<const std::string_view> oracles) {
  const deployment::Engine engine = asked.engine;
  Document document{"needs", std::string(deployment::name_of(engine))};
  Table lines{{},
              {in_text("oracle"), in_text("backend"), in_text("class"), in_text("constraint"), in_text("of"), in_text("if broken"),
               in_text("grounds"), in_text("what must hold")}};
  Json all = Json::array();
  for (const std::string_view name : oracles) {
    Json rows = Json::array();
    for (const engine::BackendRow& backend : engine::tables_of(engine, name).backends) {
      for (const std::string_view kernel_class : backend.classes) {
        Json needs = Json::array();
        for (const families::KernelNeed* need : audit::needs_of(engine, name, backend.name, kernel_class)) {
          if (audit::is_around(*need)) continue;
          needs.push_back({{"id", need->id}});
          add_need(needs.back(), *need);
          const Json& said = needs.back();
          lines.add({name, backend.name, kernel_class, need->id, said["of"], said["effect"], said["grounds"], need->statement});
        }
        rows.push_back({{"backend", backend.name}, {"kernel_class", kernel_class}, {"needs", std::move(needs)}});
      }
    }
    all.push_back({{"oracle", name}, {"rows", std::move(rows)}});
  }
  document.value("oracles", std::move(all));
  document.table(std::move(lines));
  note_release(document, asked, oracles);
  return document;
}

}  // namespace mx::verbs
