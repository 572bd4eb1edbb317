#include "kernels/sweep/encode.hpp"

#include <array>
#include <string>
#include <variant>

#include "kernels/codec/arguments.hpp"
#include "kernels/sweep/encode_plan.hpp"
#include "kernels/word_by_word.hpp"
#include "model/error.hpp"
#include "model/ordinary_mode.hpp"

namespace mx::kernels {

struct sweep::Planned {
  Plan plan;
};

namespace {

using namespace sweep;

struct LoopsRow {
  std::uint32_t needs;
  const EncodeLoops* loops;
};
#if defined(__x86_64__) && !defined(MXACT_PORTABLE)
constexpr std::array kRows{LoopsRow{0, &kEncodePortable}, LoopsRow{kAvx2, &kEncodeAvx2}, LoopsRow{kAvx2 | kAvx512, &kEncodeAvx512}};
#else
constexpr std::array kRows{LoopsRow{0, &kEncodePortable}};
#endif

const EncodeLoops& loops_of(const IsaTier& tier) {
  require_runs_here(tier, "conversion from fp32");
  return *kernel_for(kRows, tier).loops;
}

template <class Code>
void run(std::span<const std::uint32_t> f32, const Plan& plan, const LoopsInto<Code>& loops, std::span<Code> codes) {
  if (const auto* powers = std::get_if<PowerPlan>(&plan)) return loops.powers(f32.data(), f32.size(), *powers, codes.data());
  loops.floating(f32.data(), f32.size(), std::get<FloatingPlan>(plan), codes.data());
}

/// Codes that are narrower than their inputs fit into theirs, and lie elsewhere.
template <class Code>
void require_narrow(std::span<const std::uint32_t> f32, const Format& to, std::span<Code> codes) {
  constexpr int kBits = 8 * sizeof(Code);
  if (to.width > kBits) {
    throw Error(ErrorCode::usage, std::string(to.name) + " has codes of " + std::to_string(to.width) + " bits, more than " + std::to_string(kBits));
  }
  if (f32.size() != codes.size()) {
    throw Error(ErrorCode::usage, std::to_string(f32.size()) + " inputs into " + std::to_string(codes.size()) + " codes: sizes that differ");
  }
  const std::array<Buffer, 2> buffers{{{"inputs", std::as_bytes(f32), sizeof(std::uint32_t)}, {"codes", std::as_bytes(codes), sizeof(Code)}}};
  require_separate(buffers);
}

Plan required_plan(const Format& to, const Conversion& how) {
  const Plan plan = plan_for(to, how);
  if (!std::holds_alternative<std::monostate>(plan)) return plan;
  throw Error(ErrorCode::unsupported, "no fast conversion f32 -> " + std::string(to.name) + " with rounding " + std::string(name_of(how.rounding)) +
                                          ", overflow " + std::string(name_of(how.overflow)));
}

constexpr std::uint32_t kChunkInputs = 1U << 24;

std::uint64_t chunk_digest(std::uint32_t chunk, const Plan& plan, const EncodeLoops& loops) {
  constexpr std::uint32_t kStep = 4096;
  std::array<std::uint32_t, kStep> inputs;
  std::array<std::uint32_t, kStep> codes;
  std::uint64_t digest = 0;
  for (std::uint32_t offset = 0; offset < kChunkInputs; offset += kStep) {
    const std::uint32_t first = chunk * kChunkInputs + offset;
    for (std::uint32_t i = 0; i < kStep; ++i) inputs[i] = first + i;
    run<std::uint32_t>(inputs, plan, loops.words, codes);
    digest += loops.weigh(inputs.data(), codes.data(), kStep);
  }
  return digest;
}

}  // namespace

bool has_encode(const Format& to, const Conversion& how) { return !std::holds_alternative<std::monostate>(plan_for(to, how)); }

void encode(std::span<const std::uint32_t> f32, const Format& to, const Conversion& how, std::span<std::uint32_t> codes, const IsaTier& tier) {
  require_word_by_word({"inputs", f32}, {"codes", codes});
  run(f32, required_plan(to, how), loops_of(tier).words, codes);
}
void encode(std::span<const std::uint32_t> f32, const Format& to, const Conversion& how, std::span<std::uint16_t> codes, const IsaTier& tier) {
  require_narrow(f32, to, codes);
  run(f32, required_plan(to, how), loops_of(tier).halves, codes);
}

void encode(std::span<const std::uint32_t> f32, const Format& to, const Conversion& how, std::span<std::uint8_t> codes, const IsaTier& tier) {
  require_narrow(f32, to, codes);
  run(f32, required_plan(to, how), loops_of(tier).bytes, codes);
}

Encoder::Encoder(const Format& to, const Conversion& how) {
  const Plan plan = plan_for(to, how);
  if (!std::holds_alternative<std::monostate>(plan)) plan_ = std::make_shared<const Planned>(Planned{plan});
}

void Encoder::operator()(std::span<const std::uint32_t> f32, std::span<std::uint32_t> codes, const IsaTier& tier) const {
  run(f32, plan_->plan, loops_of(tier).words, codes);
}
void Encoder::operator()(std::span<const std::uint32_t> f32, std::span<std::uint16_t> codes, const IsaTier& tier) const {
  run(f32, plan_->plan, loops_of(tier).halves, codes);
}
void Encoder::operator()(std::span<const std::uint32_t> f32, std::span<std::uint8_t> codes, const IsaTier& tier) const {
  run(f32, plan_->plan, loops_of(tier).bytes, codes);
}

std::uint64_t sweep_digest(std::uint32_t chunk, const Format& to, const Conversion& how, const IsaTier& tier) {
  if (chunk >= kSweepChunks) throw Error(ErrorCode::usage, "chunk " + std::to_string(chunk) + " of " + std::to_string(kSweepChunks));
  return chunk_digest(chunk, required_plan(to, how), loops_of(tier));
}

std::vector<std::uint64_t> sweep_digests(const Format& to, const Conversion& how) {
  const Plan plan = required_plan(to, how);
  const EncodeLoops& loops = loops_of(isa_tier());
  std::vector<std::uint64_t> digests(kSweepChunks);
#pragma omp parallel for schedule(static, 1)
  for (std::uint32_t chunk = 0; chunk < kSweepChunks; ++chunk) {
    const OrdinaryMode mode;
    digests[chunk] = chunk_digest(chunk, plan, loops);
  }
  return digests;
}

}  // namespace mx::kernels
