#pragma once
// The verbs of the program. Each adds its subcommand and, when it was typed, sets the action that main runs.

#include <functional>

namespace CLI {
class App;
}

namespace mx::cli {

/// What the typed verb does; returns the exit status.
using Action = std::function<int()>;

void add_verify(CLI::App& app, Action& action);
void add_select(CLI::App& app, Action& action);
void add_audit(CLI::App& app, Action& action);
void add_matrix(CLI::App& app, Action& action);
void add_sim(CLI::App& app, Action& action);
void add_study(CLI::App& app, Action& action);
void add_formats(CLI::App& app, Action& action);
void add_encode(CLI::App& app, Action& action);
void add_decode(CLI::App& app, Action& action);
void add_quantize(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_sweep(CLI::App& app, Action& action);
void add_layout(CLI::App& app, Action& action);
void add_convert(CLI::App& app, Action& action);
void add_restore(CLI::App& app, Action& action);
void add_witness(CLI::App& app, Action& action);
void add_gen(CLI::App& app, Action& action);
void add_ver(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_vectors(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);

}  // namespace mx::cli
