#include "model/families/kernel_class.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "model/families/family.hpp"

namespace mx::families {
namespace {

constexpr std::array<std::string_view, 3> kKinds = {"plain", "monolithic", "batched"};

}  // namespace

std::string_view name_of(ClassKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::span<const KernelClassFacts> kernel_class_facts() {
  static const std::vector<KernelClassFacts> rows = joined(&Family::classes);
  return rows;
}

const KernelClassFacts* find_class_facts(std::string_view name) {
  const std::span<const KernelClassFacts> all = kernel_class_facts();
  const auto found = std::ranges::find(all, name, &KernelClassFacts::name);
  return found != all.end() ? &*found : nullptr;
}

}  // namespace mx::families
