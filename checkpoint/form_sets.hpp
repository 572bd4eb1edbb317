#pragma once
// Sets of source forms, and what a configuration says against each.

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "checkpoint/configuration.hpp"
#include "checkpoint/source_forms.hpp"

namespace mx::checkpoint {

/// A set of forms: one bit for each row of source_forms().
using Forms = std::uint64_t;

/// The forms of which `keeps(form)` is true.
template <class Keeps>
Forms forms_that(Keeps keeps) {
  Forms forms = 0;
  for (std::size_t i = 0; i < source_forms().size(); ++i) {
    if (keeps(source_forms()[i])) forms |= Forms{1} << i;
  }
  return forms;
}

/// "ModelOpt NVFP4 or Quark MXFP4"; of more than four the first three and how many others there are.
std::string titles_of(Forms forms);
/// The first form of a set that has one.
const SourceForm& first_of(Forms forms);
/// Whether a set has one form and no other.
inline bool is_one(Forms forms) { return std::has_single_bit(forms); }

/// Whether a form's fact takes a value.
bool agrees(const ConfigFact& fact, std::string_view value);

/// What the configuration says against a form, in words; empty: nothing. How fused matrices lie follows from the model alone.
std::string contradiction(const SourceForm& form, const ModuleMethod& declared);

/// Those that nothing contradicts, with a method such as are quantized; all of them where there is none.
Forms allowed_by(const ModuleMethod& declared, Forms among);

/// The form whose only contradiction lies nearest: one that has the quantizer's name, where one has.
const SourceForm& nearest_of(Forms among, const ModuleMethod& declared);

/// Whether all have the same numbers.
bool are_alike(Forms forms);

/// Of forms that nothing contradicts, those of which the most is declared.
Forms best_declared(Forms among, const ModuleMethod& declared);

}  // namespace mx::checkpoint
