#pragma once
// --engine: which version of an engine is asked.

#include <string>

#include "cli/verb.hpp"

namespace mx::cli {

/// Adds --engine, for engine_named(); `engine` is kDefaultEngine's name unless it is typed, and must outlive the parse.
Option add_engine_option(Verb verb, std::string& engine);

}  // namespace mx::cli
