#pragma once
// Reading the inputs of recorded oracle cases: what the form fixes is checked, a word that the model does not know makes the case unmodelled.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "golden/witness/fields.hpp"
#include "model/deployment/deployment.hpp"
#include "model/engine/vllm/env.hpp"

namespace mx::golden {

/// Reads values whose type the form fixes: anything else breaks the file.
class Values {
 public:
  Values(const Json& object, const std::string& what, const std::string& where, Missing missing = Missing::lacks_input)
      : fields_(object, what, where, missing), what_(what) {}

  const Json& at(std::string_view key) { return fields_.at(key); }
  std::string text(std::string_view key);
  std::string text_or_null(std::string_view key);  ///< null is empty
  bool boolean(std::string_view key);
  bool flag(std::string_view key) { return has(key) && boolean(key); }  ///< absent is false
  std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high) { return checked(key, at(key), low, high); }
  int small(std::string_view key, int low) { return static_cast<int>(integer(key, low, deployment::kLargestGroup)); }
  std::int64_t size(std::string_view key) { return integer(key, 1, deployment::kLargestSize); }
  /// null is none.
  std::optional<std::int64_t> integer_or_null(std::string_view key, std::int64_t low, std::int64_t high);
  std::optional<double> number_or_null(std::string_view key);
  /// An object that is only there or not: "set" or null.
  bool presence(std::string_view key);
  std::int64_t checked(std::string_view key, const Json& value, std::int64_t low, std::int64_t high);
  /// Marks a key as known that follows from others or is not looked at.
  void ignore(std::string_view key) { fields_.find(key); }
  bool has(std::string_view key) const { return fields_.has(key); }
  /// Throws Unmodelled when a key was not read.
  void finish() const { fields_.finish(); }
  [[noreturn]] void wrong(std::string_view key, const std::string& rule, const Json& value);

 private:
  Fields fields_;
  std::string what_;
};

/// Written as it is read, without what follows from the rest.
Json hardware_json(const deployment::Hardware& hardware);
deployment::Hardware read_hardware(const Json& json, const std::string& where);
/// `values` holds the object's fields, which `where` names in messages.
engine::Environment read_environment(Values& values, const std::string& where);
/// The seven keys of `parallel`, written and read.
Json parallel_json(const deployment::ParallelRequest& request);
deployment::ParallelRequest read_parallel(Values& values);
/// What the model derives of it, with the keys of `parallel_derived`.
Json derived_json(const deployment::ParallelRequest& request, deployment::Engine engine);

}  // namespace mx::golden
