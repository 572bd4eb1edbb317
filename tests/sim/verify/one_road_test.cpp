// What verify checks, convert writes, mxact.pack of a checkpoint gives and sim converts are the same bytes, whatever form and activation a checkpoint
// states; and where one of them is asked otherwise it shows.

#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_conversion.hpp"
#include "checkpoint/convert.hpp"
#include "checkpoint/layer_packer.hpp"
#include "model/deployment/models.hpp"
#include "model/families/libraries.hpp"
#include "sim/ranks/converter.hpp"
#include "sim/verify/layer_config.hpp"
#include "sim/verify/verify.hpp"
#include "support/random.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/form_drafts.hpp"
#include "tests/checkpoint/published_forms.hpp"

namespace {

using namespace mx;

/// A converted layer by the names of its tensors, those of a further rank with its number behind them.
using Bytes = std::map<std::string, std::vector<std::uint8_t>>;

std::string key_of(std::string_view tensor, int rank) { return std::string(tensor) + (rank == 0 ? "" : " of rank " + std::to_string(rank)); }

void add_bytes(Bytes& bytes, const families::PackedLayer& packed, int rank) {
  for (const layout::PackedTensor& tensor : packed.tensors) bytes[key_of(layout::name_of(tensor.role), rank)] = tensor.bytes;
}

Bytes bytes_of(const families::PackedLayer& packed) {
  Bytes bytes;
  add_bytes(bytes, packed, 0);
  return bytes;
}

/// Without it the engine chooses none of AITER's backends; no converter looks at it.
const std::map<std::string, std::string> kVariables{{"VLLM_ROCM_USE_AITER", "1"}};

/// A conversion as a user names it.
struct Asked {
  std::string backend;
  std::string platform;
  deployment::Engine engine = deployment::kVllm2026_08;
  std::vector<std::string> libraries = {};
  std::optional<std::string> activation = {};  ///< in the place of the checkpoint's, by the caller's mistake
  std::int64_t wider = 0;                      ///< rows that the caller counts too many
  bool by_turns = false;                       ///< gate and up, by the caller's mistake
  int tp = 1;
};

/// Bytes, or the sentence of a refusal.
struct Answer {
  Bytes bytes;
  std::string refusal;
  friend bool operator==(const Answer&, const Answer&) = default;
};

template <class Work>
Answer answer_of(const Work& work) {
  try {
    return {work(), {}};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

/// What verify compares and executes. A backend that verify does not reach on the platform has no bytes.
Answer verified(const checkpoint::Checkpoint& checkpoint, const Asked& asked) {
  return answer_of([&] {
    Bytes bytes;
    std::mutex mutex;
    int rank = 0;  // one conversion goes through its ranks in order
    sim::VerifyOptions options;
    options.engine = asked.engine;
    options.libraries = asked.libraries;
    options.platforms = {asked.platform};
    options.env = kVariables;
    options.backends = {asked.backend};
    options.tp = {asked.tp};
    options.max_layers = 1;
    options.executes = false;
    options.tamper = [&](families::PackedLayer& packed) {
      const std::lock_guard lock(mutex);
      if (packed.backend == asked.backend) add_bytes(bytes, packed, rank++);
    };
    static_cast<void>(sim::verify(checkpoint, options));
    return bytes;
  });
}

checkpoint::ConvertOptions options_of(const Asked& asked, int rank = 0) {
  checkpoint::ConvertOptions options{.backend = asked.backend, .setting = {}, .rank = rank};
  options.setting.tp_size = asked.tp;
  options.setting.engine = asked.engine;
  options.setting.arch = families::arch_named(asked.platform);
  families::choose_libraries(options.setting, asked.libraries);
  if (asked.activation) options.activation = checkpoint::converter_activation(*asked.activation);
  return options;
}

/// What convert writes, read from its file.
Answer written(const checkpoint::Checkpoint& source, const Asked& asked) {
  return answer_of([&] {
    const tests::TemporaryDirectory directory;
    Bytes bytes;
    for (int rank = 0; rank < asked.tp; ++rank) {
      const std::filesystem::path packed = directory.path() / std::to_string(rank);
      checkpoint::convert_checkpoint(source.path(), packed, options_of(asked, rank));
      const support::SafetensorsFile file(packed / "mxact-layer-00000.safetensors");
      for (const auto& [name, view] : file.tensors()) bytes[key_of(name.substr(name.rfind('.') + 1), rank)] = file.read(view);
    }
    return bytes;
  });
}

/// What mxact.pack of a checkpoint's path gives.
Answer packed(const checkpoint::Checkpoint& source, const Asked& asked) {
  return answer_of([&] {
    Bytes bytes;
    for (int rank = 0; rank < asked.tp; ++rank) {
      const checkpoint::CheckpointConversion conversion(source.path(), options_of(asked, rank));
      add_bytes(bytes, conversion.packer_of(conversion.layer_groups().front(), 0).collect(), rank);
    }
    return bytes;
  });
}

/// What sim converts on one rank: of a layer in the sizes that the engine allocates, which are the checkpoint's here.
Answer simulated(const checkpoint::Checkpoint& checkpoint, const Asked& asked) {
  return answer_of([&] {
    layout::CanonicalLayer layer = checkpoint.layer(0).experts;
    deployment::LayerConfig config = sim::layer_config(checkpoint, checkpoint.activation(0), asked.engine);
    if (asked.activation) config.activation = *asked.activation;
    if (asked.by_turns) layer.form.order = layout::SourceOrder::gpt_oss;
    deployment::Deployment deployment = deployment::deployment_on(deployment::platform_named(asked.platform), {}, config);
    deployment.env = kVariables;
    deployment.quant_method = checkpoint.source_form().use.quant_method;
    layout::Sizes sizes = layer.sizes;
    sizes.hidden += asked.wider;
    const checkpoint::Conversion conversion = sim::conversion_of(deployment, asked.engine, layer.form, layer.sizes, asked.libraries);
    const families::Setting setting = conversion.setting(sizes);
    const support::StopPoint never;
    return bytes_of(checkpoint::LayerPacker(layer, families::backend_layout_named(asked.backend, layer.form.format, asked.engine), setting,
                                            kernels::relayout::MoveBy::plans, never)
                        .collect());
  });
}

/// A checkpoint of one layer whose configuration names the activation; none: it says nothing.
void write_checkpoint(const std::filesystem::path& directory, const tests::FormCase& form, const std::string& activation) {
  tests::Draft draft = tests::form_draft(form, 1);
  if (!activation.empty()) draft.config->insert(1, "\"hidden_act\": \"" + activation + "\", ");
  if (activation == "situ") draft.config->insert(1, "\"activation_situ_beta\": 1.5, ");
  if (activation == "swigluoai") draft.config->insert(1, "\"swiglu_limit\": 7, ");
  std::filesystem::create_directories(directory);
  draft.write(directory);
}

/// Backends that convert the form for the version, of which verify is asked one by one.
std::vector<std::string> backends_of(const checkpoint::Checkpoint& checkpoint, const Asked& asked) {
  sim::VerifyOptions options;
  options.engine = asked.engine;
  options.platforms = {asked.platform};
  options.env = kVariables;
  options.tp = {asked.tp};
  std::vector<std::string> backends;
  for (const sim::ConversionResult& result : sim::planned_report(checkpoint, options).conversions) {
    if (result.verdict == sim::Verdict::passed && result.engine == asked.engine) backends.push_back(result.backend);
  }
  return backends;
}

constexpr std::array<const char*, 7> kActivations{"", "silu", "gelu", "gelu_pytorch_tanh", "situ", "swigluoai", "swish"};
constexpr std::array<const char*, 6> kPlatforms{"SM90", "SM100", "SM120", "gfx942", "gfx950", "XPU"};

struct Counts {
  int compared = 0;
  int simulated = 0;
};

/// All four, of every backend of the deployment.
void check_agreement(const checkpoint::Checkpoint& checkpoint, Asked asked, Counts& counts) {
  for (const std::string& backend : backends_of(checkpoint, asked)) {
    asked.backend = backend;
    INFO(backend << " on " << asked.platform << ": " << checkpoint.form() << ", " << checkpoint.converted_activation());
    const Answer checked = verified(checkpoint, asked), file = written(checkpoint, asked), given = packed(checkpoint, asked);
    if (checked.bytes.empty()) {
      // A converter that refuses refuses everyone.
      CHECK(file.bytes.empty());
      continue;
    }
    CHECK(file.refusal == "");
    CHECK(file == checked);
    CHECK(given == checked);
    ++counts.compared;
    if (asked.tp > 1) continue;
    const families::Setting setting = checkpoint::CheckpointConversion(checkpoint.path(), options_of(asked)).layer_groups().front().setting;
    if (setting.padded != setting.sizes) continue;
    CHECK(simulated(checkpoint, asked) == checked);
    ++counts.simulated;
  }
}

}  // namespace

TEST_CASE("verify, convert, pack and sim make the same bytes of every form with every activation that it can state") {
  support::SplitMix64 random(20261128);
  Counts counts;
  for (const tests::FormCase& form : tests::form_cases()) {
    for (const char* const activation : kActivations) {
      const tests::TemporaryDirectory directory;
      write_checkpoint(directory.path(), form, activation);
      const checkpoint::Checkpoint checkpoint(directory.path());
      // The older version knows neither SITU nor SWIGLUOAI over halves.
      const bool is_known = activation != std::string("situ") && activation != std::string("swigluoai");
      const deployment::Engine engine = is_known ? form.engine : deployment::kVllm2026_08;
      check_agreement(checkpoint, {.backend = {}, .platform = kPlatforms[random.next() % kPlatforms.size()], .engine = engine}, counts);
    }
  }
  for (const char* const platform : kPlatforms) {
    const tests::TemporaryDirectory directory;
    checkpoint::write_synthetic_checkpoint(directory.path() / "model", {1, 2, 256, 128, 1, 3});
    check_agreement(checkpoint::Checkpoint(directory.path() / "model"), {.backend = {}, .platform = platform}, counts);
  }
  CHECK(counts.compared >= 60);
  CHECK(counts.simulated >= 40);
}

TEST_CASE("verify, convert and pack make the same bytes of every published form on every rank") {
  support::SplitMix64 random(20261129);
  Counts counts;
  for (const tests::PublishedForm& form : tests::published_forms()) {
    const tests::TemporaryDirectory directory;
    tests::published_draft(form).write(directory.path());
    const checkpoint::Checkpoint checkpoint(directory.path(), 0, deployment::kVllm2026_08);
    const int tp = 1 << random.next() % 3;
    check_agreement(checkpoint, {.backend = {}, .platform = kPlatforms[random.next() % kPlatforms.size()], .tp = tp}, counts);
  }
  CHECK(counts.compared >= 40);
}

TEST_CASE("a checkpoint's activation decides AITER's memory of MXFP4 for everyone: SITU has that of the recordings of SITU") {
  const tests::FormCase& form = tests::form_case("DeepSeek-V4 MXFP4");
  const Asked asked{.backend = "AITER_MXFP4_BF16", .platform = "gfx950"};
  std::map<std::string, Bytes> by_activation;
  for (const char* const activation : {"silu", "gelu", "situ", "swigluoai"}) {
    const tests::TemporaryDirectory directory;
    write_checkpoint(directory.path(), form, activation);
    const checkpoint::Checkpoint checkpoint(directory.path());
    INFO(activation);
    const Answer file = written(checkpoint, asked);
    REQUIRE(file.refusal == "");
    CHECK(packed(checkpoint, asked) == file);
    CHECK(verified(checkpoint, asked) == file);
    by_activation[activation] = file.bytes;
  }
  CHECK(by_activation["situ"] != by_activation["silu"]);
  // The engine rounds up to 128 with SILU and SITU, to 256 with every other one: docs, "Rounding" of vllm@2026-08.
  CHECK(by_activation["silu"]["w13_weight"].size() == 3 * 2 * 128 * 256 / 2);
  CHECK(by_activation["situ"]["w13_weight"].size() == 3 * 2 * 128 * 256 / 2);
  CHECK(by_activation["gelu"]["w13_weight"].size() == 3 * 2 * 256 * 256 / 2);
  CHECK(by_activation["gelu"] == by_activation["swigluoai"]);
  // What the model, which the recordings hold, makes of SITU.
  const families::BackendLayout& row = families::backend_layout_named(asked.backend, layout::WeightFormat::mxfp4, asked.engine);
  families::Setting setting{
      .sizes = {3, 128, 256, 32}, .padded = {3, 128, 256, 32}, .form = {layout::WeightFormat::mxfp4, layout::SourceOrder::standard}};
  setting.arch = families::Arch::gfx950;
  setting.activation = families::ConverterActivation::situ;
  CHECK(bytes_of(families::convert(tests::form_layer(form, 0), row, setting)) == by_activation["situ"]);
}

TEST_CASE("gate before up is not separated, whatever the activation over halves is called") {
  const tests::FormCase& form = tests::form_case("ModelOpt NVFP4");
  const Asked asked{.backend = "FLASHINFER_CUTEDSL", .platform = "SM100"};
  std::vector<Answer> all;
  for (const char* const activation : {"silu", "swigluoai"}) {
    const tests::TemporaryDirectory directory;
    write_checkpoint(directory.path(), form, activation);
    const checkpoint::Checkpoint checkpoint(directory.path());
    all.push_back(written(checkpoint, asked));
    CHECK(packed(checkpoint, asked) == all.back());
    CHECK(verified(checkpoint, asked) == all.back());
    CHECK(simulated(checkpoint, asked) == all.back());
  }
  REQUIRE(all.front().refusal == "");
  CHECK(all.front() == all.back());
}

TEST_CASE("a plan's jobs write what convert writes, with an activation that rounds otherwise than its converter's word") {
  const tests::TemporaryDirectory directory;
  write_checkpoint(directory.path() / "source", tests::form_case("DeepSeek-V4 MXFP4"), "gelu");
  const checkpoint::Checkpoint checkpoint(directory.path() / "source");
  Asked asked{.backend = "AITER_MXFP4_BF16", .platform = "gfx950"};
  const Answer whole = written(checkpoint, asked);
  // As options_of(plan) has it: the word of the plan's setting.
  asked.activation = "SILU";
  CHECK(written(checkpoint, asked) == whole);
}

TEST_CASE("who is asked otherwise than the others makes other bytes, or refuses") {
  struct Row {
    const char* what;
    const char* activation;  ///< of the checkpoint
    Asked asked;
    Asked other;
    bool of_verify;  ///< can be asked so, too
  };
  const std::string aiter = "AITER_MXFP4_BF16";
  const std::vector<Row> rows{
      {"activation", "situ", {aiter, "gfx950"}, {.backend = aiter, .platform = "gfx950", .activation = "SILU"}, false},
      {"architecture", "situ", {aiter, "gfx950"}, {.backend = aiter, .platform = "gfx1250"}, true},
      {"version", "situ", {aiter, "gfx950"}, {.backend = aiter, .platform = "gfx950", .engine = deployment::kVllm2026_05}, true},
      {"library",
       "silu",
       {"FLASHINFER_CUTLASS_MXFP4_BF16", "SM90"},
       {.backend = "FLASHINFER_CUTLASS_MXFP4_BF16", .platform = "SM90", .libraries = {"flashinfer=0.6.18"}},
       true},
  };
  for (const Row& row : rows) {
    const tests::TemporaryDirectory directory;
    write_checkpoint(directory.path(), tests::form_case("DeepSeek-V4 MXFP4"), row.activation);
    const checkpoint::Checkpoint checkpoint(directory.path());
    const Answer right = verified(checkpoint, row.asked);
    INFO(row.what);
    REQUIRE_FALSE(right.bytes.empty());
    REQUIRE(written(checkpoint, row.asked) == right);
    CHECK(written(checkpoint, row.other) != right);
    CHECK(packed(checkpoint, row.other) != right);
    CHECK(simulated(checkpoint, row.other) != right);
    if (row.of_verify) CHECK(verified(checkpoint, row.other) != right);
  }
  // Sizes and the order of the rows are the checkpoint's for convert, pack and verify; sim is told them.
  const tests::TemporaryDirectory directory;
  write_checkpoint(directory.path(), tests::form_case("DeepSeek-V4 MXFP4"), "situ");
  const checkpoint::Checkpoint checkpoint(directory.path());
  const Answer right = verified(checkpoint, {aiter, "gfx950"});
  CHECK(simulated(checkpoint, {aiter, "gfx950"}) == right);
  CHECK(simulated(checkpoint, {.backend = aiter, .platform = "gfx950", .wider = 256}) != right);
  CHECK(simulated(checkpoint, {.backend = aiter, .platform = "gfx950", .by_turns = true}) != right);
}
