#include "props/law.hpp"

#include <rapidcheck.h>

#include <sstream>

namespace mx::props {

Outcome check_property(const Law& law, const std::function<void()>& property) {
  // A TestMetadata id is what makes RapidCheck print the string that replays a failure; its Catch wrapper gives none.
  rc::detail::TestMetadata metadata;
  metadata.id = std::string(law.id);
  metadata.description = std::string(law.statement);
  const rc::detail::TestResult result = rc::detail::checkTestable(property, metadata);
  if (result.is<rc::detail::SuccessResult>()) {
    return {true, static_cast<std::uint64_t>(result.get<rc::detail::SuccessResult>().numSuccess), {}};
  }
  std::ostringstream message;
  rc::detail::printResultMessage(result, message);
  return {false, 0, std::string(law.id) + ": " + message.str()};
}

void Exhaustive::expect(bool holds, const std::function<std::string()>& describe) {
  ++cases_;
  if (holds) return;
  if (failures_++ == 0) first_ = describe();
}

Outcome Exhaustive::outcome() const {
  if (cases_ == 0) return {false, 0, std::string(law_.id) + ": no case was tried"};
  if (failures_ == 0) return {true, cases_, {}};
  return {false, cases_,
          std::string(law_.id) + ": " + std::to_string(failures_) + " of " + std::to_string(cases_) + " cases fail, first: " + first_ +
              "\nreplay: mxact_laws '" + std::string(law_.id) + "'"};
}

}  // namespace mx::props
