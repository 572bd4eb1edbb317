// mxact formats: every number format, block format, profile and arithmetic contract that the model has; or one profile with all its rows, one
// contract with all its fields, the words of rules, or what is declared of P3109.

#include <memory>
#include <optional>
#include <string>

#include "build_info.hpp"
#include "cli/document.hpp"
#include "cli/verbs.hpp"
#include "support/contract_file.hpp"
#include "verbs/numbers/formats_document.hpp"
#include "verbs/numbers/p3109_document.hpp"

namespace mx::cli {
namespace {

struct Options {
  std::optional<std::string> profile;
  std::optional<std::string> format;
  std::optional<std::string> contract;
  std::optional<std::string> p3109;
  bool rules = false;
  DocumentOptions out;
};

/// One profile, one format, one contract, or all of everything.
int formats(const Options& options) {
  require_outputs(options.out);
  if (options.p3109) return show(verbs::p3109_document(*options.p3109, MXACT_VERSION), options.out);
  if (options.rules) return show(verbs::rules_document(), options.out);
  if (options.profile) return show(verbs::profile_document(*options.profile), options.out);
  if (options.contract) return show(verbs::contract_document(support::contract_word(*options.contract)), options.out);
  return show(options.format ? verbs::codes_document(*options.format) : verbs::formats_document(), options.out);
}

}  // namespace

void add_formats(Verb app, Action& action) {
  const Verb verb = app.add_verb("formats", "every number format, block format, profile and contract; or one of them");
  const auto options = std::make_shared<Options>();
  const Option profile =
      verb.add_option("--profile", options->profile, "show the conversions, recipes and dequantizers of this profile: a name, or rules");
  const Option format = verb.add_option("--format", options->format, "show every code of this format, of up to 8 bits: a name, or what it is");
  format.excludes(profile);
  verb.add_option("--contract", options->contract, "show the fields of this contract, a name, a record or @FILE, its text and its evidence")
      .excludes(profile)
      .excludes(format);
  verb.add_flag("--rules", options->rules, "show the words of which a format, its rules and a profile may be written")
      .excludes(profile)
      .excludes(format);
  verb.add_option("--p3109", options->p3109,
                  "declare conformance to IEEE P3109 for formats with commas, binary8p4se,binary4p2sf; or show a specialization, \"Add<...>\"")
      .excludes(profile)
      .excludes(format);
  add_picture_option(verb, options->out, "writes a picture, FILE.svg, instead: all narrow formats on a number line, or one format's codes")
      .excludes(profile);
  verb.add_flag("--force", options->out.force, "overwrite the file");
  add_json_option(verb, options->out);
  verb.callback([&action, options] { action = [options] { return formats(*options); }; });
}

}  // namespace mx::cli
