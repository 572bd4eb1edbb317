// Sweeps: digests by twin and by model, shards, states on disk and their merge. Digests are held against those recorded from hardware.

#include "sim/sweep/sweep.hpp"

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "model/error.hpp"
#include "model/numerics/rules.hpp"
#include "sim/sweep/state.hpp"
#include "tests/catch.hpp"
#include "tests/sim/verify/scratch.hpp"
#include "verbs/sweep/recorded.hpp"

namespace {

using mx::Error;
using mx::ErrorCode;
using mx::sim::Digests;
using mx::sim::Shard;
using mx::sim::SweepBy;
using mx::sim::SweepState;
using mx::sim::SweepSubject;
using mx::tests::ScratchDirectory;

const std::filesystem::path kSet = std::filesystem::path(MXACT_ROOT) / "golden/witness/numerics/sweep32";
const mx::Conversion kSatfinite{mx::Rounding::nearest_even, mx::Overflow::saturate, mx::NanRule::fixed, 0x7F, 0x7F, 0, false};
const SweepSubject kTwin{&mx::kE4m3fn, kSatfinite, SweepBy::twin};
const SweepSubject kModel{&mx::kE4m3fn, kSatfinite, SweepBy::model};

const std::string kBuild = "build=0123456789abcdef commit=abc";

template <typename Call>
std::pair<ErrorCode, std::string> error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

bool says(const std::pair<ErrorCode, std::string>& error, ErrorCode code, const std::string& part) {
  INFO(error.second);
  return error.first == code && error.second.find(part) != std::string::npos;
}

void write(const std::filesystem::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::string read(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

TEST_CASE("chunks by the twin and by the model have the digests recorded from hardware") {
  const auto recorded = mx::verbs::recorded_sweep(kSet / "f32.e4m3fn.nearest_even.saturate.ptx", mx::kE4m3fn);
  // 0x3F (about 0.5 to 2) rounds everywhere, 0x43 holds the overflow threshold, 0xFF the NaNs with set sign.
  for (int chunk : {0x3F, 0x43, 0xFF}) {
    INFO(chunk);
    CHECK(mx::sim::chunk_digest(chunk, kTwin) == recorded.digests[static_cast<std::size_t>(chunk)]);
  }
  CHECK(mx::sim::chunk_digest(0x43, kModel) == recorded.digests[0x43]);
}

TEST_CASE("shards share the chunks out, each to one") {
  for (int count : {1, 2, 3, 7, 256}) {
    std::vector<int> owners(mx::sim::kSweepChunks, 0);
    for (int index = 1; index <= count; ++index) {
      for (int chunk : mx::sim::missing_chunks({}, Shard{index, count})) ++owners[static_cast<std::size_t>(chunk)];
    }
    CHECK(owners == std::vector<int>(mx::sim::kSweepChunks, 1));
  }
  CHECK(mx::sim::shard_from("2/8").index == 2);
  CHECK(mx::sim::shard_from("2/8").count == 8);
  for (const char* text : {"0/4", "5/4", "1", "/", "1/", "/2", "a/b", "1/257", "-1/4", "1/4/4", " 1/4", ""}) {
    INFO(text);
    CHECK(says(error_of([&] { mx::sim::shard_from(text); }), ErrorCode::usage, "is not a shard"));
  }
}

TEST_CASE("a sweep does the chunks that are missing, tells each, and stops when asked") {
  Digests digests{};
  for (auto& digest : digests) digest = 1;
  digests[0x43].reset();
  digests[0x3F].reset();
  std::map<int, std::uint64_t> told;
  mx::sim::sweep(kTwin, {}, digests, {[&](int chunk, std::uint64_t digest) { told[chunk] = digest; }, {}});
  CHECK(told == std::map<int, std::uint64_t>{{0x3F, *digests[0x3F]}, {0x43, *digests[0x43]}});
  CHECK(*digests[0x43] == mx::sim::chunk_digest(0x43, kModel));
  CHECK(*digests[0] == 1);

  Digests none{};
  mx::sim::sweep(kTwin, {}, none, {{}, [] { return true; }});
  CHECK(mx::sim::missing_chunks(none).size() == 256);
  // What the hook throws comes out, and no further chunk begins.
  const auto failing = [&] { mx::sim::sweep(kTwin, {}, none, {[](int, std::uint64_t) { throw Error(ErrorCode::resource, "full"); }, {}}); };
  CHECK(says(error_of(failing), ErrorCode::resource, "full"));
  // So does what a chunk throws: a tier that nobody knows.
  setenv("MXACT_ISA", "nothing", 1);
  const auto misled = [&] { mx::sim::sweep(kTwin, {}, none, {}); };
  CHECK(says(error_of(misled), ErrorCode::usage, "'nothing'"));
  unsetenv("MXACT_ISA");
}

TEST_CASE("what cannot be swept is refused") {
  mx::Conversion stochastic = kSatfinite;
  stochastic.rounding = mx::Rounding::stochastic_floor;
  stochastic.random_bits = 8;
  CHECK(says(error_of([&] { mx::sim::require_sweepable({&mx::kE4m3fn, stochastic, SweepBy::model}); }), ErrorCode::usage, "random bits"));
  mx::Conversion refusing = kSatfinite;
  refusing.nan_rule = mx::NanRule::refused;
  CHECK(says(error_of([&] { mx::sim::require_sweepable({&mx::kE4m3fn, refusing, SweepBy::model}); }), ErrorCode::usage, "refuses NaN"));
  mx::Conversion payload = kSatfinite;
  payload.nan_rule = mx::NanRule::keep_payload;
  payload.overflow = mx::Overflow::ieee;
  CHECK_NOTHROW(mx::sim::require_sweepable({&mx::kFp16, payload, SweepBy::model}));
}

TEST_CASE("a state goes on where it stopped") {
  const ScratchDirectory scratch;
  const auto path = scratch.path() / "state";
  {
    SweepState state(path, kTwin, kBuild);
    CHECK(mx::sim::missing_chunks(state.known()).size() == 256);
    state.add(7, 0x0123456789abcdef);
    state.add(200, 42);
  }
  const std::string whole = read(path);
  CHECK(whole == "mxact-sweep/2 " + kBuild + " " + mx::sim::identity(kTwin) + "\nchunk 7 0x0123456789abcdef\nchunk 200 0x000000000000002a\n");
  // Every way in which the last write may have been cut.
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    write(path, whole.substr(0, size));
    SweepState state(path, kTwin, kBuild);
    state.add(9, 9);
    const auto record = mx::sim::read_sweep_state(path);
    CHECK(record.identity == mx::sim::identity(kTwin));
    CHECK(record.digests[9] == 9);
    CHECK(record.digests[200].has_value() == (size == whole.size()));
  }
}

TEST_CASE("a state of another conversion, or of another computer of it, is refused") {
  const ScratchDirectory scratch;
  const auto path = scratch.path() / "state";
  SweepState(path, kTwin, kBuild).add(1, 1);
  mx::Conversion nan = kSatfinite;
  nan.nan_negative = 0xFF;
  for (const SweepSubject& other :
       {kModel, SweepSubject{&mx::kE4m3fn, nan, SweepBy::twin}, SweepSubject{&mx::kE4m3fnuz, kSatfinite, SweepBy::twin}}) {
    CHECK(says(error_of([&] { SweepState(path, other, kBuild); }), ErrorCode::input, "another conversion"));
  }
  CHECK(says(error_of([&] { SweepState(path, kTwin, "build=0123456789abcdee commit=abc"); }), ErrorCode::input, "another build"));
  CHECK(mx::sim::read_sweep_state(path).digests[1] == 1);
  CHECK(mx::sim::read_sweep_state(path).build == kBuild);
  const SweepState held(path, kTwin, kBuild);
  CHECK(says(error_of([&] { SweepState(path, kTwin, kBuild); }), ErrorCode::resource, "in use"));
}

TEST_CASE("what is no state is refused, and left alone") {
  const ScratchDirectory scratch;
  const std::string head = "mxact-sweep/2 " + kBuild + " " + mx::sim::identity(kTwin) + "\n";
  const std::vector<std::pair<std::string, std::string>> table{
      {"hello\n", ":1: 'hello' is not the head"},
      {"hello", ":1: 'hello' is not the head"},
      {"mxact-sweep/1 " + mx::sim::identity(kTwin) + "\n", ":1:"},
      {"mxact-sweep/2 " + mx::sim::identity(kTwin) + "\n", ":1:"},
      {"mxact-sweep/2 " + kBuild + "\n", ":1:"},
      {head + "chunk 256 0x0000000000000001\n", ":2:"},
      {head + "chunk -1 0x0000000000000001\n", ":2:"},
      {head + "chunk 1 0x1\n", ":2:"},
      {head + "chunk 1 0x000000000000000G\n", ":2:"},
      {head + "chunk 1 0x0000000000000001 \n", ":2:"},
      {head + "chunk 01 0x0000000000000001\n", ":2:"},
      {head + "\n", ":2:"},
      {head + "chunk 1 0x0000000000000001\nchunk 1 0x0000000000000002\n", ":3: chunk 1 has digest"},
  };
  for (const auto& [text, message] : table) {
    const auto path = scratch.path() / "state";
    write(path, text);
    INFO(text);
    CHECK(says(error_of([&] { SweepState(path, kTwin, kBuild); }), ErrorCode::input, message));
    CHECK(read(path) == text);
  }
  CHECK(says(error_of([&] { mx::sim::read_sweep_state(scratch.path() / "nothing"); }), ErrorCode::input, "nothing"));
  CHECK(says(error_of([&] { SweepState(scratch.path(), kTwin, kBuild); }), ErrorCode::resource, "cannot be opened"));
}

TEST_CASE("merged states are one sweep, and contradictions are refused") {
  const ScratchDirectory scratch;
  const auto first = scratch.path() / "first";
  const auto second = scratch.path() / "second";
  const auto third = scratch.path() / "third";
  {
    SweepState a(first, kTwin, kBuild);
    SweepState b(second, kTwin, kBuild);
    for (int chunk = 0; chunk < 256; ++chunk) (chunk % 2 == 0 ? a : b).add(chunk, static_cast<std::uint64_t>(chunk) * 3);
    b.add(0, 0);  // an overlap that agrees
    SweepState c(third, kTwin, kBuild);
    c.add(8, 1);  // and one that does not
  }
  const std::vector<std::filesystem::path> both{first, second};
  const auto merged = mx::sim::merge_sweep_states(both);
  CHECK(mx::sim::missing_chunks(merged.digests).empty());
  CHECK(merged.digests[255] == 255 * 3);
  CHECK(mx::sim::target_of(merged).name == "e4m3fn");

  const std::vector<std::filesystem::path> half{first};
  CHECK(mx::sim::missing_chunks(mx::sim::merge_sweep_states(half).digests).size() == 128);
  const std::vector<std::filesystem::path> contradiction{first, third};
  CHECK(says(error_of([&] { mx::sim::merge_sweep_states(contradiction); }), ErrorCode::input, "third: chunk 8 has digest"));

  SweepState(scratch.path() / "model", kModel, kBuild).add(1, 3);
  const std::vector<std::filesystem::path> mixed{first, scratch.path() / "model"};
  CHECK(says(error_of([&] { mx::sim::merge_sweep_states(mixed); }), ErrorCode::input, "another conversion"));
  const auto foreign = scratch.path() / "foreign";
  SweepState(foreign, kTwin, "build=0123456789abcdee commit=abc").add(1, 3);
  const std::vector<std::filesystem::path> builds{first, foreign};
  CHECK(says(error_of([&] { mx::sim::merge_sweep_states(builds); }), ErrorCode::input, "foreign:1: is a sweep by another build"));
  auto forged = merged;
  forged.identity += "x";
  CHECK(says(error_of([&] { mx::sim::target_of(forged); }), ErrorCode::input, "is the conversion of no profile"));
  CHECK(says(error_of([&] { mx::sim::merge_sweep_states({}); }), ErrorCode::input, "no state files"));
}

TEST_CASE("a sweep by rules that their user wrote says them, and its target is found again") {
  const mx::Format& own = mx::format_named("e3m3,bias=5,finite,round=rne,overflow=saturate,nan=0");
  const mx::Profile& rules = mx::profile_named("round=rdn,overflow=ieee,infinity=largest");
  const SweepSubject subjects[] = {{&own, mx::conversion(mx::profile_named("ocp"), mx::kF32, own), SweepBy::twin},
                                   {&mx::kE4m3fn, mx::conversion(rules, mx::kF32, mx::kE4m3fn), SweepBy::model}};
  std::set<std::string> identities{mx::sim::identity(kTwin)};
  for (const SweepSubject& subject : subjects) {
    const std::string identity = mx::sim::identity(subject);
    INFO(identity);
    CHECK(identities.insert(identity).second);
    CHECK(mx::sim::target_of({"", identity, {}}).name == subject.to->name);
    CHECK_THROWS_AS(mx::sim::target_of({"", identity + "0", {}}), Error);
  }
  CHECK(mx::sim::identity(kTwin).find("rules=") == std::string::npos);
}

TEST_CASE("missing chunks are said as ranges of inputs") {
  CHECK(mx::sim::chunks_text({3, 4, 5, 9}) == "3-5, 9 (fp32 0x03000000-0x05ffffff, 0x09000000-0x09ffffff)");
  CHECK(mx::sim::chunks_text({255}) == "255 (fp32 0xff000000-0xffffffff)");
  CHECK(mx::sim::patterns_text(0) == "0x00000000-0x00ffffff");
}

TEST_CASE("recorded digests come from entries and raw files, and are written as such") {
  const ScratchDirectory scratch;
  const auto by_entry = mx::verbs::recorded_sweep(kSet / "f32.e4m3fn.nearest_even.saturate.ptx", mx::kE4m3fn);
  const auto by_manifest = mx::verbs::recorded_sweep(kSet / "manifest.json" / "f32.e4m3fn.nearest_even.saturate.ptx", mx::kE4m3fn);
  const auto by_file = mx::verbs::recorded_sweep(kSet / "e4m3fn.cuda_hw.satfinite.u64.bin", mx::kE4m3fn);
  CHECK(by_entry.digests == by_file.digests);
  CHECK(by_manifest.digests == by_file.digests);

  Digests digests{};
  for (std::size_t i = 0; i < digests.size(); ++i) digests[i] = by_file.digests[i];
  CHECK(mx::verbs::differing_chunks(digests, by_file).empty());
  mx::verbs::write_sweep(scratch.path() / "out", digests, false);
  CHECK(read(scratch.path() / "out") == read(kSet / "e4m3fn.cuda_hw.satfinite.u64.bin"));
  CHECK(error_of([&] { mx::verbs::write_sweep(scratch.path() / "out", digests, false); }).first == ErrorCode::input);
  digests[67] = *digests[67] ^ 1U;
  digests[1].reset();
  CHECK(mx::verbs::differing_chunks(digests, by_file) == std::vector<int>{67});

  const auto refused = [&](const std::filesystem::path& path, const mx::Format& to, ErrorCode code, const std::string& part) {
    CHECK(says(error_of([&] { mx::verbs::recorded_sweep(path, to); }), code, part));
  };
  refused(kSet / "f32.e4m3fn.nearest_even.saturate.ptxx", mx::kE4m3fn, ErrorCode::input, "did you mean f32.e4m3fn.nearest_even.saturate.ptx?");
  refused(kSet / "f32.e4m3fn.nearest_even.saturate.ptx", mx::kE5m2, ErrorCode::usage, "the entry has format \"e4m3fn\", the sweep \"e5m2\"");
  refused(kSet, mx::kE4m3fn, ErrorCode::input, "SET/ENTRY");
  refused(scratch.path() / "nothing", mx::kE4m3fn, ErrorCode::input, "SET/ENTRY");
  write(scratch.path() / "short", "12345678");
  refused(scratch.path() / "short", mx::kE4m3fn, ErrorCode::input, "8 bytes are not the 256 digests");
}
