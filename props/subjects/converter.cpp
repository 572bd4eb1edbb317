// The laws of layouts on a converter that is not ours.

#include <rapidcheck.h>

#include <memory>

#include "model/error.hpp"
#include "props/families/kernel_view.hpp"
#include "props/families/layers.hpp"
#include "props/families/memory_case.hpp"
#include "props/subject.hpp"
#include "props/subjects/tools.hpp"

namespace mx::props {
namespace {

using layout::CanonicalLayer;
using layout::Role;

/// Cases of a law where RC_PARAMS names no number, each of another shape.
constexpr int kCases = 8;

using Held = std::shared_ptr<const ConverterSubject>;

/// Times a byte: eight of them.
constexpr std::uint64_t kEveryByte = 0x0101010101010101U;

std::string name_text(Role role) { return std::string(layout::name_of(role)); }

/// What `ask` makes, or the case fails.
template <typename Ask>
LayerBytes made(const char* what, const Ask& ask) {
  LayerBytes bytes;
  const std::string wrong = told([&]() -> std::string {
    bytes = ask();
    return {};
  });
  if (!wrong.empty()) RC_FAIL(std::string(what) + ": " + wrong);
  return bytes;
}

LayerBytes converted(const ConverterSubject& subject, const BackendCase& c, const CanonicalLayer& layer) {
  return made("convert", [&] { return subject.convert(layer.tensors, c.setting); });
}

LayerBytes restored(const ConverterSubject& subject, const BackendCase& c, const LayerBytes& packed) {
  return made("restore", [&] { return subject.restore(packed, c.setting); });
}

std::int64_t bytes_of(const Memory& memory) { return static_cast<std::int64_t>(memory.sources.size()) * memory.grain_bits / 8; }

void require_size(const BackendCase& c, Role role, const LayerBytes& packed) {
  const auto found = static_cast<std::int64_t>(packed[static_cast<std::size_t>(role)].size());
  const std::int64_t expected = bytes_of(expected_memory(c, role));
  if (found != expected) RC_FAIL(name_text(role) + " has " + std::to_string(found) + " bytes, expected " + std::to_string(expected));
}

template <typename Check>
void for_tensors(const BackendCase& c, const Check& check) {
  for (Role role : layout::kAllRoles) {
    if (has_tensor(role, c.setting)) check(role);
  }
}

void check_sizes(const ConverterSubject& subject, const BackendCase& c) {
  const LayerBytes packed = converted(subject, c, wild_layer(c.row, c.setting));
  for_tensors(c, [&](Role role) { require_size(c, role, packed); });
}

void check_places(const ConverterSubject& subject, const BackendCase& c) {
  const CanonicalLayer layer = wild_layer(c.row, c.setting);
  LayerBytes packed = converted(subject, c, layer);
  for_tensors(c, [&](Role role) {
    require_size(c, role, packed);
    const layout::TensorPlan plan = c.row.build(role, c.setting);
    check_bytes(c, layer, {role, plan.layout, plan.cast, std::move(packed[static_cast<std::size_t>(role)])}, expected_memory(c, role));
  });
}

void require_same(Role role, const LayerBytes& found, const LayerBytes& expected, const std::string& when) {
  const auto at = static_cast<std::size_t>(role);
  if (found[at] != expected[at]) RC_FAIL(name_text(role) + " is restored otherwise" + when);
}

void check_padding(const ConverterSubject& subject, const BackendCase& c) {
  const CanonicalLayer layer = tame_layer(c.setting);
  LayerBytes packed = converted(subject, c, layer);
  const LayerBytes first = restored(subject, c, packed);
  for (const std::uint64_t content : {0x00U, 0x7FU, 0xFFU}) {
    for_tensors(c, [&](Role role) {
      require_size(c, role, packed);
      const Memory memory = expected_memory(c, role);
      for (std::size_t grain = 0; grain < memory.sources.size(); ++grain) {
        const std::uint64_t ones = ~std::uint64_t{0} >> (64 - memory.grain_bits);
        if (memory.sources[grain] < 0)
          put_unit(packed[static_cast<std::size_t>(role)], static_cast<std::int64_t>(grain), memory.grain_bits, content * kEveryByte & ones);
      }
    });
    const LayerBytes back = restored(subject, c, packed);
    for_tensors(c, [&](Role role) { require_same(role, back, first, " when its padding holds bytes " + std::to_string(content)); });
  }
}

void check_restored(const ConverterSubject& subject, const BackendCase& c) {
  // Repeated scales of blocks that are not whole are cut off: what the documents' own layout loses.
  if (c.formula.scales_follow != nullptr && !c.formula.scales_follow(c.setting)) RC_DISCARD("the layout loses scales");
  const CanonicalLayer layer = tame_layer(c.setting);
  const LayerBytes back = restored(subject, c, converted(subject, c, layer));
  for_tensors(c, [&](Role role) { require_same(role, back, layer.tensors, ""); });
}

using Check = void (*)(const ConverterSubject& subject, const BackendCase& c);

HeldLaw law(const char* number, const char* statement, const Held& subject, Check check) {
  const auto run = [subject, check](const Law& law) {
    const families::BackendLayout& row = families::backend_layout_named(subject->backend, subject->format, subject->engine);
    const std::array<RowProperty, 1> rows{row_property(
        row, subject->engine, 0, [&](const BackendCase& c) { check(*subject, c); }, Converter::of_others)};
    return check_rows(law, rows, kCases);
  };
  return {std::string(number) + "/" + subject->name, statement, run};
}

}  // namespace

std::vector<HeldLaw> laws_of(const ConverterSubject& given) {
  const auto subject = std::make_shared<const ConverterSubject>(given);
  const families::BackendLayout& row = families::backend_layout_named(subject->backend, subject->format, subject->engine);
  std::vector<HeldLaw> laws{law("L1", "packed tensors have the sizes of the documents", subject, check_sizes)};
  if (row.values == nullptr) {
    laws.push_back(
        law("L2", "every unit of the checkpoint lies at the address of the documents' formula; padding holds what they say", subject, check_places));
  }
  if (!subject->restore) return laws;
  laws.push_back(
      law("L4", "whatever lies where the formulas have padding (0x00, 0x7F, 0xFF), the same checkpoint is restored", subject, check_padding));
  laws.push_back(law("L7", "restore(convert(x)) = x", subject, check_restored));
  return laws;
}

}  // namespace mx::props
