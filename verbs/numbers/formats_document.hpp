#pragma once
// What `mxact formats` says.

#include <string>

#include "verbs/document/document.hpp"

namespace mx::verbs {

/// Every number format, block format, profile and arithmetic contract that the model has.
Document formats_document();
/// One profile with all its rows, by name or as rules. Throws Error(usage) for an unknown name and for rules that are wrong.
Document profile_document(const std::string& profile);
/// The words of which a format, rules and a profile may be written, and the profiles that are.
Document rules_document();
/// One contract, by name or as a record: its text, every field, its evidence. Throws Error(usage) for an unknown name and for a record that is wrong.
Document contract_document(const std::string& contract);
/// Every code of one format. Throws Error(usage) for an unknown name, and for a format of more than 8 bits.
Document codes_document(const std::string& format);

}  // namespace mx::verbs
