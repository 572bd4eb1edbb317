#include "python/module/memory.hpp"

#include <omp.h>

namespace mx::python {

golden::LayoutQuery query_of(const std::string& name, const Fields& fields) {
  golden::LayoutQuery query{name, {}};
  for (const auto& [key, value] : fields) query.fields.push_back({key, value});
  return query;
}

nb::object bytes_of(std::vector<std::uint8_t>&& bytes) {
  auto* const kept = new std::vector<std::uint8_t>(std::move(bytes));
  const nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<std::vector<std::uint8_t>*>(memory); });
  return nb::cast(nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

Team::Team() : before_(omp_get_max_threads()) { omp_set_num_threads(workers().threads); }
Team::~Team() { omp_set_num_threads(before_); }

}  // namespace mx::python
