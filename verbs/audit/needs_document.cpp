#include "model/audit/needs.hpp"
#include "model/engine/vllm/tables.hpp"
#include "verbs/audit/audit_document.hpp"

namespace mx::verbs {

void add_need(Json& json, const oracle::KernelNeed& need) {
  json["of"] = oracle::name_of(need.of);
  json["statement"] = need.statement;
  json["effect"] = oracle::name_of(need.effect);
  json["consequence"] = need.consequence;
  json["grounds"] = name_of(need.grounds);
  json["source"] = need.source;
  json["reference"] = need.reference;
  json["until"] = need.versions.until ? Json(name_of(*need.versions.until)) : Json();
}

void note_release(Document& document, const sim::AskedEngine& asked, std::span<const std::string_view> oracles) {
  sim::EngineNotes notes(document, asked);
  for (const std::string_view oracle : oracles) notes.about(oracle);
  notes.libraries();
}

Document needs_document(const sim::AskedEngine& asked, std::span<const std::string_view> oracles) {
  const Engine engine = asked.engine;
  Document document{"needs", std::string(name_of(engine))};
  Table lines{{},
              {in_text("oracle"), in_text("backend"), in_text("class"), in_text("constraint"), in_text("of"), in_text("if broken"),
               in_text("grounds"), in_text("what must hold")}};
  Json all = Json::array();
  for (const std::string_view name : oracles) {
    Json rows = Json::array();
    for (const oracle::BackendRow& backend : oracle::tables_of(engine, name).backends) {
      for (const std::string_view kernel_class : backend.classes) {
        Json needs = Json::array();
        for (const oracle::KernelNeed* need : oracle::needs_of(engine, name, backend.name, kernel_class)) {
          if (oracle::is_around(*need)) continue;
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
