#include "model/error.hpp"

#include <utility>

namespace mx {

Error::Error(ErrorCode code, const std::string& message, std::string where)
    : std::runtime_error(where.empty() ? message : where + ": " + message), code_(code), where_(std::move(where)) {}

}  // namespace mx
