#pragma once
// One conversion to try: a row of the backends' table, its formula and a setting drawn around the edges of its tiles.

#include <functional>
#include <string>
#include <string_view>

#include "props/families/memory_formula.hpp"
#include "props/law.hpp"
#include "props/layout/checks.hpp"

namespace mx::props {

struct BackendCase {
  const families::BackendLayout& row;
  const BackendFormula& formula;
  families::Setting setting;
};

/// Whose converter a case is for: ours is also given what the engine's method makes of a checkpoint on some device in front of it.
enum class Converter { ours, of_others };

/// A setting that the row converts. One that it refuses at first, which it must by name, is rounded up until it does not.
BackendCase random_case(const families::BackendLayout& row, deployment::Engine engine, Converter whose);

/// Sizes, form and options in one line.
std::string text_of(const families::Setting& setting);

/// Elements of the tensors that a layer of the setting has.
std::int64_t element_count(const families::Setting& setting);

/// Whether a layer of that setting has the tensor.
bool has_tensor(layout::Role role, const families::Setting& setting);

/// The memory that the documents give a tensor.
Memory expected_memory(const BackendCase& c, layout::Role role);

/// One case after another of a row and an engine, each of another shape; so many rows came before it in the law.
RowProperty row_property(const families::BackendLayout& row, deployment::Engine engine, std::size_t before,
                         const std::function<void(const BackendCase& c)>& check, Converter whose = Converter::ours);

/// A law over the rows of a family, or over all rows without a name, one of their engines after the other.
Outcome check_backends(const Law& law, std::string_view family, const std::function<void(const BackendCase& c)>& check, int usual_cases);

/// The same over the family that the law's id ends in.
Outcome check_family(const Law& law, const std::function<void(const BackendCase& c)>& check, int usual_cases);

}  // namespace mx::props
