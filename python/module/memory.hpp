#pragma once
// What the files that move tensors share: bytes that Python owns, choices as fields, the team that moves.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "python/module/core.hpp"
#include "verbs/layout/subject.hpp"

namespace mx::python {

using Fields = std::vector<std::pair<std::string, std::string>>;
golden::LayoutQuery query_of(const std::string& name, const Fields& fields);

/// An array of bytes that owns them.
nb::object bytes_of(std::vector<std::uint8_t>&& bytes);

/// Moves take as many threads as OpenMP would: those of mxact.threads().
class Team {
 public:
  Team();
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

 private:
  int before_;
};

}  // namespace mx::python
