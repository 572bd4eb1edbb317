// mxact doctor: what this machine and this build are, and whether floating point behaves as the model needs.

#include <memory>

#include "build_info.hpp"
#include "cli/document.hpp"
#include "cli/verbs.hpp"
#include "verbs/doctor/doctor_document.hpp"

namespace mx::cli {

void add_doctor(Verb app, Action& action) {
  const Verb verb = app.add_verb("doctor", "this build and machine, and a self-test of floating point");
  const auto out = std::make_shared<DocumentOptions>();
  add_json_option(verb, *out);
  verb.callback([&action, out] {
    action = [out] { return show(verbs::doctor_document({MXACT_VERSION, MXACT_COMMIT, MXACT_COMPILER, MXACT_FLAGS}), *out); };
  });
}

}  // namespace mx::cli
