#pragma once
// What the files that move tensors share: bytes that Python owns, choices as fields, the team that moves.

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/convert.hpp"
#include "model/families/convert.hpp"
#include "python/module/core.hpp"
#include "verbs/layout/subject.hpp"

namespace mx::python {

using Fields = std::vector<std::pair<std::string, std::string>>;
verbs::LayoutQuery query_of(const std::string& name, const Fields& fields);

/// A backend with its choices. Throws Error(usage) as verbs::choice_of does, and for a building block.
verbs::BackendChoice backend_choice(const verbs::LayoutQuery& query);
verbs::BackendChoice choice_of(const std::string& backend, const Fields& fields);

/// A checkpoint's conversion; the checkpoint decides what the fields do not say. `layer_group`: counted from 1; none: the first that the backend
/// converts. Throws Error(usage) for a field that is no choice of it.
checkpoint::ConvertOptions convert_options(const std::string& backend, const Fields& fields, int rank, std::optional<int> layer_group);

/// Tensors of a layer by the names of their roles.
using NamedBytes = std::vector<std::pair<std::string, Bytes>>;
/// In the checkpoint's form. Throws Error(usage) for a tensor that the format has not.
layout::CanonicalLayer layer_of(const layout::Form& form, const layout::Sizes& sizes, const NamedBytes& tensors);
/// A checkpoint's form by its words; experts, intermediate and hidden size with the format's group.
using Extents = std::array<std::int64_t, 3>;
layout::Form form_of(const std::string& format, const std::string& order);
layout::Sizes sizes_of(const std::string& format, const Extents& extents);
/// In the backend's form, without losses.
families::PackedLayer packed_of(const verbs::BackendChoice& choice, const NamedBytes& tensors);

/// An array of bytes that owns them.
nb::object bytes_of(std::vector<std::uint8_t>&& bytes);

/// Words of a caller's bytes, in this machine's order, and the reverse.
template <class Word>
std::vector<Word> words_of(const Bytes& bytes) {
  std::vector<Word> words(bytes.size() / sizeof(Word));
  std::memcpy(words.data(), bytes.data(), words.size() * sizeof(Word));
  return words;
}
template <class Word>
nb::object bytes_of_words(const std::vector<Word>& words) {
  std::vector<std::uint8_t> bytes(words.size() * sizeof(Word));
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes_of(std::move(bytes));
}

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
