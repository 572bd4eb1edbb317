#include "cli/vector_options.hpp"

#include <fmt/core.h>

#include "cli/numbers.hpp"
#include "golden/vectors/families.hpp"
#include "model/error.hpp"
#include "support/contract_file.hpp"

namespace mx::cli {
namespace {

constexpr std::int64_t kMostVectors = std::int64_t{1} << 40;
constexpr std::uint64_t kSeed = 1;
constexpr std::string_view kContract = "contract";

}  // namespace

void add_vector_options(Verb verb, VectorOptions& options) {
  verb.add_option("OP", options.op, "operation, such as f32_to_e4m3fn (mxact gen --list)");
  for (const golden::OptionKey& key : golden::all_option_keys()) {
    const std::string name(key.key);
    verb.add_option(
        "--" + name,
        [&options, name](const std::string& value) { options.choices[name] = name == kContract ? support::contract_word(value) : value; },
        std::string(key.meaning));
  }
  verb.add_option("--set", options.set, "directed (default): what decides something; exhaustive: all operands; random");
  verb.add_option("--seed", options.seed, "of a random set (default 1)").check(whole_number_in(0, std::numeric_limits<std::int64_t>::max()));
  verb.add_option("--count", options.count, "vectors of a random set").check(whole_number_in(1, kMostVectors));
  verb.add_flag("--with-expected", options.with_expected, "lines hold answer, mask of compared bits and coverage bins as well");
}

golden::OpOptions choices_of(const VectorOptions& options) {
  std::vector<golden::OpSetting> given;
  for (const auto& [key, value] : options.choices) given.push_back({key, value});
  return golden::OpOptions(std::move(given));
}

std::unique_ptr<golden::VectorOp> op_of(const VectorOptions& options) {
  if (options.op.empty()) throw Error(ErrorCode::usage, "OP is required: mxact gen --list names the operations");
  return golden::op_named(options.op, choices_of(options));
}

std::string which_formats(const VectorOptions& options, const golden::VectorOp& op) {
  constexpr std::string_view kOcp = "e4m3fn";
  std::string typed = options.op;
  for (char& c : typed) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const bool spelled =
      typed.find(kOcp) != std::string::npos || typed.find("e4m3_fn") != std::string::npos || typed.find("e4m3-fn") != std::string::npos;
  if (spelled || op.family() != "cast" || op.name().find(kOcp) == std::string::npos) return {};
  return fmt::format(
      "{} is {}: e4m3 is OCP's e4m3fn, whose top exponent holds numbers and one NaN; the e4m3 with IEEE 754's infinities is another "
      "format: e4m3ieee",
      options.op, op.name());
}

golden::SetChoice set_of(const VectorOptions& options) {
  golden::SetChoice choice{golden::set_kind_named(options.set), options.seed.value_or(kSeed)};
  if (options.seed && choice.kind != golden::SetKind::random)
    throw Error(ErrorCode::usage, fmt::format("--seed {}: a set that is {} has none", *options.seed, golden::name_of(choice.kind)));
  if (!options.count.empty()) choice.count = std::stoull(options.count);
  return choice;
}

std::string typed(const VectorOptions& options) {
  std::string text = options.op;
  for (const auto& [key, value] : options.choices) text += fmt::format(" --{} {}", key, value);
  text += fmt::format(" --set {}", options.set);
  if (!options.count.empty()) text += fmt::format(" --seed {} --count {}", options.seed.value_or(kSeed), options.count);
  return text;
}

}  // namespace mx::cli
