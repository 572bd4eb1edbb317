// mxact convert and mxact restore: a checkpoint into a backend's layouts and back.

#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/conversion_options.hpp"
#include "cli/document.hpp"
#include "cli/env_option.hpp"
#include "cli/interrupt.hpp"
#include "cli/layout_options.hpp"
#include "cli/progress_line.hpp"
#include "cli/verbs.hpp"
#include "verbs/convert/convert_document.hpp"

namespace mx::cli {
namespace {

struct ConvertCommand {
  ConversionChoice choice;
  std::string output;
  std::string progress;
  bool fail_on_warning = false;
  bool copy_all = false;
  DocumentOptions out;
};

struct RestoreCommand {
  std::vector<std::string> directories;
  std::string output;
  bool accept_losses = false;
  bool reference = false;
  std::string progress;
  DocumentOptions out;
};

int interrupted() {
  fmt::print(stderr, "mxact: interrupted; nothing was written\n");
  return interrupted_status();
}

int convert(ConvertCommand command) {
  take_engines_choice(command.choice);
  for (const std::string& backend : command.choice.backends) require_layout(engine_of(command.choice), backend);
  checkpoint::ConvertOptions options = options_of(command.choice);
  options.force = command.out.force;
  options.copy_all = command.copy_all;
  checkpoint::ConvertReport report;
  {
    const InterruptWatch watch;
    ProgressLine line(command.progress);
    options.progress = [&line](const std::string& what, std::uint64_t done, std::uint64_t total) { line.show(what, done, total); };
    options.stop = [&watch] { return watch.interrupted(); };
    report = checkpoint::convert_checkpoint(command.choice.checkpoint, command.output, options);
  }
  if (!report.finished) return interrupted();
  verbs::Document document = verbs::convert_document(report, command.choice.checkpoint, command.output, options.rank, command.fail_on_warning);
  for (const checkpoint::ConvertedGroup& group : report.converted)
    note_conversion(document, engine_of(command.choice), group.backend, group.setting.form.format);
  note_variables(document, command.choice.variables, engine_of(command.choice));
  return show(document, command.out);
}

int restore(const RestoreCommand& command) {
  checkpoint::RestoreOptions options{.accept_losses = command.accept_losses, .by = moved_by(command.reference), .force = command.out.force};
  checkpoint::RestoreReport report;
  {
    const InterruptWatch watch;
    ProgressLine line(command.progress);
    options.progress = [&line](const std::string& what, std::uint64_t done, std::uint64_t total) { line.show(what, done, total); };
    options.stop = [&watch] { return watch.interrupted(); };
    report = checkpoint::restore_checkpoint({command.directories.begin(), command.directories.end()}, command.output, options);
  }
  if (!report.finished) return interrupted();
  return show(verbs::restore_document(report, command.directories, command.output), command.out);
}

}  // namespace

void add_convert(Verb app, Action& action) {
  const Verb verb = app.add_verb("convert", "a safetensors checkpoint into a backend's layouts, with what the way back needs");
  const auto command = std::make_shared<ConvertCommand>();
  add_conversion_options(verb, command->choice);
  verb.add_option("-o,--output", command->output, "directory to write, new or empty").required();
  add_progress_option(verb, command->progress);
  verb.add_flag("--copy-all", command->copy_all, "copy weights of other forms beside the checkpoint too (original/, metal/)");
  verb.add_flag("--fail-on-warning", command->fail_on_warning,
                "exit 1 where a number of the checkpoint is none, or such as no sound quantizer writes, or where values are destroyed");
  verb.add_flag("--force", command->out.force, "replace files of the same names in the output directory");
  add_json_option(verb, command->out);
  verb.callback([&action, command] { action = [command] { return convert(*command); }; });
}

void add_restore(Verb app, Action& action) {
  const Verb verb = app.add_verb("restore", "the checkpoint again, from what convert wrote");
  const auto command = std::make_shared<RestoreCommand>();
  verb.add_option("DIRECTORY", command->directories, "what convert wrote; of every rank, where there are several").required();
  verb.add_option("-o,--output", command->output, "directory to write, new or empty").required();
  verb.add_flag("--accept-losses", command->accept_losses, "where the conversion lost something, restore what is left and say so");
  verb.add_flag("--reference", command->reference, "move by the model alone instead of the fast twin");
  add_progress_option(verb, command->progress);
  verb.add_flag("--force", command->out.force, "replace files of the same names in the output directory");
  add_json_option(verb, command->out);
  verb.callback([&action, command] { action = [command] { return restore(*command); }; });
}

}  // namespace mx::cli
