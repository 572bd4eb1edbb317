#pragma once
// The floating-point mode that every sum of this project is meant in: to nearest even, subnormals kept, no traps. A host may run in another one, and
// a worker thread keeps the mode that it was born with: what computes sets its own and gives the host's back.

#include <cstdint>

namespace mx {

/// The control words of one thread: MXCSR and the x87 word, or FPCR.
struct FloatMode {
  std::uint64_t words = 0;
  std::uint32_t x87 = 0;

  friend bool operator==(const FloatMode&, const FloatMode&) = default;
};

#if defined(__x86_64__)
inline constexpr FloatMode kOrdinaryMode{0x1F80, 0x037F};
inline FloatMode float_mode() {
  std::uint16_t x87 = 0;
  asm volatile("fnstcw %0" : "=m"(x87));
  return {__builtin_ia32_stmxcsr(), x87};
}
/// Words of the two control registers, as float_mode gives them.
inline void set_float_mode(const FloatMode& mode) {
  const auto x87 = static_cast<std::uint16_t>(mode.x87);
  asm volatile("fldcw %0" : : "m"(x87));
  __builtin_ia32_ldmxcsr(static_cast<std::uint32_t>(mode.words));
}
/// Without the flags of exceptions that were met, which are no mode.
inline bool is_ordinary(const FloatMode& mode) { return (mode.words & ~std::uint64_t{0x3F}) == kOrdinaryMode.words && mode.x87 == kOrdinaryMode.x87; }
#elif defined(__aarch64__)
inline constexpr FloatMode kOrdinaryMode{};
inline FloatMode float_mode() {
  FloatMode mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode.words));
  return mode;
}
inline void set_float_mode(const FloatMode& mode) { asm volatile("msr fpcr, %0" : : "r"(mode.words)); }
inline bool is_ordinary(const FloatMode& mode) { return mode == kOrdinaryMode; }
#else
inline constexpr FloatMode kOrdinaryMode{};
inline FloatMode float_mode() { return {}; }
inline void set_float_mode(const FloatMode& /*mode*/) {}
inline bool is_ordinary(const FloatMode& /*mode*/) { return true; }
#endif

/// The ordinary mode from here to the end of the scope, in this thread.
class OrdinaryMode {
 public:
  OrdinaryMode() : was_(float_mode()) {
    if (!is_ordinary(was_)) set_float_mode(kOrdinaryMode);
  }
  ~OrdinaryMode() {
    if (!is_ordinary(was_)) set_float_mode(was_);
  }
  OrdinaryMode(const OrdinaryMode&) = delete;
  OrdinaryMode& operator=(const OrdinaryMode&) = delete;

  const FloatMode& was() const { return was_; }

 private:
  FloatMode was_;
};

}  // namespace mx
