// Dtypes and shapes of packed tensors, held to what real converters returned.

#include "model/families/kernel_form.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "golden/witness/layout_call.hpp"
#include "support/file.hpp"
#include "support/json.hpp"
#include "tests/catch.hpp"

namespace {

using namespace mx;
using support::Json;

std::string text_of(std::string_view dtype, const std::vector<std::int64_t>& shape) {
  std::string text(dtype);
  for (const std::int64_t extent : shape) text += " " + std::to_string(extent);
  return text;
}

/// Every whole conversion of one tensor that a set has.
struct Held {
  std::size_t compared = 0;
  std::size_t unknown = 0;
  std::map<std::string, std::string> wrong;  ///< by layout and role
};

void hold(const std::string& set, Held& held) {
  const std::filesystem::path manifest = std::filesystem::path(MXACT_ROOT) / "golden/witness" / set / "manifest.json";
  const std::vector<std::uint8_t> bytes = support::read_file(manifest, std::uint64_t{1} << 26U);
  const Json json = support::parse_json(bytes, {.bytes = std::uint64_t{1} << 26U, .depth = 16, .memory = std::uint64_t{1} << 30U}, set);
  for (const Json& one : json.at("entries")) {
    const std::string kind = one.at("kind").text();
    if (one.at("stage").text() != "full" || (kind != "perm" && kind != "hash")) continue;
    golden::LayoutEntry entry;
    entry.id = one.at("id").text();
    entry.kind = kind;
    entry.layout = one.at("layout").text();
    entry.stage = "full";
    entry.version = one.at("converter_version").text();
    entry.role = one.at("role").text();
    entry.where = set;
    if (one.contains("arch")) entry.arch = one.at("arch").text();
    entry.json = &one;
    entry.params = &one.at("params");
    const golden::BackendCall call = golden::backend_call(entry);
    const families::BackendLayout* const row = call.row();
    REQUIRE(row != nullptr);
    const std::optional<families::KernelForm> form = families::kernel_form(*row, *call.role, call.setting);
    if (!form) {
      ++held.unknown;
      CHECK(entry.layout == "humming.fp8_block.a8b");
      continue;
    }
    ++held.compared;
    std::vector<std::int64_t> shape;
    for (const Json& extent : one.at("output").at("shape")) shape.push_back(extent.integer());
    const std::string want = text_of(one.at("output").at("dtype").text(), shape), got = text_of(form->dtype, form->shape);
    if (want != got)
      held.wrong[entry.layout + " " + entry.role + " " + std::string(families::name_of(call.setting.arch))] =
          entry.id + ": recorded " + want + ", here " + got;
  }
}

}  // namespace

TEST_CASE("packed tensors have the dtypes and shapes that converters returned") {
  Held held;
  for (const char* set : {"layouts", "layouts-rows", "layouts-humming", "layouts-fnuz"}) hold(set, held);
  std::string wrong;
  for (const auto& [which, what] : held.wrong) wrong += which + ": " + what + "\n";
  INFO(wrong);
  CHECK(wrong.empty());
  CHECK(held.compared > 600);
  // Humming with activations of 8 bits.
  CHECK(held.unknown == 3);
}
