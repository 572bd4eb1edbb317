#pragma once
// The verbs of the program. Each adds its subcommand and, when it was typed, sets the action that main runs.

#include <functional>

#include "cli/verb.hpp"

namespace mx::cli {

/// What the typed verb does; returns the exit status.
using Action = std::function<int()>;

void add_verify(Verb app, Action& action);
void add_select(Verb app, Action& action);
void add_audit(Verb app, Action& action);
void add_matrix(Verb app, Action& action);
void add_inspect(Verb app, Action& action);
void add_engine(Verb app, Action& action);
void add_sim(Verb app, Action& action);
void add_study(Verb app, Action& action);
void add_formats(Verb app, Action& action);
void add_encode(Verb app, Action& action);
void add_decode(Verb app, Action& action);
void add_quantize(Verb app, Action& action);
void add_compare(Verb app, Action& action);
void add_sweep(Verb app, Action& action);
void add_layer(Verb app, Action& action);
void add_layout(Verb app, Action& action);
void add_convert(Verb app, Action& action);
void add_restore(Verb app, Action& action);
void add_witness(Verb app, Action& action);
void add_gen(Verb app, Action& action);
void add_ver(Verb app, Action& action);
void add_coverage(Verb app, Action& action);
void add_report(Verb app, Action& action);
void add_vectors(Verb app, Action& action);
void add_faults(Verb app, Action& action);
void add_laws(Verb app, Action& action);
void add_doctor(Verb app, Action& action);

}  // namespace mx::cli
