#pragma once
// Runs mxact.

#include <filesystem>
#include <string>

#include "support/json.hpp"
#include "tests/cli/run.hpp"
#include "tests/json_schema.hpp"
#include "tests/json_text.hpp"

namespace mx::tests {

/// `arguments` is a shell fragment; paths in it must be quoted by the caller.
inline Run run_mxact(const std::string& arguments, const std::string& input = "/dev/null") { return run_program(MXACT_PROGRAM, arguments, input); }

/// A path as one word of the shell.
inline std::string quoted(const std::filesystem::path& path) { return "'" + path.string() + "'"; }
/// The committed checkpoint, as such a word.
inline std::string tiny() { return quoted(std::filesystem::path(MXACT_SOURCE_DIR) / "golden/witness/checkpoints/tiny-gpt-oss"); }

/// What is wrong with a document that a verb printed, by docs/schema/mxact.json; empty when nothing is.
inline std::string schema_problem(const support::Json& document) {
  static const support::Json schema = parsed_file(MXACT_SOURCE_DIR "/docs/schema/mxact.json");
  return JsonSchema(schema).problem(document);
}

/// stdout as JSON, which follows its schema; the run must have ended with `status`, which the document says, and said nothing on stderr.
inline support::Json run_json(const std::string& arguments, int status = 0) {
  const Run run = run_mxact(arguments + " --json");
  INFO(arguments << "\n" << run.out << run.err);
  REQUIRE(run.status == status);
  REQUIRE(run.err.empty());
  support::Json document = parsed(run.out);
  CHECK(schema_problem(document) == "");
  CHECK(document["exit_code"] == status);
  return document;
}

}  // namespace mx::tests
