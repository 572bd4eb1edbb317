// gen, ver and vectors as a user types them: devices are small programs between two pipes.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/json.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/json_text.hpp"

namespace {

using mx::tests::Run;
using mx::tests::run_json;
using mx::tests::run_mxact;
using mx::tests::ScratchDirectory;

/// A right device for e2m1_to_bf16: MX 1.0 section 5.3.3, magnitudes 0, 0.5, 1, 1.5, 2, 3, 4, 6 as bf16.
const std::string kDecoder =
    "awk 'BEGIN { split(\"0000 3f00 3f80 3fc0 4000 4040 4080 40c0 8000 bf00 bf80 bfc0 c000 c040 c080 c0c0\", value) }"
    " /^\\/\\// { print; next } { print $1, value[index(\"0123456789abcdef\", $1)] }'";

/// A pipe of commands, in which MXACT stands for the program; the redirections of a run are those of the whole.
Run run_pipe(std::string pipe) {
  for (std::size_t at = 0; (at = pipe.find("MXACT", at)) != std::string::npos;) pipe.replace(at, 5, "'" MXACT_PROGRAM "'");
  return mx::tests::run_program("{ " + pipe + "; }", "");
}

/// mxact gen | device | mxact ver.
Run through(const std::string& operation, const std::string& device, const std::string& options = "") {
  return run_pipe("MXACT gen " + operation + " | " + device + " | MXACT ver " + operation + " " + options);
}

}  // namespace

TEST_CASE("a device between gen and ver passes, and a broken one fails with its class") {
  const Run right = through("e2m1_to_bf16", kDecoder);
  INFO(right.out << right.err);
  CHECK(right.status == 0);
  CHECK(right.out.find("PASSED: 16 of 16 vectors checked, 0 wrong") != std::string::npos);

  const Run broken = through("e2m1_to_bf16", kDecoder + " | grep -v // | sed 's/ 8/ 0/; s/ b/ 3/; s/ c/ 4/'");
  CHECK(broken.status == 1);
  for (const char* part : {"a = 0x8 = 1 00 0 = -0", "sign: matches sign dropped", "FAILED: 16 of 16", "again: mxact gen e2m1_to_bf16"}) {
    INFO(broken.out << "\n" << part);
    CHECK(broken.out.find(part) != std::string::npos);
  }
}

TEST_CASE("of a long stream it is said that answers are a sample") {
  const std::string dropped =
      "awk '/^\\/\\// { print; next } { print $1, substr(\"0123456701234567\", index(\"0123456789abcdef\", substr($1, 1, 1)), 1) substr($1, 2) "
      "\"0000\" }'";
  const std::string operation = "bf16_to_f32 --set exhaustive --nan free";
  const Run text = through(operation, dropped);
  INFO(text.out << text.err);
  CHECK(text.status == 1);
  CHECK(text.out.find("32767 wrong") != std::string::npos);
  // Of 32767 wrong ones every 8th is one of at most 4096, of 32769 right ones every 16th.
  CHECK(text.out.find(": 4096 of 4096 wrong answers tried, one in 8, and all of 2049 right ones tried, one in 16\n") != std::string::npos);
  const mx::support::Json report = mx::tests::parsed(through(operation, dropped, "--json").out);
  CHECK(report["explanations"][0]["wrong_one_in"] == 8);
  CHECK(report["explanations"][0]["right_one_in"] == 16);
  CHECK(report["explanations"][0]["mismatches"] == 4096);
  CHECK(through("e2m1_to_bf16", kDecoder + " | grep -v // | sed 's/ 8/ 0/; s/ b/ 3/; s/ c/ 4/'").out.find("tried, one in") == std::string::npos);
}

TEST_CASE("streams that check too little end with 5, broken ones with 3") {
  CHECK(through("e2m1_to_bf16", kDecoder + " | head -12").status == 5);
  CHECK(through("e2m1_to_bf16", "cat > /dev/null").status == 5);
  const Run without = through("e2m1_to_bf16", "cat");
  CHECK(without.status == 3);
  CHECK(without.err.find("line 3: 1 field, expected 2: a:4, the device's r:16") != std::string::npos);
  CHECK(run_pipe("MXACT gen e2m1_to_bf16 | " + kDecoder + " | MXACT ver e2m1_to_fp16").status == 3);
  CHECK(through("e2m1_to_bf16", kDecoder + " | tr a-f A-F | sed 's/$/\\r/' | grep -v //").status == 0);
}

TEST_CASE("a rounding and an overflow that no profile has together are rules") {
  struct Row {
    std::string words;
    std::string profile;
    std::string line;  ///< an input near fp32's largest number, and its answer
  };
  // IEEE 754 7.4: toward zero a number beyond the largest stays the largest, 0x7B of e5m2; saturation gives 0x7BFF of fp16 and 0x7F7F of bf16.
  for (const Row& row : {Row{"f32_to_e5m2 --rounding toward_zero --overflow ieee", "profile=round=rtz,overflow=ieee", "7f7ffffe 7b"},
                         Row{"f32_to_fp16 --overflow saturate", "profile=round=rne,overflow=saturate", "7f7ffffe 7bff"},
                         Row{"f32_to_bf16 --overflow saturate", "profile=round=rne,overflow=saturate", "7f7ffffe 7f7f"},
                         Row{"f32_to_tf32 --rounding to_odd", "profile=round=odd,overflow=ieee", "7f7ffffe 3fbff"}}) {
    INFO(row.words);
    const Run made = run_mxact("gen " + row.words + " --with-expected");
    CHECK(made.status == 0);
    CHECK(made.out.find(row.profile) != std::string::npos);
    CHECK(made.out.find("\n" + row.line) != std::string::npos);
  }
}

TEST_CASE("gen and ver as JSON") {
  const mx::support::Json set = run_json("gen f32_to_e4m3 --set random --seed 7 --count 100");
  CHECK(set["schema"] == "mxact-gen/1");
  CHECK(set["facts"]["op"] == "f32_to_e4m3fn");
  CHECK(set["facts"]["seed"] == "7");
  CHECK(set["columns"][0]["bits"] == 32);
  const mx::support::Json families = run_json("gen --list");
  CHECK(families["families"].size() == 14);
  const Run run = through("e2m1_to_bf16", kDecoder, "--json");
  CHECK(run.status == 0);
  const mx::support::Json report = mx::tests::parsed(run.out);
  CHECK(report["schema"] == "mxact-ver/1");
  CHECK(report["verdict"] == "PASSED");
  CHECK(report["checked"] == 16);
  // Edition v1.1 asks how deep the source decided too, on either side.
  CHECK(report["coverage"].size() == 5);
  CHECK(mx::tests::parsed(through("e2m1_to_bf16 --edition v1", kDecoder, "--json").out)["coverage"].size() == 3);
}

TEST_CASE("the coverage of the core set as text, JSON and a page") {
  const ScratchDirectory scratch;
  const std::string page = (scratch.path() / "coverage.html").string();
  const Run text = run_mxact("vectors --core --coverage -o '" + page + "'");
  CHECK(text.status == 0);
  const mx::support::Json coverage = run_json("vectors --core --coverage")["coverage"];
  CHECK(coverage["tables"].size() == 71);
  CHECK(coverage["hit"] == coverage["reachable"]);
  CHECK(coverage["hit"].get<int>() > 3000);
  CHECK(text.out.starts_with("71 tables: " + coverage["hit"].dump() + " of " + coverage["reachable"].dump() + " reachable bins, "));
  std::ifstream stream(page);
  const std::string html{std::istreambuf_iterator<char>(stream), {}};
  for (const mx::support::Json& table : coverage["tables"]) {
    INFO(table["table"]);
    CHECK(html.find(table["table"].get<std::string>()) != std::string::npos);
    for (const mx::support::Json& axis : table["axes"]) {
      std::size_t unreachable = 0;
      for (const mx::support::Json& reason : axis["unreachable"]) {
        CHECK_FALSE(reason["reason"].get<std::string>().empty());
        unreachable += reason["bins"].size();
      }
      CHECK(axis["reachable"].get<std::size_t>() + unreachable == axis["total"]);
    }
  }
}

TEST_CASE("answers from a file, and what several runs covered together") {
  const ScratchDirectory scratch;
  const auto at = [&](const char* name) { return (scratch.path() / name).string(); };
  REQUIRE(run_pipe("MXACT gen e2m1_to_bf16 | " + kDecoder + " > '" + at("right") + "'").status == 0);
  const std::string ver = "ver e2m1_to_bf16 -i '" + at("right") + "'";
  CHECK(run_mxact(ver + " --coverage-out '" + at("directed.json") + "'").status == 0);
  CHECK(run_mxact(ver + " --coverage-out '" + at("directed.json") + "'").status == 3);  // it is there
  CHECK(run_mxact("ver e2m1_to_bf16 -i '" + at("nothing") + "'").status == 3);
  CHECK(run_mxact("ver e2m1_to_bf16 -i '" + scratch.path().string() + "'").status == 3);
  const std::string random = "e2m1_to_bf16 --set random --seed 2 --count 3";
  CHECK(run_pipe("MXACT gen " + random + " | " + kDecoder + " | MXACT ver " + random + " --coverage-out '" + at("random.json") + "'").status == 0);
  CHECK(
      run_pipe("MXACT gen e5m2_to_f32 | awk '{print $0, 0}' | grep -v // | MXACT ver e5m2_to_f32 --coverage-out '" + at("wrong.json") + "'").status ==
      1);
  const std::string v1 = "e2m1_to_bf16 --edition v1";
  CHECK(run_pipe("MXACT gen " + v1 + " | " + kDecoder + " | MXACT ver " + v1 + " --coverage-out '" + at("v1.json") + "'").status == 0);

  // Three random codes of sixteen hit few bins; the directed set all.
  CHECK(run_mxact("coverage merge '" + at("random.json") + "'").status == 1);
  const std::string both = "coverage merge '" + at("random.json") + "' '" + at("directed.json") + "'";
  const Run text = run_mxact(both + " -o '" + at("page.html") + "' --coverage-out '" + at("both.json") + "' --junit '" + at("junit.xml") + "'");
  INFO(text.out << text.err);
  CHECK(text.status == 0);
  CHECK(text.out.find("random, seed 2, 3 vectors") != std::string::npos);
  const mx::support::Json merged = run_json(both);
  CHECK(merged["runs"].size() == 2);
  CHECK(merged["coverage"]["hit"] == merged["coverage"]["reachable"]);
  CHECK(merged["wrong_bins"].empty());
  // What was merged is such a file again, with the same bins; several operations stand side by side.
  CHECK(run_json("coverage merge '" + at("both.json") + "'")["coverage"] == merged["coverage"]);
  const Run wrong = run_mxact("coverage merge '" + at("both.json") + "' '" + at("wrong.json") + "' --json");
  CHECK(wrong.status == 1);
  CHECK(mx::tests::parsed(wrong.out)["coverage"]["tables"].size() == 2);
  CHECK(mx::tests::parsed(wrong.out)["wrong_bins"].size() > 3);

  const Run editions = run_mxact("coverage merge '" + at("directed.json") + "' '" + at("v1.json") + "'");
  CHECK(editions.status == 3);
  CHECK(editions.err.find("v1.json: coverage of vectors v1, where " + at("directed.json") + " is of v1.1") != std::string::npos);
  const Run same = run_mxact("coverage merge '" + at("v1.json") + "' '" + at("v1.json") + "'");
  CHECK(same.status == 2);
  CHECK(same.err.find("named twice") != std::string::npos);
  // The same vectors under two names, merged with a record that has them, and more of one seed, which begin with the same ones.
  const std::string more = "e2m1_to_bf16 --set random --seed 2 --count 5";
  CHECK(run_pipe("MXACT gen " + more + " | " + kDecoder + " | MXACT ver " + more + " --coverage-out '" + at("more.json") + "'").status == 0);
  const std::string seed3 = "e2m1_to_bf16 --set random --seed 3 --count 3";
  CHECK(run_pipe("MXACT gen " + seed3 + " | " + kDecoder + " | MXACT ver " + seed3 + " --coverage-out '" + at("seed3.json") + "'").status == 0);
  std::filesystem::copy_file(at("directed.json"), at("copy.json"));
  for (const auto& [first, second] :
       {std::pair("directed.json", "copy.json"), std::pair("both.json", "copy.json"), std::pair("random.json", "more.json")}) {
    const Run twice = run_mxact("coverage merge '" + at(first) + "' '" + at(second) + "'");
    INFO(twice.err);
    CHECK(twice.status == 2);
    CHECK(twice.err.find(at(second) + " has the vectors of e2m1_to_bf16 (") != std::string::npos);
    CHECK(twice.err.find(", and so has " + at(first) + ": they would count twice") != std::string::npos);
  }
  CHECK(run_json("coverage merge '" + at("both.json") + "' '" + at("seed3.json") + "'")["runs"].size() == 3);
  CHECK(run_mxact("coverage merge '" + at("v1.json") + "' -o page.txt").status == 2);
  CHECK(run_mxact("coverage merge").status == 2);
  CHECK(run_mxact("coverage").status == 2);
}

TEST_CASE("gen and ver say which e4m3 it is, and how NaN answers are compared") {
  const Run gen = run_mxact("gen f32_to_e4m3");
  CHECK(gen.status == 0);
  CHECK(gen.out == run_mxact("gen f32_to_e4m3fn").out);
  CHECK(gen.err ==
        "mxact: f32_to_e4m3 is f32_to_e4m3fn: e4m3 is OCP's e4m3fn, whose top exponent holds numbers and one NaN; the e4m3 with IEEE 754's "
        "infinities is another format: e4m3ieee\n");
  for (const char* other : {"f32_to_e4m3fn", "f32_to_e4m3fnuz", "f32_to_e5m2", "quantize_mxfp8_e4m3"}) {
    INFO(other);
    CHECK(run_mxact("gen " + std::string(other)).err.empty());
  }
  CHECK(run_mxact("gen e4m3_to_f32").err.find("e4m3_to_f32 is e4m3fn_to_f32: ") != std::string::npos);
  CHECK(run_json("gen f32_to_e4m3")["notes"].size() == 1);
  const Run exact = through("e4m3_to_f32", "awk '/^[^\\/]/ { print $1, \"00000000\" }'");
  CHECK(exact.status == 1);
  CHECK(exact.out.starts_with("a NaN is right with the code 0x7fc00000 alone (--nan exact, the default; --nan free leaves sign and payload open)\n"));
  CHECK((exact.out + exact.err).find("e4m3_to_f32 is e4m3fn_to_f32: ") != std::string::npos);
  const Run free = through("e4m3fn_to_f32 --nan free", "awk '/^[^\\/]/ { print $1, \"00000000\" }'");
  CHECK(free.out.starts_with("a NaN is right whatever its sign and payload (--nan free)\n"));
}

TEST_CASE("misuse of the vector verbs is one line") {
  struct Row {
    const char* arguments;
    int status;
    const char* part;
  };
  for (const Row& row : {Row{"gen", 2, "OP is required"},
                         Row{"gen f32_to_e4m3x", 2, "unknown format 'e4m3x'"},
                         Row{"gen quantise_mxfp4", 2, "did you mean quantize_mxfp4?"},
                         Row{"gen f32_to_bf16 --set random", 2, "--count is required"},
                         Row{"quantize awq,block=2 1 2 3", 2, "3 values in a row are no whole blocks"},
                         Row{"quantize awq,block=2 1 2 --profile ocp-rna", 2, "take --rows alone: 'awq,block=2' says everything else"},
                         Row{"quantize awq,block=2 1 2 -o nowhere.svg", 2, "take --rows alone: 'awq,block=2' says everything else"},
                         Row{"quantize awq,block=2 1 2 1 nan", 2, "block 1, element 1 is nan: integers with a scale are of finite numbers"},
                         Row{"quantize awq,block=2 1 nan", 2, "element 1 is nan: integers with a scale are of finite numbers"},
                         Row{"formats --profile awq,zeros=u4", 2, "did you mean zero?"},
                         Row{"gen quantize_awq,block=256", 2, "has more than 128 elements in a block"},
                         Row{"gen dequantize_awq_to_bf16", 2, "become numbers of f32, not bf16"},
                         Row{"gen 'quantize_block=8,element=(e2m1,round=rne,overflow=saturate,nan=0),scale=e8m0,rule=floor' --profile ocp", 2,
                             "says its own rules: leave --profile out"},
                         Row{"gen f32_to_bf16 --set exhaustive", 2, "mxact sweep"},
                         Row{"gen quantize_mxfp4 --set exhaustive", 2, "vectors; --set random --count N draws as many as you say"},
                         Row{"gen dot_mxfp4_mxfp4 --set exhaustive", 2, "vectors; --set random --count N draws as many as you say"},
                         Row{"gen f32_to_bf16 --count 5", 2, "--count 5"},
                         Row{"gen f32_to_bf16 --set all", 2, "unknown set 'all'"},
                         Row{"ver f32_to_bf16 --shape 2x2", 2, "takes no --shape"},
                         Row{"gen f32_to_bf16 --edition v2", 2, "unknown edition 'v2'"},
                         Row{"vectors --core --coverage --edition 1", 2, "unknown edition '1'"},
                         Row{"vectors", 2, "say one of --output"},
                         Row{"vectors --coverage --check golden", 2, "say one of --output"},
                         Row{"vectors --growth --coverage", 2, "say one of --output"},
                         Row{"vectors --growth --edition v1", 2, "edition v1 is the first one"},
                         Row{"gen dot_mxfp4_mxfp4 --operand-c yes --edition v1", 2, "edition v1 has no operand C"},
                         Row{"ver dot_mxfp4_mxfp4 --operand-c 1", 2, "'1' is neither yes nor no"},
                         Row{"vectors --coverage -o coverage.txt", 2, "ends in .html"},
                         Row{"vectors --check /no-such-directory --core", 5, ""},
                         Row{"vectors -o /dev/null/set", 6, "/dev/null/set/v1.1"},
                         Row{"gen f32_to_bf16 --seed 5", 2, "--seed 5: a set that is directed has none"},
                         Row{"gen activation_silu_and_mul --type e4m3fn", 2, "e4m3fn"}}) {
    const Run run = run_mxact(row.arguments);
    INFO(row.arguments << "\n" << run.out << run.err);
    CHECK(run.status == row.status);
    CHECK(run.err.find(row.part) != std::string::npos);
  }
  CHECK(run_mxact("gen f32_to_bf16 > /dev/full").status == 6);
  CHECK(run_mxact("vectors --check /no-such-directory --core").out.starts_with("nothing of set v1.1 (core) is below /no-such-directory: "));
}

TEST_CASE("what each table grew by is said, and none grew to more than three times") {
  const Run text = run_mxact("vectors --core --growth");
  CHECK(text.status == 0);
  CHECK(text.out.find("\ncast/f32_to_e4m3fn.ocp.directed: 4624, in v1 2554: 1.81\n") != std::string::npos);
  CHECK(text.out.find("\ndot/dot_mxfp4_mxfp4.exact-32-operand-c-yes.directed: 445, not in v1\n") != std::string::npos);
  const mx::support::Json tables = run_json("vectors --core --growth")["growth"];
  CHECK(tables.size() == 71);
  for (const mx::support::Json& table : tables) CHECK(table["count"].integer() >= table["before"].integer());
}

TEST_CASE("the core set is written, checked, and a changed file found") {
  const ScratchDirectory scratch;
  const std::string directory = "'" + scratch.path().string() + "'";
  CHECK(run_json("vectors --core -o " + directory)["files"] == 76);
  CHECK(run_mxact("vectors --core --check " + directory).status == 0);
  CHECK(run_mxact("vectors --core -o " + directory).status == 3);
  std::ofstream(scratch.path() / "v1.1/NOTES.md") << "changed\n";
  const Run changed = run_mxact("vectors --core --check " + directory);
  CHECK(changed.status == 1);
  CHECK(changed.out.find("different  v1.1/NOTES.md") != std::string::npos);
}
