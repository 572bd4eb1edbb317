#pragma once
// What this machine allows, measured when asked: the roof over a product's rate at this moment, on a machine that others may share.

namespace mx::bench {

/// Bytes per second that one thread reads from memory, over 256 MiB.
double memory_read();

/// Operations per second of one thread (a multiplication and an addition are two), 0 where the processor lacks the instruction.
double bf16_dot_peak();  ///< VDPBF16PS, 512 bits
double int8_dot_peak();  ///< VPDPBUSD, 512 bits
double f32_fma_peak();   ///< VFMADD231PS, 256 bits

}  // namespace mx::bench
