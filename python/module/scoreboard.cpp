// A device inside a Python loop held against an operation of the vectors: lanes in, what is wrong out.

#include "golden/vectors/scoreboard.hpp"

#include <nanobind/stl/pair.h>

#include <memory>
#include <string_view>
#include <utility>

#include "golden/vectors/families.hpp"
#include "python/module/core.hpp"

namespace mx::python {
namespace {

using Lanes = std::vector<std::uint32_t>;
using Rows = nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::unique_ptr<golden::VectorOp> op_of(const std::string& operation, const std::vector<std::pair<std::string, std::string>>& options) {
  std::vector<golden::OpSetting> given;
  for (const auto& [key, value] : options) given.push_back({key, value});
  return golden::op_named(operation, golden::OpOptions(std::move(given)));
}

class Scoreboard {
 public:
  Scoreboard(const std::string& operation, const std::vector<std::pair<std::string, std::string>>& options, std::size_t show, std::uint32_t flag_mask)
      : board_(op_of(operation, options), show, flag_mask) {}

  /// Of each column, operands first: its name, lanes, bits of a lane, the format of its codes or none, whether it has flags.
  nb::list columns() const {
    nb::list list;
    for (const auto* columns : {&board_.op().operands(), &board_.op().results()}) {
      for (const golden::Column& column : *columns) {
        const nb::object format = column.format == nullptr ? nb::none() : nb::object(nb::str(column.format->name.data(), column.format->name.size()));
        list.append(nb::make_tuple(column.name, column.lanes, column.bits, format, column.flags));
      }
    }
    return list;
  }
  std::size_t operand_columns() const { return board_.op().operands().size(); }

  std::optional<std::string> check(const Lanes& operands, const Lanes& answer, const Lanes& unknown, const std::string& place) {
    const OrdinaryMode mode;
    return word_of(board_.check(operands, answer, unknown, place));
  }

  /// Rows of lanes, operands and answers; `place` and the number of the row say where. Returns how many are wrong.
  std::size_t check_rows(const Rows& operands, const Rows& answers, const std::string& place) {
    const OrdinaryMode mode;
    std::size_t wrong = 0;
    const auto row_of = [](const Rows& rows, std::size_t row) { return golden::Lanes(rows.data() + row * rows.shape(1), rows.shape(1)); };
    for (std::size_t row = 0; row < operands.shape(0); ++row) {
      const auto kind = board_.check(row_of(operands, row), row_of(answers, row), {}, place + "[" + std::to_string(row) + "]");
      wrong += kind ? 1U : 0U;
    }
    return wrong;
  }

  /// The verdict's name, counts, counts by kind, rules and compositions that explain the wrong answers, and the text of all of it.
  nb::dict report(std::optional<std::uint64_t> expected) const {
    const OrdinaryMode mode;
    const golden::ScoreReport made = board_.report(expected);
    nb::dict report, kinds;
    for (const auto& [kind, count] : made.kinds) kinds[nb::str(kind.c_str())] = count;
    nb::list rules, compositions, lines;
    for (const golden::Explanation& one : made.explanations) {
      if (one.fit() != golden::Fit::in_part) rules.append(one.name);
    }
    for (const golden::FittingComposition& one : made.compositions) compositions.append(one.name);
    for (const std::string& line : made.text()) lines.append(line);
    report["verdict"] = text_of(golden::name_of(made.verdict));
    report["checked"] = made.checked;
    report["wrong"] = made.wrong;
    report["kinds"] = kinds;
    report["rules"] = rules;
    report["compositions"] = compositions;
    report["lines"] = lines;
    return report;
  }

 private:
  static nb::str text_of(std::string_view text) { return nb::str(text.data(), text.size()); }
  static std::optional<std::string> word_of(std::optional<golden::ScoreKind> kind) {
    return kind ? std::optional(std::string(golden::name_of(*kind))) : std::nullopt;
  }

  golden::Scoreboard board_;
};

}  // namespace

void bind_scoreboard(nb::module_& module) {
  nb::class_<Scoreboard>(module, "Scoreboard")
      .def(nb::init<const std::string&, const std::vector<std::pair<std::string, std::string>>&, std::size_t, std::uint32_t>(), nb::arg("operation"),
           nb::arg("options"), nb::arg("show"), nb::arg("flag_mask"))
      .def("columns", &Scoreboard::columns)
      .def("operand_columns", &Scoreboard::operand_columns)
      .def("check", &Scoreboard::check, nb::arg("operands"), nb::arg("answer"), nb::arg("unknown"), nb::arg("place"))
      .def("check_rows", &Scoreboard::check_rows, nb::arg("operands"), nb::arg("answers"), nb::arg("place"))
      .def("report", &Scoreboard::report, nb::arg("expected").none());
}

}  // namespace mx::python
