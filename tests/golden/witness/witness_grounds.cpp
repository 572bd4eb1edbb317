// No row says more than was run: rows that say "run" name recordings, and the recordings are there.

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "golden/witness/layout_call.hpp"
#include "model/families/arithmetic.hpp"
#include "model/families/fnuz.hpp"
#include "model/families/libraries.hpp"
#include "model/families/recorded.hpp"
#include "model/grounds.hpp"
#include "model/numerics/contract.hpp"
#include "tests/catch.hpp"
#include "tests/golden/witness/scratch.hpp"

namespace mx::tests::witness {
namespace {

const std::filesystem::path kRoot = MXACT_ROOT;

/// Whether a set has entries whose ids contain the text, or a test has its file.
bool is_there(const Recording& recording) {
  const std::filesystem::path path = kRoot / recording.path;
  if (!std::filesystem::is_directory(path)) return recording.entry.empty() && std::filesystem::is_regular_file(path);
  const Json manifest = read_json(path / "manifest.json");
  return std::ranges::any_of(manifest.at("entries"),
                             [&](const Json& entry) { return entry.at("id").get<std::string>().find(recording.entry) != std::string::npos; });
}

void check(std::string_view row, Grounds grounds, std::span<const Recording> recordings) {
  INFO(row << " says " << name_of(grounds));
  CHECK(needs_recording(grounds) == !recordings.empty());
  for (const Recording& recording : recordings) {
    INFO(recording.path << " " << recording.entry);
    CHECK(is_there(recording));
  }
}

TEST_CASE("a row that says run names a recording, and it is there", "[witness]") {
  for (const ContractRow& row : all_contracts()) check(row.name, row.grounds, row.recordings);
  for (const ContractRow& row : tensor_core_contracts()) check(row.name, row.grounds, row.recordings);
  for (const families::Quantizer& row : families::all_quantizers()) check(row.name, row.grounds, row.recordings);
  for (const families::ExecutionRow& row : families::execution_rows()) {
    check(row.backend, row.grounds, row.recordings);
    for (const families::HeldOn& held : row.held) {
      CHECK(needs_recording(held.grounds));
      check(row.backend, held.grounds, held.recordings);
    }
  }
  for (const families::UnitRow& row : families::unit_rows()) {
    INFO(row.source);
    if (row.recordings.empty() && needs_recording(row.grounds)) CHECK(row_of(row.contract).grounds == row.grounds);
    for (const Recording& recording : row.recordings) CHECK(is_there(recording));
  }
  CHECK_FALSE(is_there({"golden/witness/numerics/gemm_hopper", "no entry has this"}));
  CHECK_FALSE(is_there({"golden/witness/none"}));
}

std::int64_t count_of(const Json& outputs) {
  std::int64_t count = 0;
  for (const auto& [name, output] : outputs.items()) {
    std::int64_t one = 1;
    for (const Json& side : output.at("shape")) one *= side.get<std::int64_t>();
    count += one;
  }
  return count;
}

TEST_CASE("what run says of a recording is what the recording says: libraries, device, and how many values", "[witness]") {
  std::set<std::string> numbers;  // whole ones of the column
  const Json document = read_json(kRoot / "docs" / "measured" / "sim.json");
  for (const Json& row : document.at("tables").begin()->at("rows")) {
    std::string cell = std::prev(row.end())->get<std::string>();
    std::ranges::replace_if(
        cell, [](unsigned char c) { return std::isdigit(c) == 0; }, ' ');
    std::stringstream words(cell);
    for (std::string word; words >> word;) numbers.insert(word);
  }
  for (const families::ExecutionRow& row : families::execution_rows()) {
    std::vector<Recording> recordings(row.recordings.begin(), row.recordings.end());
    for (const families::HeldOn& held : row.held) recordings.insert(recordings.end(), held.recordings.begin(), held.recordings.end());
    for (const Recording& recording : recordings) {
      INFO(row.backend << " " << recording.path << " " << recording.entry);
      const families::RecordedRun* const run = families::find_run(recording);
      REQUIRE(run != nullptr);
      CHECK(numbers.contains(std::to_string(run->values)));
    }
  }
  for (const families::RecordedRun& run : families::recorded_runs()) {
    INFO(run.recording.path << " " << run.recording.entry);
    CHECK_FALSE(run.data.empty());
    std::int64_t values = 0;
    std::set<std::string> devices, versions;
    const Json manifest = read_json(kRoot / run.recording.path / "manifest.json");
    for (const Json& entry : manifest.at("entries")) {
      if (entry.at("id").get<std::string>().find(run.recording.entry) == std::string::npos) continue;
      values += count_of(entry.at("outputs"));
      const std::string version = entry.at("profile").at("version").get<std::string>();
      versions.insert(version.substr(0, version.find(", driver")));
      std::string device = entry.at("profile").at("device").get<std::string>();
      std::ranges::transform(device, device.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
      devices.insert(device);
    }
    CHECK(values == run.values);
    CHECK(devices == std::set<std::string>{std::string(run.device)});
    CHECK(versions == std::set<std::string>{std::string(run.versions)});
  }
}

/// What the recordings have of one row, form and version.
struct Recorded {
  std::set<std::string> roles;
  bool stands_in = false;  ///< for a device's own code, or before a last layout

  Grounds grounds() const {
    const auto has = [&](const char* a, const char* b) { return roles.contains(a) || roles.contains(b); };
    const bool whole = roles.contains("all") || (has("w13_weight", "w2_weight") && has("w13_weight_scale", "w2_weight_scale"));
    return whole && !stands_in ? Grounds::run : Grounds::run_by_parts;
  }
};
using Key = std::tuple<layout::WeightFormat, std::string, deployment::Engine, layout::SourceOrder, bool>;

/// Whole conversions of the recorded sets that are held to the model.
std::map<Key, Recorded> recorded_conversions() {
  std::map<Key, Recorded> conversions;
  for (const char* set : {"layouts", "layouts-rows"}) {
    const Json manifest = read_json(recorded(set) / "manifest.json");
    for (const Json& json : manifest.at("entries")) {
      const auto text = [&](const char* key) { return json.contains(key) ? json.at(key).get<std::string>() : std::string(); };
      if (text("kind") == "error" || text("stage") == "stage-level") continue;
      golden::LayoutEntry entry;
      entry.json = &json;
      entry.kind = text("kind");
      entry.layout = text("layout");
      entry.stage = text("stage");
      entry.version = text("converter_version");
      entry.role = text("role");
      if (json.contains("arch")) entry.arch = text("arch");
      entry.params = &json.at("params");
      golden::BackendCall call;
      try {
        call = golden::backend_call(entry);
      } catch (const std::exception&) {
        continue;  // no whole conversion of the model's
      }
      layout::Form& form = call.setting.form;
      // The layer keeps a scale for gate and one for up.
      if (form.format == layout::WeightFormat::fp8_tensor && call.backend == "HUMMING" && entry.role == "all")
        form.format = layout::WeightFormat::fp8_pair;
      Recorded& one = conversions[{form.format, call.backend, call.setting.engine, form.order, form.gated}];
      one.roles.insert(entry.role);
      one.stands_in = one.stands_in || entry.stage == "before_swizzle" || text("note").find("stand-in") != std::string::npos;
    }
  }
  return conversions;
}

TEST_CASE("a row of conversions says no more than was run of it, by form and by version of the engine", "[witness]") {
  const std::map<Key, Recorded> conversions = recorded_conversions();
  CHECK(conversions.size() > 150);
  for (const families::BackendLayout& row : families::all_backend_layouts()) {
    CHECK((row.ran.grounds == Grounds::run_by_parts) == !row.ran.stand_ins.empty());
    for (const deployment::Engine engine : families::kConversionEngines) {
      for (const auto order : {layout::SourceOrder::standard, layout::SourceOrder::gpt_oss}) {
        for (const bool gated : {true, false}) {
          const layout::Form form(row.format, order, gated);
          if (!row.converts(form, engine)) continue;
          const auto found = conversions.find({row.format, std::string(row.backend), engine, order, gated});
          const Grounds says = families::grounds_of(row, form, engine);
          INFO(row.backend << " " << layout::name_of(row.format) << " " << deployment::name_of(engine) << " " << layout::name_of(order)
                           << (gated ? "" : " one matrix") << " says " << name_of(says));
          CHECK(needs_recording(says) == (found != conversions.end()));
          if (found != conversions.end()) CHECK(says >= found->second.grounds());
        }
      }
    }
  }
}

TEST_CASE("every library that a row names is one whose releases are known for the row's versions") {
  for (const families::BackendLayout& row : families::all_backend_layouts()) {
    if (row.calls_library.empty()) continue;
    for (const deployment::Engine engine : families::kConversionEngines) {
      INFO(row.backend << " " << row.calls_library);
      if (row.engines.has(engine)) CHECK_FALSE(families::asked_release(families::library_named(row.calls_library), engine).empty());
    }
  }
}

TEST_CASE("what a row stands on is no more than its weakest part") {
  using enum Grounds;
  CHECK(weaker(run, read) == read);
  CHECK(weaker(assumed, definition) == assumed);
  CHECK(weaker(run_by_parts, run) == run_by_parts);
  CHECK(weaker(published, read) == published);
}

// Whose kernels were seen to compute something else.
TEST_CASE("rows that real kernels contradicted are flagged on the device that showed it") {
  struct Flagged {
    layout::WeightFormat format;
    std::string_view backend;
    families::Arch arch;
  };
  using families::Arch, layout::WeightFormat;
  for (const Flagged& one : {Flagged{WeightFormat::int4, "CUTLASS", Arch::sm90},
                             {WeightFormat::mxfp4, "FLASHINFER_CUTLASS_MXFP4_BF16", Arch::sm90},
                             {WeightFormat::mxfp4, "CPU", Arch::cpu},
                             {WeightFormat::fp8_block, "CPU", Arch::cpu}}) {
    INFO(one.backend << " " << layout::name_of(one.format));
    const families::ExecutionRow& row = families::execution_of(one.format, one.backend);
    const families::Quantizer& none = families::quantizer_named("none");
    CHECK_FALSE(row.differences.empty());
    CHECK_FALSE(families::differences_of(row, {one.arch}, deployment::kDefaultEngine, none, none).empty());
  }
  const families::Quantizer& none = families::quantizer_named("none");
  const families::ExecutionRow& mixed = families::execution_of(WeightFormat::mxfp4, "FLASHINFER_CUTLASS_MXFP4_BF16");
  CHECK(families::differences_of(mixed, {Arch::gfx950}, deployment::kDefaultEngine, none, none).empty());
  // Packed for 8-bit activations, and executed with those of 16.
  const families::ExecutionRow& marlin = families::execution_of(WeightFormat::mxfp4, "MARLIN");
  families::Setting setting{
      .sizes = {1, 128, 256, 32}, .padded = {1, 128, 256, 32}, .form = {}, .engine = deployment::kDefaultEngine, .arch = Arch::sm90};
  CHECK(families::differences_of(marlin, families::operation_of(setting), deployment::kDefaultEngine, none, none).empty());
  setting.input_dtype = families::InputDtype::float8_e4m3fn;
  CHECK(families::differences_of(marlin, families::operation_of(setting), deployment::kDefaultEngine, none, none).size() == 1);
}

std::string page_of(const std::string& name) {
  std::ifstream file(kRoot / "docs" / name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST_CASE("docs/measured/contracts.json has every contract, its record and its evidence") {
  const Json document = read_json(kRoot / "docs/measured/contracts.json");
  std::map<std::string, std::pair<std::string, std::string>> listed;
  for (const Json& row : document.at("tables")[0].at("rows"))
    CHECK(listed.emplace(row[0].get<std::string>(), std::pair{row[2].get<std::string>(), row[3].get<std::string>()}).second);
  CHECK(listed.size() == all_contracts().size() + tensor_core_contracts().size());
  for (const std::span<const ContractRow> table : {all_contracts(), tensor_core_contracts()}) {
    for (const ContractRow& row : table) {
      INFO(row.name);
      REQUIRE(listed.contains(std::string(row.name)));
      CHECK(listed.at(std::string(row.name)) == std::pair{text_of(row), std::string(name_of(row.evidence))});
    }
  }
}

TEST_CASE("the legend of the glossary is the model's") {
  const std::string page = page_of("glossary.md");
  for (const GroundsWord& word : grounds_legend())
    CHECK(page.find("| " + std::string(word.name) + " | " + std::string(word.meaning) + " |") != std::string::npos);
  CHECK(page.find("| " + std::string(kKnownToDiffer) + " | " + std::string(kKnownToDifferMeaning) + " |") != std::string::npos);
}

}  // namespace
}  // namespace mx::tests::witness
