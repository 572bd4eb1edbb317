#pragma once
// Where a fact comes from.

#include <string_view>

namespace mx::layout {

struct Source {
  std::string_view repository;
  std::string_view path;
  std::string_view symbol;
  std::string_view commit;
};

}  // namespace mx::layout
