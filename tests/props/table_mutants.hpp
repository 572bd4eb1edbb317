#pragma once
// Single changes of the model's tables, made mechanically and put in the table's place without a build: every choice of a row taken for each other
// one, every number moved, every bit of a code turned over.

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "model/error.hpp"
#include "model/stand_in.hpp"

namespace mx::tests {

/// One change.
struct TableMutant {
  std::string table;    ///< "recipes"
  std::string row;      ///< "torchao-rceil mxfp8_e4m3"
  std::string change;   ///< "scale.bump 1"
  std::string subject;  ///< of the laws that speak of the row: what their ids end in
  fault::Table where;
  std::shared_ptr<const void> rows;  ///< what stands in
  std::size_t count;
  /// The first input of the exam whose output the change alters; "" where it alters none. Called with the table's own rows in place.
  std::function<std::string()> differs;
  const void* alone = nullptr;  ///< the changed row, where laws go over the rows and are to try this one only

  std::string id() const { return table + " " + row + " " + change; }
};

/// The changes of every table, in an order that stays.
std::vector<TableMutant> table_mutants();

/// So many of them in their order, drawn by a seed that never changes; all where there are no more.
std::vector<TableMutant> sample_of(std::vector<TableMutant> mutants, std::size_t count);

// By part: table_numbers.cpp, table_contracts.cpp, table_layers.cpp, table_simulator.cpp.
std::vector<TableMutant> recipe_mutants();
std::vector<TableMutant> dequantizer_mutants();
std::vector<TableMutant> contract_mutants();
std::vector<TableMutant> router_mutants();
std::vector<TableMutant> activation_mutants();
std::vector<TableMutant> layout_mutants();
std::vector<TableMutant> rounding_mutants();
std::vector<TableMutant> simulator_mutants();

/// The rows of a table with another one in a row's place.
template <typename Row>
std::shared_ptr<std::vector<Row>> with_row(std::span<const Row> own, std::size_t at, const Row& row) {
  const auto rows = std::make_shared<std::vector<Row>>(own.begin(), own.end());
  (*rows)[at] = row;
  return rows;
}

/// What a call gives, or that it refuses: outputs that can be compared.
template <typename Call>
std::string told(const Call& call) {
  try {
    std::ostringstream text;
    call(text);
    return text.str();
  } catch (const Error&) {
    return "refused";
  }
}

/// Random numbers of the exams, the same on every machine.
class Draws {
 public:
  explicit Draws(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t operator()() { return static_cast<std::uint32_t>(engine_()); }

 private:
  std::mt19937 engine_;
};

/// Collects the changes of one row.
template <typename Row>
class Changes {
 public:
  struct Change {
    std::string name;
    Row row;
  };

  explicit Changes(const Row& row) : row_(row) {}

  /// A choice among `count` enumerators.
  template <typename Member>
  void choice(const std::string& name, Member member, int count) {
    using Enum = std::remove_reference_t<decltype(member(row_))>;
    for (int other = 0; other < count; ++other) {
      if (static_cast<Enum>(other) != member(row_)) add(name + " " + std::to_string(other), member, static_cast<Enum>(other));
    }
  }
  template <typename Member>
  void flag(const std::string& name, Member member) {
    add(name + (member(row_) ? " off" : " on"), member, !member(row_));
  }
  /// A code or a number's bits: the next one, and the sign of fp32 or a far one.
  template <typename Member>
  void bits(const std::string& name, Member member) {
    add(name + " ^ 1", member, member(row_) ^ 1U);
    add(name + " ^ 0x00800000", member, member(row_) ^ 0x00800000U);
  }
  /// A code of a narrow format.
  template <typename Member>
  void code(const std::string& name, Member member) {
    add(name + " ^ 1", member, member(row_) ^ 1U);
    add(name + " ^ 0x80", member, member(row_) ^ 0x80U);
  }
  template <typename Member>
  void number(const std::string& name, Member member) {
    add(name + " - 1", member, member(row_) - 1);
    add(name + " + 1", member, member(row_) + 1);
  }
  /// Another value that the member may have.
  template <typename Member, typename Value>
  void add(const std::string& name, Member member, Value value) {
    Row changed = row_;
    member(changed) = value;
    all_.push_back({name, std::move(changed)});
  }

  const Row& row() const { return row_; }
  std::vector<Change> all() const { return all_; }

 private:
  Row row_;
  std::vector<Change> all_;
};

}  // namespace mx::tests
