#pragma once
// What preconditions of refused calls speak of, in terms of the model's calls: one table of words per kind of call.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "golden/witness/layout_call.hpp"

namespace mx::golden {

/// Why the model refuses.
struct Reason {
  std::string quantity;  ///< word of preconditions; empty where the model has a text only
  std::string rule;      ///< the same text for the same rule, whatever the value that breaks it
};

/// Something that a precondition speaks of.
template <typename Call>
struct Quantity {
  std::string_view word;
  std::string_view subject;                                     ///< what it is computed from: rules of one subject are met together
  std::vector<Json> (*values)(const Call& call);                ///< values that it has; several where the word is used in two ways
  void (*set)(Call& call, const Json& value, const Json& met);  ///< changes the call such that it has the value `met` instead
};

std::span<const Quantity<BlockCall>> quantities_of(const BlockCall& call);
std::span<const Quantity<ValueCall>> quantities_of(const ValueCall& call);
std::span<const Quantity<BackendCall>> quantities_of(const BackendCall& call);

/// What a subject of a quantity is for this call: the rows of a layer's tensor are its intermediate or its hidden size.
std::string_view subject_behind(const BlockCall& call, std::string_view subject);
std::string_view subject_behind(const ValueCall& call, std::string_view subject);
std::string_view subject_behind(const BackendCall& call, std::string_view subject);

/// Every reason for which the model refuses a call, in its order of checking; empty: it converts.
std::vector<Reason> reasons_against(const BlockCall& call);
std::vector<Reason> reasons_against(const ValueCall& call);
std::vector<Reason> reasons_against(const BackendCall& call);

}  // namespace mx::golden
