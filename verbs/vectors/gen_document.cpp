#include "verbs/vectors/gen_document.hpp"

#include "golden/vectors/families.hpp"
#include "golden/vectors/text.hpp"

namespace mx::verbs {

Document operations_document() {
  Document document{"gen"};
  Table families{"families", {{"family", "family"}, {"operations", "operations"}, {"pattern", "names"}, {"summary", "what"}}};
  for (const golden::OpFamily& family : golden::all_op_families()) {
    const std::vector<std::string> names = family.names();
    families.add({family.name, {names, std::to_string(names.size())}, family.pattern, family.summary});
  }
  document.table(std::move(families));
  return document;
}

Document set_document(const golden::VectorOp& op, const golden::VectorSet& set, bool with_expected) {
  Document document{"gen"};
  Json facts;
  for (const golden::OpSetting& fact : golden::header_facts(op, set)) facts[fact.key] = fact.value;
  document.value("facts", std::move(facts));
  Table columns{"columns", {in_json("name"), in_json("lanes"), in_json("bits")}};
  for (const golden::Column& column : with_expected ? golden::file_columns(op) : op.operands()) columns.add({column.name, column.lanes, column.bits});
  document.value(columns.key, columns.json());
  return document;
}

}  // namespace mx::verbs
