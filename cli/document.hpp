#pragma once
// A verb's document on its way out: which renderings were asked for, and where they go.

#include <string>

#include "cli/verb.hpp"
#include "verbs/document/document.hpp"

namespace mx::cli {

struct DocumentOptions {
  bool json = false;
  std::string junit;           ///< file; empty: none
  std::string markdown;        ///< likewise
  std::string picture;         ///< likewise
  bool picture_alone = false;  ///< a picture stands for the text
  bool force = false;
};

/// Adds --json.
Option add_json_option(Verb verb, DocumentOptions& options, const std::string& meaning = "machine-readable output");
/// Adds --json, which is returned, --junit, --markdown and --force: of a verb that checks something.
Option add_check_options(Verb verb, DocumentOptions& options);
/// Adds -o FILE.svg, and --force unless add_check_options has.
Option add_picture_option(Verb verb, DocumentOptions& options, const std::string& meaning, bool alone = true);

/// To be called before the work begins. Throws Error(usage) where the picture's name does not end in .svg, and what support::require_writable throws.
void require_outputs(const DocumentOptions& options);

/// Prints the document as text unless that is not wanted, for the terminal's width where there is one, or as JSON, then writes the files that were
/// asked for. Returns its exit code. Throws as support::write_file and verbs::picture_of do.
int show(const verbs::Document& document, const DocumentOptions& options, bool text = true);

}  // namespace mx::cli
