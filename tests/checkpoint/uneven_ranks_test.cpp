// gpt-oss over ranks that do not share its blocks of 32 evenly: parts of whole blocks, rounded up, zeros behind the last rank's.

#include <string>
#include <vector>

#include "checkpoint/convert.hpp"
#include "checkpoint/shard.hpp"
#include "sim/ranks/plan.hpp"
#include "sim/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/convert_files.hpp"
#include "tests/checkpoint/published_forms.hpp"
#include "tests/layout/errors.hpp"

namespace mx::tests {
namespace {

namespace fs = std::filesystem;
using layout::Role;

constexpr int kRanks = 4;

/// 10 blocks: 3, 3, 3 and 1 on four ranks.
void write_source(const fs::path& source) {
  checkpoint::write_synthetic_checkpoint(source, {.layers = 2, .experts = 3, .hidden = 256, .intermediate = 320, .top_k = 2});
}

checkpoint::ConvertOptions options_of(const std::string& backend, families::Arch arch, int rank) {
  checkpoint::ConvertOptions options{.backend = backend, .setting = {}, .rank = rank};
  options.setting.arch = arch;
  options.setting.tp_size = kRanks;
  return options;
}

/// What the engine's loader leaves on a rank, by the simulator's own copy of rows and columns.
layout::CanonicalLayer loaded(const layout::CanonicalLayer& whole, int rank, std::int64_t allocated) {
  deployment::ParallelRequest parallel;
  parallel.tp = kRanks;
  const sim::Plan plan = sim::make_plan({.parallel = parallel,
                                         .form = whole.form,
                                         .whole = whole.sizes,
                                         .allocated_hidden = whole.sizes.hidden,
                                         .allocated_intermediate = allocated,
                                         .address = families::ExpertAddress::map,
                                         .expert_groups = 0,
                                         .engine = deployment::kDefaultEngine});
  sim::RankPlan part = plan.ranks[static_cast<std::size_t>(rank)];
  part.loads_w2_bias = true;
  return sim::loaded_layer(whole, plan, part);
}

/// Converts every rank, holds it to what the loader leaves in `each` entries of I, and restores from all of them.
void check_ranks(const fs::path& source, const std::string& backend, families::Arch arch, std::int64_t each) {
  const TemporaryDirectory directory;
  const layout::CanonicalLayer whole = checkpoint::Checkpoint(source).layer(0).experts;
  std::vector<fs::path> packed;
  for (int rank = 0; rank < kRanks; ++rank) {
    INFO(rank);
    packed.push_back(directory.path() / std::to_string(rank));
    const checkpoint::ConvertReport report = checkpoint::convert_checkpoint(source, packed.back(), options_of(backend, arch, rank));
    CHECK(report.losses.empty());
    const families::Setting& setting = report.converted.front().setting;
    CHECK(setting.sizes.intermediate == each);
    const layout::CanonicalLayer part = loaded(whole, rank, each);
    CHECK(checkpoint::shard(whole, {rank, kRanks, each}).tensors == part.tensors);
    CHECK(packed_difference(packed.back() / kFirstLayer, part, backend, setting) == "");
  }
  CHECK(file_differences(source, restored_from(packed, directory.path() / "restored")) == "");
}

}  // namespace

TEST_CASE("ranks that do not share the blocks evenly have what the engine's loader gives them, and give the checkpoint back") {
  struct Case {
    std::string backend;
    families::Arch arch;
  };
  for (const Case& c : std::vector<Case>{{"TRITON", families::Arch::sm90},
                                         {"MARLIN", families::Arch::sm90},
                                         {"FLASHINFER_TRTLLM_MXFP4_BF16", families::Arch::sm100},
                                         {"EMULATION", families::Arch::sm100}}) {
    INFO(c.backend);
    const TemporaryDirectory directory;
    write_source(directory.path() / "source");
    check_ranks(directory.path() / "source", c.backend, c.arch, 96);
  }
}

TEST_CASE("ranks of other forms have what their buffers hold, which the engine rounds up") {
  // 128 over four ranks is 32 each, in buffers of 64: two ranks have all of it.
  const TemporaryDirectory directory;
  const fs::path source = directory.path() / "source";
  fs::create_directory(source);
  published_draft(published_form("mxfp4-stacked")).write(source);
  check_ranks(source, "TRITON", families::Arch::sm90, 64);
}

TEST_CASE("a buffer that has no room for a rank's part is refused as the engine raises") {
  const TemporaryDirectory directory;
  write_source(directory.path() / "source");
  const std::optional<Error> error = error_of([&] {
    checkpoint::convert_checkpoint(directory.path() / "source", directory.path() / "packed", options_of("B12X_MXFP4_BF16", families::Arch::sm120, 0));
  });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::usage);
  CHECK(std::string(error->what()).find("makes a buffer of 80 intermediate rows for a rank, and its loader copies 96 into it") != std::string::npos);
  // What is not rounded up has equal parts, of whole groups.
  CHECK(refuses(ErrorCode::usage, "is not a whole number of scale groups of 128", [] {
    checkpoint::rank_sizes({1, 320, 128, 128}, layout::Form(layout::WeightFormat::fp8_block, layout::SourceOrder::standard), kRanks);
  }));
}

TEST_CASE("verify checks every rank of an uneven cut") {
  const TemporaryDirectory directory;
  write_source(directory.path() / "source");
  sim::VerifyOptions options;
  options.platforms = {"SM90"};
  options.tp = {kRanks};
  const sim::VerifyReport report = sim::verify(checkpoint::Checkpoint(directory.path() / "source"), options);
  REQUIRE_FALSE(report.cells.empty());
  REQUIRE(report.cells.front().conversion);
  const sim::ConversionResult& chosen = report.conversions[*report.cells.front().conversion];
  CHECK(chosen.verdict == sim::Verdict::passed);
  CHECK(chosen.sizes.intermediate == 96);
  CHECK(chosen.units_differing == 0);
  CHECK(chosen.outputs_compared > 0);
  // Of 16 ranks ten have a block each, and the others nothing, which is no reason to mistrust what those ten showed.
  options.tp = {16};
  const sim::VerifyReport many = sim::verify(checkpoint::Checkpoint(directory.path() / "source"), options);
  const sim::ConversionResult& of_many = many.conversions[*many.cells.front().conversion];
  CHECK(of_many.verdict == sim::Verdict::passed);
  CHECK(of_many.sizes.intermediate == 32);
  CHECK(of_many.units_differing == 0);
  options.tp = {kRanks};
  // A damaged byte of the last rank is seen.
  bool is_tampered = false;
  options.backends = {chosen.backend};
  options.tamper = [&](families::PackedLayer& packed) {
    packed.tensors.front().bytes.front() ^= 1U;
    is_tampered = true;
  };
  CHECK(sim::verify(checkpoint::Checkpoint(directory.path() / "source"), options).conversions.front().verdict == sim::Verdict::failed);
  CHECK(is_tampered);
}

}  // namespace mx::tests
