#pragma once
// Cards by the names that people and drivers have for them. A card is a row: the platform that it is, and what its data sheet says of it.

#include <span>
#include <string>
#include <string_view>

namespace mx::deployment {

/// A card as it is sold. Nothing in choosing reads units or memory; they are for people.
struct Device {
  std::string_view name;            ///< "RTX PRO 6000"
  std::string_view platform;        ///< name of a preset; empty: no preset is that card, and `why` says why
  int units = 0;                    ///< multiprocessors, compute units or Xe cores of one device; 0: no public number
  std::string_view gigabytes = {};  ///< memory of one device as it is sold, "40, 80" where there are several; empty: no public number
  std::string_view source = {};
  std::span<const std::string_view> others = {};  ///< further names: "GB10" is the DGX Spark
  std::string_view why = {};
};
std::span<const Device> all_devices();

/// The card that a word means, or null. Case, blanks and marks are not looked at, and words that say who made it, its socket, its memory and its
/// housing are passed over: "NVIDIA H100 80GB HBM3" is H100, "AMD_Instinct_MI300X" MI300X.
const Device* find_device(std::string_view word);

/// One line for a word that is neither a preset nor a card: the nearest of both, then all of them. A word that several cards share ("RTX 6000")
/// names these.
std::string unknown_platform(std::string_view word);

}  // namespace mx::deployment
