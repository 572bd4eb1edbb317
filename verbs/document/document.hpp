#pragma once
// What a verb says, once: a value that text, JSON, JUnit's XML and Markdown are renderings of. A verb builds it from what it worked out and knows
// nothing of the command line.

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/deployment/version.hpp"
#include "support/json.hpp"
#include "support/junit.hpp"

namespace mx::verbs {

using support::Json;

/// What people read of a value that has no text of its own: a string as it is, a number in digits, yes or no, "-" for null, an array with commas.
std::string default_text(const Json& value);

/// One thing that a table says of one row.
struct Cell {
  Json value;
  std::optional<std::string> text = {};  ///< what people read, where it is not default_text
  bool in_json = true;                   ///< false: this row has no such member

  template <typename T>
    requires std::constructible_from<Json, T>
  Cell(T&& plain) : value(std::forward<T>(plain)) {}
  Cell(Json of, std::string shown) : value(std::move(of)), text(std::move(shown)) {}
  /// Neither in JSON nor in text.
  static Cell none();

  std::string shown() const { return text ? *text : default_text(value); }
};

/// A column of a table: a member of every row's object, and a column of what people read.
struct Column {
  std::string key;   ///< empty: it stands in text alone
  std::string head;  ///< of the text's column
  bool in_text = true;
};
/// A member that stands in JSON alone.
Column in_json(std::string key);
/// A column that stands in text alone.
Column in_text(std::string head);

/// Rows of equal things: in JSON an array of objects, in text a table.
struct Table {
  std::string key;  ///< of the array; empty: it stands in text alone
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows = {};

  void add(std::vector<Cell> row) { rows.push_back(std::move(row)); }
  Json json() const;
  /// An object of them, each under what its first column says.
  Json json_by_name() const;
  /// The columns that people read, the heads first.
  std::vector<std::vector<std::string>> text() const;
};

/// The same table for text alone, where its JSON stands somewhere else.
Table text_alone(Table table);

/// What stands in JSON alone.
struct Member {
  std::string key;
  Json value;
};
/// A sentence that is composed of values which stand in JSON too; it stands in text alone.
struct Line {
  std::string text;  ///< without the end of the line; several lines have it between them
};
/// One fact, in both: "layers  36". The labels of neighbours are padded to the widest. Without a key it stands in text alone.
struct Field {
  std::string label;
  std::string key;
  Json value;
  std::string text;
};
/// A remark about the whole, in both: in JSON among "notes".
struct Note {
  std::string text;
};
using Entry = std::variant<Member, Line, Field, Table, Note>;

/// What a verb says.
struct Document {
  std::string verb;         ///< of the schema "mxact-VERB/VERSION": "layout-where"
  std::string engine = {};  ///< asked version, "vllm@2026-05"; empty: the verb asks none
  int version = 1;          ///< of the schema
  std::vector<Entry> entries = {};
  std::string verdict = {};  ///< "PASSED", ...; empty: nothing was checked by design
  int exit_code = 0;
  std::vector<support::JunitCase> cases = {};

  void value(std::string key, Json json) { entries.push_back(Member{std::move(key), std::move(json)}); }
  void line(std::string text = {}) { entries.push_back(Line{std::move(text)}); }
  void field(std::string label, std::string key, Json json);
  void field(std::string label, std::string key, Json json, std::string text);
  void table(Table rows) { entries.push_back(std::move(rows)); }
  /// The file that the checks are about, for those that name none.
  void about(const std::string& file) {
    for (support::JunitCase& one : cases) one.file = one.file.empty() ? file : one.file;
  }
  void note(std::string text) { entries.push_back(Note{std::move(text)}); }
  /// Of a verb that checks something: its exit code, and the verdict that this stands for. 0 PASSED, 1 FAILED, 4 REFUSED, 5 MISTRUSTED.
  void ended(int code);
};

/// Who said it, and when.
struct Head {
  std::string version;  ///< of the program
  std::string commit;
  std::string command;    ///< as a shell takes it
  std::string processor;  ///< as the system calls it
  std::string started;    ///< UTC: "2026-08-01T12:00:00Z"
  double seconds = 0;
};

/// What the document says, as one object: "engine" where there is one, the entries, "notes" and "verdict" where there are such, "exit_code".
Json body_json(const Document& document);

/// "schema", "mxact" with the head, then the body.
Json to_json(const Document& document, const Head& head);

/// Text for people. `width` is that of the terminal: the last column of a table that does not fit is wrapped; 0: no terminal, no limit.
std::string to_text(const Document& document, std::size_t width = 0);

/// JUnit's XML: the cases, and one more for the run as a whole where its exit status is not 0, so that it is never green.
std::string to_junit(const Document& document, const Head& head);

/// GitHub's Markdown: the verdict, the cases counted and those that did not pass, then what the text says, its tables as tables.
std::string to_markdown(const Document& document, const Head& head);

/// Columns padded to their widest entry, two spaces apart; the first row is the head. `width` as of to_text.
std::string table_text(const std::vector<std::vector<std::string>>& rows, std::size_t width = 0);

}  // namespace mx::verbs
