// One flipped byte anywhere in a converted tensor makes verify fail, naming tensor, logical index and physical address.

#include <cstdint>
#include <string>

#include "sim/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/sim/verify/scratch.hpp"

namespace {

using mx::checkpoint::Checkpoint;
using mx::families::PackedLayer;
using mx::layout::PackedTensor;
using mx::layout::Role;
using mx::sim::Verdict;
using mx::sim::VerifyOptions;
using mx::sim::VerifyReport;

struct Target {
  const char* platform;
  const char* backend;
};

VerifyOptions options_for(const Target& target) {
  VerifyOptions options;
  options.engine = mx::deployment::kVllm2026_05;
  options.platforms = {target.platform};
  options.backends = {target.backend};
  options.tp = {1};
  options.tokens = 1;
  options.contracts = {mx::Contract::f32_sequential};
  return options;
}

/// Runs verify with one byte of one tensor flipped by `mask`.
VerifyReport flipped(const Checkpoint& checkpoint, const Target& target, Role role, std::size_t byte, std::uint8_t mask) {
  VerifyOptions options = options_for(target);
  options.tamper = [=](PackedLayer& layer) {
    for (PackedTensor& tensor : layer.tensors) {
      if (tensor.role == role) tensor.bytes[byte] = static_cast<std::uint8_t>(tensor.bytes[byte] ^ mask);
    }
  };
  return mx::sim::verify(checkpoint, options);
}

}  // namespace

TEST_CASE("a flipped byte makes verify fail and says where") {
  const mx::tests::ScratchDirectory scratch;
  // Sizes that every one of these backends pads: hidden 160 and intermediate 96.
  mx::checkpoint::write_synthetic_checkpoint(scratch.path() / "model", {1, 2, 160, 96, 2, 1});
  const Checkpoint checkpoint(scratch.path() / "model");
  std::uint64_t state = 42;
  for (const Target& target : {Target{"SM100", "FLASHINFER_TRTLLM_MXFP4_BF16"}, Target{"SM100", "FLASHINFER_TRTLLM_MXFP4_MXFP8"},
                               Target{"SM120", "FLASHINFER_CUTLASS_MXFP4_MXFP8"}, Target{"XPU", "XPU"}, Target{"gfx950", "EMULATION"}}) {
    REQUIRE(mx::sim::verify(checkpoint, options_for(target)).exit_code() == 0);
    for (Role role : mx::layout::kRoles) {
      std::size_t size = 0;
      VerifyOptions probe = options_for(target);
      probe.tamper = [&](PackedLayer& layer) { size = layer.find(role)->bytes.size(); };
      mx::sim::verify(checkpoint, probe);
      REQUIRE(size > 0);
      for (int trial = 0; trial < 6; ++trial) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        const std::size_t byte = trial == 0 ? 0 : trial == 1 ? size - 1 : static_cast<std::size_t>(state >> 33U) % size;
        const VerifyReport report = flipped(checkpoint, target, role, byte, static_cast<std::uint8_t>(1U << (state >> 29U & 7U)));
        INFO(target.backend << " " << name_of(role) << " byte " << byte << ": " << report.conversions[0].detail);
        CHECK(report.exit_code() == 1);
        CHECK(report.conversions[0].units_differing == 1);
        const std::string& detail = report.conversions[0].detail;
        CHECK(detail.find(std::string(name_of(role))) != std::string::npos);
        CHECK((detail.find("[") != std::string::npos || detail.find("padding") != std::string::npos));
        CHECK(detail.find("byte ") != std::string::npos);
      }
    }
  }
}

TEST_CASE("the logical index and the physical address of a flipped byte are the right ones") {
  const mx::tests::ScratchDirectory scratch;
  mx::checkpoint::write_synthetic_checkpoint(scratch.path() / "model", {1, 1, 256, 256, 1, 1});
  const Checkpoint checkpoint(scratch.path() / "model");
  const Target target{"SM100", "FLASHINFER_TRTLLM_MXFP4_BF16"};
  // Destination row 1 of w13 takes source row 4 after the pairs are swapped: source row 5 = up of row 2. Byte 130 of 128-byte rows is byte 2 of that
  // row: elements 4 and 5.
  const std::string low = flipped(checkpoint, target, Role::w13_weight, 130, 0x01).conversions[0].detail;
  INFO(low);
  CHECK(low.find("w13_weight") != std::string::npos);
  CHECK(low.find("E=0") != std::string::npos);
  CHECK(low.find("half=up") != std::string::npos);
  CHECK(low.find("I=2") != std::string::npos);
  CHECK(low.find("K=4") != std::string::npos);
  CHECK(low.find("byte 130") != std::string::npos);
  const std::string high = flipped(checkpoint, target, Role::w13_weight, 130, 0x10).conversions[0].detail;
  INFO(high);
  CHECK(high.find("K=5") != std::string::npos);
}
