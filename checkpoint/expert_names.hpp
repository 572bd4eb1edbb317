#pragma once
// Names of expert tensors, taken apart.

#include <optional>
#include <string_view>
#include <vector>

#include "checkpoint/form_search.hpp"

namespace mx::checkpoint {

/// Every naming of source_forms() once, in the order of the forms.
std::vector<const Naming*> all_namings();
/// Whether the form's tensors may be named so.
bool has_naming(const SourceForm& form, const Naming& naming);

/// A name that goes on as those of experts do, whether or not the naming knows the rest.
struct Reading {
  ExpertName name;
  bool known;
};
/// None for a name that does not begin so. Throws Error(input) for a number of a layer or an expert that is none.
std::optional<Reading> read_name(const Naming& naming, std::string_view name, const LocatedTensor& at);

}  // namespace mx::checkpoint
