// The versioned set as files: every view holds its table, the committed part is what the generator writes, checksums are the standard's.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "golden/vectors/families.hpp"
#include "golden/vectors/files/oracle_cases.hpp"
#include "golden/vectors/files/sha256.hpp"
#include "golden/vectors/files/vector_files.hpp"
#include "golden/witness/oracle.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/error.hpp"
#include "support/json.hpp"
#include "support/safetensors.hpp"
#include "tests/catch.hpp"
#include "tests/golden/vectors/device.hpp"
#include "tests/json_text.hpp"
#include "tests/sim/verify/scratch.hpp"

namespace {

using mx::golden::Edition;
using mx::golden::SetPart;
using mx::golden::VectorTable;

constexpr mx::golden::SetId kFrozen{Edition::v1, SetPart::core};
const std::filesystem::path kSource = std::filesystem::path(MXACT_SOURCE_DIR) / "golden";

std::vector<std::uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  REQUIRE(stream.good());
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::set<std::string> files_below(const std::filesystem::path& directory) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) files.insert(std::filesystem::relative(entry.path(), directory).generic_string());
  }
  return files;
}

}  // namespace

TEST_CASE("SHA-256 of the standard's examples") {
  // NIST, FIPS 180-4 examples: "abc", 448 bits, and no bits at all.
  CHECK(mx::golden::sha256(bytes_of("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(mx::golden::sha256(bytes_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")) ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(mx::golden::sha256({}) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("every view of every committed table is read back as the table, and a changed byte is not") {
  for (const mx::golden::SetRow& row : mx::golden::all_set_rows()) {
    if (!row.core || row.since != Edition::v1) continue;
    const auto op = mx::golden::op_of(row, Edition::v1);
    const VectorTable table = mx::golden::table_of(row, *op);
    REQUIRE(table.rows() > 0);
    for (const mx::golden::VectorView& view : mx::golden::all_vector_views()) {
      INFO(mx::golden::stem_of(row, *op) << "." << view.extension);
      std::vector<std::uint8_t> bytes = view.write(table);
      CHECK(view.read(bytes, table.columns, "file") == table.lanes);
      bytes.resize(bytes.size() - 2);
      CHECK_THROWS_AS(view.read(bytes, table.columns, "file"), mx::Error);
    }
  }
}

TEST_CASE("safetensors views are safetensors to the bounded reader too") {
  const mx::golden::SetRow row{"quantize_mxfp4", {{"from", "bf16"}}, {mx::golden::SetKind::directed}, false};
  const auto op = mx::golden::op_of(row, Edition::v1_1);
  const VectorTable table = mx::golden::table_of(row, *op);
  const mx::tests::ScratchDirectory scratch;
  const std::filesystem::path path = scratch.path() / "a.safetensors";
  const std::vector<std::uint8_t> bytes = mx::golden::vector_view_named("safetensors").write(table);
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  const mx::support::SafetensorsFile file(path);
  const auto rows = static_cast<std::int64_t>(table.rows());
  REQUIRE(file.find("x") != nullptr);
  CHECK(file.find("x")->shape == std::vector<std::int64_t>{rows, 32});
  CHECK(file.find("x")->dtype->name == "U16");
  REQUIRE(file.find("elems") != nullptr);
  CHECK(file.find("elems")->shape == std::vector<std::int64_t>{rows, 32});
  CHECK(file.find("scale")->bytes[0] == table.lanes[32]);
}

TEST_CASE("decisions are read back as the deployments that were asked, and a changed answer is found") {
  const mx::golden::OracleSet& set = mx::golden::all_oracle_sets().front();
  REQUIRE(set.core);
  std::istringstream cases(mx::golden::oracle_files(set).cases);
  std::istringstream support(mx::golden::oracle_files(set).support);
  std::set<std::string> ids;
  std::set<std::string> changed_oracles;
  mx::golden::for_each_oracle_case(set, [&](const std::string& id, std::string_view oracle, const mx::deployment::Deployment& deployment) {
    INFO(id);
    std::string line, support_line;
    REQUIRE(std::getline(cases, line));
    REQUIRE(std::getline(support, support_line));
    mx::support::Json one = mx::tests::parsed(line);
    CHECK(one["id"] == id);
    CHECK(ids.insert(id).second);
    const auto read = mx::golden::recorded_selection(one);
    REQUIRE(read.has_value());
    CHECK(read->oracle == oracle);
    // What later versions alone read, the cases of this one do not say.
    mx::deployment::Deployment asked = deployment;
    for (const mx::deployment::SoftwareRow& row : mx::deployment::software_rows()) {
      if (row.since != mx::deployment::kVllm2026_05) asked.software.*row.answer = false;
    }
    CHECK(read->deployment == asked);
    // The answer by the model's own interface, not by the words of the file.
    const mx::engine::Decision decision = mx::engine::select(mx::deployment::kVllm2026_05, oracle, deployment);
    CHECK(decision.refusal.has_value() == one["result"].contains("error_type"));
    if (decision.choice) CHECK(one["result"]["backend"] == decision.choice->backend);
    CHECK(mx::golden::evaluate_oracle_case(one).equal);
    CHECK(mx::golden::evaluate_support_case(one, mx::tests::parsed(support_line)).equal);
    if (!decision.choice) return;
    one["result"]["backend"] = "ANOTHER";
    CHECK_FALSE(mx::golden::evaluate_oracle_case(one).equal);
    changed_oracles.insert(std::string(oracle));
  });
  std::string rest;
  CHECK_FALSE(std::getline(cases, rest));
  CHECK(changed_oracles.size() == 6);
  CHECK(ids.size() >= 300);
}

TEST_CASE("the committed set is the generator's, byte for byte, and below 5 MB") {
  const mx::golden::SetCheck check = mx::golden::check_set(kFrozen, kSource, {});
  CHECK(check.missing.empty());
  CHECK(check.different.empty());
  CHECK(check.unknown.empty());
  CHECK(check.files >= 60);
  std::uintmax_t size = 0;
  for (const std::string& file : files_below(kSource / "v1")) size += std::filesystem::file_size(kSource / "v1" / file);
  CHECK(size < 5'000'000);
}

TEST_CASE("edition v1.1 of the committed tables has the committed checksums") {
  std::string sums;
  mx::golden::make_set({Edition::v1_1, SetPart::core}, {}, [&](const mx::golden::SetFile& file) {
    if (file.path == "v1.1/SHA256SUMS") sums.assign(file.bytes.begin(), file.bytes.end());
  });
  CHECK(sums == content(kSource / "v1.1/SHA256SUMS"));
}

TEST_CASE("every table of v1.1 has v1's vectors and at most three times as many, or v1 has no such table") {
  const std::vector<mx::golden::TableGrowth> growth = mx::golden::set_growth({Edition::v1_1, SetPart::full});
  CHECK(growth.size() == mx::golden::all_set_rows().size());
  int more = 0, added = 0;
  for (std::size_t i = 0; i < growth.size(); ++i) {
    const mx::golden::SetRow& row = mx::golden::all_set_rows()[i];
    INFO(growth[i].stem);
    CHECK(growth[i].count > 0);
    CHECK((growth[i].before == 0) == (row.since == Edition::v1_1));
    added += growth[i].before == 0 ? 1 : 0;
    if (growth[i].before == 0) continue;
    CHECK(growth[i].stem == mx::golden::stem_of(row, *mx::golden::op_of(row, Edition::v1)));
    CHECK(growth[i].count >= growth[i].before);
    CHECK(growth[i].count <= 3 * growth[i].before);
    more += growth[i].count > growth[i].before ? 1 : 0;
  }
  CHECK(more > 300);
  CHECK(added == 12);
  CHECK_THROWS_WITH(mx::golden::set_growth({Edition::v1, SetPart::core}), Catch::Matchers::Contains("the first one"));
}

TEST_CASE("a table that misses a reachable bin is noticed, unless its vectors are random") {
  mx::golden::TableRecord record{"table", {{"set", {{"kind", "directed"}}}}, {{"rounding", 3, 3, 8, {}, {}}}};
  CHECK_FALSE(mx::golden::misses_bins({record}));
  record.coverage.push_back({"input", 1, 2, 2, {"zero"}, {}});
  CHECK(mx::golden::misses_bins({record}));
  record.manifest["set"]["kind"] = "random";
  CHECK_FALSE(mx::golden::misses_bins({record}));
}

TEST_CASE("a set is written whole, and not over another one") {
  const mx::tests::ScratchDirectory scratch;
  const std::size_t count = mx::golden::write_set(kFrozen, scratch.path(), false, {});
  CHECK(files_below(scratch.path() / "v1").size() == count);
  CHECK_THROWS_WITH(mx::golden::write_set(kFrozen, scratch.path(), false, {}), Catch::Matchers::Contains("--force"));
  const std::string sums = content(scratch.path() / "v1/SHA256SUMS");
  CHECK(static_cast<std::size_t>(std::ranges::count(sums, '\n')) == count - 1);

  std::ofstream(scratch.path() / "v1/NOTES.md") << "other\n";
  std::ofstream(scratch.path() / "v1/more.txt") << "more\n";
  std::filesystem::remove(scratch.path() / "v1/manifest.json");
  const mx::golden::SetCheck check = mx::golden::check_set(kFrozen, scratch.path(), {});
  CHECK(check.missing == std::vector<std::string>{"v1/manifest.json"});
  CHECK(check.different == std::vector<std::string>{"v1/NOTES.md"});
  CHECK(check.unknown == std::vector<std::string>{"v1/more.txt"});
}

TEST_CASE("of every table of the set: random vectors meet no bin that the directed set misses", "[.long]") {
  for (const mx::golden::SetRow& row : mx::golden::all_set_rows()) {
    const auto op = mx::golden::op_of(row, Edition::v1_1);
    INFO(mx::golden::stem_of(row, *op));
    const mx::golden::SetChoice random{mx::golden::SetKind::random, 5, op->family() == "moe" ? 100U : 5000U};
    CHECK(mx::tests::missed(*op, mx::tests::coverage_of(*op, random), mx::tests::coverage_of(*op, mx::tests::kDirected)) == "");
  }
}

TEST_CASE("names of files are unique, and every row of the set is an operation") {
  std::set<std::string> stems;
  for (const mx::golden::SetRow& row : mx::golden::all_set_rows()) {
    INFO(row.op);
    const auto op = mx::golden::op_of(row, Edition::v1_1);
    CHECK(stems.insert(mx::golden::stem_of(row, *op)).second);
    CHECK(mx::golden::VectorSet(*op, row.choice).count() > 0);
  }
  CHECK(stems.size() >= 400);
}
