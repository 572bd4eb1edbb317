#pragma once
// A table of numbers as colours.

#include <string>
#include <string_view>
#include <vector>

#include "verbs/draw/figure.hpp"

namespace mx::verbs {

class HeatMap {
 public:
  HeatMap(std::string title, std::string note) : title_(std::move(title)), note_(std::move(note)) {}

  /// One number for a pair of names; rows and columns stand in the order in which they come.
  void add(const std::string& row, const std::string& column, double value, std::string hover);
  bool empty() const { return cells_.empty(); }
  std::size_t rows() const { return rows_.size(); }
  std::size_t columns() const { return columns_.size(); }

  /// Dark is the lowest number, light the highest.
  Figure figure() const;

 private:
  struct Cell {
    std::size_t row;
    std::size_t column;
    double value;
    std::string hover;
  };

  std::string title_;
  std::string note_;
  std::vector<std::string> rows_;
  std::vector<std::string> columns_;
  std::vector<Cell> cells_;
};

}  // namespace mx::verbs
