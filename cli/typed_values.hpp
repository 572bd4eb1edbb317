#pragma once
// Numbers for encode, decode and quantize: words of the command line, of standard input, or elements of .npy files.

#include <string>
#include <vector>

namespace mx::cli {

/// What the elements of a .npy file become: one word each, as it could have been typed.
enum class Elements {
  values,  ///< float16, float32, float64 as their bits, in the source format of that name alone; signed integers as numbers; others as codes
  codes,   ///< unsigned integers, and the types of one or two bytes that numpy has no name for
};

/// The words; without any those of standard input; in the place of a word that ends with .npy that file's elements in C order. `source` is the name
/// of the format that values are read as. Throws Error(usage) where there is no value, more than 2^20 of them, or where elements are not of `source`;
/// Error(input) for a file that is no such array; Error(resource) where standard input cannot be read.
std::vector<std::string> typed_values(const std::vector<std::string>& words, Elements elements, const std::string& source);

}  // namespace mx::cli
