#include "verbs/document/document.hpp"

namespace mx::verbs {
namespace {

/// The array of remarks; null without any.
Json notes_of(const Document& document) {
  Json notes;
  for (const Entry& entry : document.entries) {
    if (const auto* note = std::get_if<Note>(&entry)) notes.push_back(note->text);
  }
  return notes;
}

}  // namespace

std::string default_text(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.text();
  if (value.is_boolean()) return value.flag() ? "yes" : "no";
  if (!value.is_array()) return value.dump(-1, Json::BadText::replaced);
  std::string text;
  for (const Json& one : value) text += (text.empty() ? "" : ", ") + default_text(one);
  return text;
}

Cell Cell::none() {
  Cell cell(Json(), "");
  cell.in_json = false;
  return cell;
}

Column in_json(std::string key) { return {std::move(key), {}, false}; }
Column in_text(std::string head) { return {{}, std::move(head)}; }

Json Table::json() const {
  Json array = Json::array();
  for (const std::vector<Cell>& row : rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row[i].in_json && !columns.at(i).key.empty()) object[columns[i].key] = row[i].value;
    }
    array.push_back(std::move(object));
  }
  return array;
}

Json Table::json_by_name() const {
  Json named = Json::object();
  Json array = json();
  for (Json& row : array) {
    const std::string name = row[columns.front().key].text();
    row.erase(columns.front().key);
    named[name] = std::move(row);
  }
  return named;
}

std::vector<std::vector<std::string>> Table::text() const {
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : columns) {
    if (column.in_text) lines[0].push_back(column.head);
  }
  for (const std::vector<Cell>& row : rows) {
    lines.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (columns.at(i).in_text) lines.back().push_back(row[i].shown());
    }
  }
  return lines;
}

Table text_alone(Table table) {
  table.key.clear();
  return table;
}

void Document::field(std::string label, std::string key, Json json) {
  std::string text = default_text(json);
  field(std::move(label), std::move(key), std::move(json), std::move(text));
}

void Document::field(std::string label, std::string key, Json json, std::string text) {
  entries.push_back(Field{std::move(label), std::move(key), std::move(json), std::move(text)});
}

void Document::ended(int code) {
  constexpr int kRefused = 4;
  constexpr int kMistrusted = 5;
  exit_code = code;
  verdict = code == 0 ? "PASSED" : code == kRefused ? "REFUSED" : code == kMistrusted ? "MISTRUSTED" : "FAILED";
}

Json body_json(const Document& document) {
  Json json = Json::object();
  if (!document.engine.empty()) json["engine"] = document.engine;
  for (const Entry& entry : document.entries) {
    if (const auto* member = std::get_if<Member>(&entry)) json[member->key] = member->value;
    if (const auto* field = std::get_if<Field>(&entry); field != nullptr && !field->key.empty()) json[field->key] = field->value;
    if (const auto* table = std::get_if<Table>(&entry); table != nullptr && !table->key.empty()) json[table->key] = table->json();
  }
  if (Json notes = notes_of(document); !notes.is_null()) json["notes"] = std::move(notes);
  if (!document.verdict.empty()) json["verdict"] = document.verdict;
  json["exit_code"] = document.exit_code;
  return json;
}

Json to_json(const Document& document, const Head& head) {
  Json json;
  json["schema"] = "mxact-" + document.verb + "/" + std::to_string(document.version);
  json["mxact"] = {{"version", head.version},     {"commit", head.commit},   {"command", head.command},
                   {"processor", head.processor}, {"started", head.started}, {"seconds", head.seconds}};
  json.update(body_json(document));
  return json;
}

}  // namespace mx::verbs
