#pragma once
// Fast twin of mx::convert for fp32 sources: the same codes, by table and bit tricks instead of exact values.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/isa.hpp"
#include "model/numerics/convert.hpp"

namespace mx::kernels {

/// True when the twin knows this conversion; otherwise use the model.
bool has_encode(const Format& to, const Conversion& how);

/// Codes of fp32 bit patterns, equal to mx::convert(x, kF32, to, how) for every input. Codes may take the place of the inputs.
/// Before anything is written, throws Error(usage) for sizes that differ, for memory that begins at no multiple of 4 bytes and for any other overlap,
/// Error(unsupported) when has_encode is false or the tier does not run here, and what isa_tier() throws. The processor's rounding mode must be
/// nearest even; flushing of subnormals does not matter.
void encode(std::span<const std::uint32_t> f32, const Format& to, const Conversion& how, std::span<std::uint32_t> codes,
            const IsaTier& tier = isa_tier());

/// The same for formats of at most 16 or 8 bits, two bytes or one a code, which must not overlap the inputs. Errors as above, Error(usage) also for a
/// wider format.
void encode(std::span<const std::uint32_t> f32, const Format& to, const Conversion& how, std::span<std::uint16_t> codes,
            const IsaTier& tier = isa_tier());
void encode(std::span<const std::uint32_t> f32, const Format& to, const Conversion& how, std::span<std::uint8_t> codes,
            const IsaTier& tier = isa_tier());

namespace sweep {
struct Planned;
}

/// A conversion from fp32 whose plan is made once: for callers of many small arrays. The format is one of the model's rows.
class Encoder {
 public:
  Encoder() = default;  ///< knows nothing
  Encoder(const Format& to, const Conversion& how);

  /// has_encode(). Nothing is called where it is false.
  bool knows() const { return plan_ != nullptr; }
  /// As encode(), without its checks of sizes and memory, by a tier that runs here.
  void operator()(std::span<const std::uint32_t> f32, std::span<std::uint32_t> codes, const IsaTier& tier) const;
  void operator()(std::span<const std::uint32_t> f32, std::span<std::uint16_t> codes, const IsaTier& tier) const;
  void operator()(std::span<const std::uint32_t> f32, std::span<std::uint8_t> codes, const IsaTier& tier) const;

 private:
  std::shared_ptr<const sweep::Planned> plan_;
};

/// Parts of a sweep, of 2^24 inputs each.
inline constexpr std::uint32_t kSweepChunks = 256;

/// Digest of the codes of all 2^32 fp32 patterns, one word per 2^24 inputs (kSweepChunks words), all threads. The digest of chunk c is the sum over
/// its patterns i of (code(i) + 1) * mix(i) mod 2^64, mix as recorded witness sets define it ("mix64_sum"). Throws Error(unsupported) when has_encode
/// is false. By the tier in use.
std::vector<std::uint64_t> sweep_digests(const Format& to, const Conversion& how);

/// One word of sweep_digests, by the calling thread: chunk below kSweepChunks.
std::uint64_t sweep_digest(std::uint32_t chunk, const Format& to, const Conversion& how, const IsaTier& tier = isa_tier());

}  // namespace mx::kernels
