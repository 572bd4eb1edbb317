#pragma once
// Files and checkpoint directories that tests make, right or wrong, in a temporary directory.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.hpp"
#include "support/safetensors.hpp"

namespace mx::tests {

/// A new empty directory, removed with everything in it at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void write_bytes(const std::filesystem::path& path, std::string_view bytes);
std::string read_bytes(const std::filesystem::path& path);

/// The bytes of a safetensors file, put together by hand: length of `header`, `header`, `data` zero bytes.
std::string container(std::string_view header, std::size_t data = 0);
/// The same with a length that need not be true.
std::string container_claiming(std::uint64_t length, std::string_view header, std::size_t data = 0);

/// Names of the eight tensors of a layer: w13 weight, scale, bias, w2 weight, scale, bias, router weight, bias.
enum class Names { hugging_face, original };
std::string tensor_name(Names names, int layer, std::size_t part);

/// A checkpoint directory before it is written. The default one is good: 2 layers in 2 shards with index and config, E=2, I=32, H=64, top-1.
struct Draft {
  std::map<std::string, std::vector<support::TensorData>> shards;  ///< by file name
  std::optional<std::string> config;                           ///< text of config.json
  bool has_index = true;
  std::map<std::string, std::string> index_edits;  ///< weight_map entries to change; "" removes one
  std::map<std::string, std::string> raw;          ///< other files, written last

  /// The tensor of that name; it must be there.
  support::TensorData& tensor(const std::string& name);
  void remove(const std::string& name);
  /// Gives a tensor another shape, its bytes cut or extended to fit.
  void reshape(const std::string& name, std::vector<std::int64_t> shape);
  void retype(const std::string& name, const std::string& dtype);
  void rename(const std::string& from, const std::string& to);
  void write(const std::filesystem::path& directory) const;
};
inline const std::string kFirstShard = "model-00001-of-00002.safetensors";
inline const std::string kSecondShard = "model-00002-of-00002.safetensors";
Draft good_draft(Names names = Names::hugging_face, int layers = 2);

/// What `call` threw, or none when it returned. Other exceptions than mx::Error pass through.
std::optional<Error> error_of(const std::function<void()>& call);

/// Checks that an error is one printable line about bad input that holds all parts. The result names what is wrong, or is empty.
std::string input_error_defect(const std::optional<Error>& error, const std::vector<std::string>& parts);

}  // namespace mx::tests
