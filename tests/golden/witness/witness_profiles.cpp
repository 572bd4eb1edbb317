// The tables of conversion profiles against the recorded entries: every entry is what a profile of its implementation says, and every row of a
// profile is what an entry recorded, or stands in the list of those that are not.

#include <algorithm>
#include <set>
#include <utility>

#include "golden/witness/block_tensors.hpp"
#include "golden/witness/manifest.hpp"
#include "golden/witness/ops.hpp"
#include "model/numerics/profile.hpp"
#include "model/numerics/rules.hpp"
#include "tests/catch.hpp"
#include "tests/golden/witness/changes.hpp"
#include "tests/golden/witness/scratch.hpp"

namespace mx::tests::witness {
namespace {

/// One recorded conversion: who, and what the entry's parameters say.
struct RecordedCast {
  std::string where;
  golden::RunProfile who;
  golden::EncodeParams encode;
};

std::vector<RecordedCast> recorded_casts() {
  std::vector<RecordedCast> casts;
  for (const std::string set :
       {"numerics/encode16", "numerics/encode32", "numerics/sweep32", "numerics-peers/encode_peers", "numerics-peers/bridge_casts"}) {
    const std::filesystem::path directory = recorded(set);
    const Json json = golden::load_json(directory / "manifest.json");
    for (const golden::Entry& entry : golden::read_manifest(directory, json).entries) {
      golden::Fields params = golden::params_of(entry);
      const golden::EncodeParams encode = entry.op == "encode_stochastic" ? golden::read_encode_stochastic(params) : golden::read_encode(params);
      casts.push_back({entry.where, entry.profile, encode});
    }
  }
  return casts;
}

bool same_who(const Profile& profile, const golden::RunProfile& who) {
  return profile.implementation == who.implementation && profile.device == who.device && profile.build == who.build;
}

/// Entries that leave NaN inputs out say nothing of them; no entry says which range of magnitudes an implementation gets wrong.
bool same_conversion(const Conversion& row, const golden::EncodeParams& encode) {
  Conversion stated = encode.how;
  if (!encode.nan_stated) {
    stated.nan_rule = row.nan_rule;
    stated.nan_positive = row.nan_positive;
    stated.nan_negative = row.nan_negative;
  }
  stated.before.range = row.before.range;
  return row == stated;
}

const ConversionRow* row_of(const Profile& profile, const RecordedCast& cast) {
  if (!same_who(profile, cast.who)) return nullptr;
  const auto row = std::ranges::find_if(profile.conversions, [&](const ConversionRow& r) {
    return r.from != nullptr && *r.from == *cast.encode.from && *r.to == *cast.encode.to && same_conversion(r.how, cast.encode);
  });
  return row == profile.conversions.end() ? nullptr : &*row;
}

/// "hip-sat f32 e5m2"
std::string text_of(const Profile& profile, const ConversionRow& row) {
  return std::string(profile.name) + " " + std::string(row.from->name) + " " + std::string(row.to->name);
}

/// Rows that the specification or the implementation's source gives and no public entry records.
const std::set<std::string> kUnrecorded{
    "cuda-ru f32 bf16",
    "cuda-ru f32 fp16",
    "cuda-rd f32 bf16",
    "cuda-rd f32 fp16",
    "ptx-rn f32 bf16",
    "ptx-rn f32 fp16",
    "gfloat-ties-to-even f32 e4m3fn",
    "gfloat-ties-to-even f32 e5m2",
    "gfloat-ties-to-even f32 e2m3",
    "gfloat-ties-to-even f32 e3m2",
    "gfloat-ties-to-even f32 e2m1",
    "gfloat-toward-positive f32 e5m2",
    "gfloat-toward-positive f32 e2m3",
    "gfloat-toward-positive f32 e3m2",
    "gfloat-toward-negative f32 e5m2",
    "gfloat-toward-negative f32 e2m3",
    "gfloat-toward-negative f32 e3m2",
    "gfloat-stochastic f32 e4m3fn",
    "gfloat-stochastic f32 e5m2",
    "gfloat-stochastic f32 e2m3",
    "gfloat-stochastic f32 e3m2",
    "gfloat-stochastic f32 e2m1",
    "gfloat-stochastic-fast f32 e4m3fn",
    "gfloat-stochastic-fast f32 e5m2",
    "gfloat-stochastic-fast f32 e2m3",
    "gfloat-stochastic-fast f32 e3m2",
    "gfloat-stochastic-fast f32 e2m1",
    "gfloat-stochastic-fastest f32 e2m3",
    "gfloat-stochastic-fastest f32 e3m2",
    "hip-stochastic f32 e4m3fn",
    "hip-stochastic f32 e5m2",
    "hip-stochastic f32 e5m2fnuz",
    // Run, of which the sets record what is new.
    "ml_dtypes bf16 fp16",
    "ml_dtypes fp16 bf16",
    "ml_dtypes f64 e2m3",
    "ml_dtypes f64 e3m2",
    "ml_dtypes f64 e5m2fnuz",
    "ml_dtypes i64 bf16",
    "ml_dtypes i64 e2m1",
    "ml_dtypes i64 e2m3",
    "ml_dtypes i64 e3m2",
    "ml_dtypes i64 e4m3fn",
    "ml_dtypes i64 e4m3fnuz",
    "ml_dtypes i64 e5m2",
    "ml_dtypes i64 e5m2fnuz",
    "ml_dtypes i64 e8m0",
    "onnxruntime f32 e4m3fnuz",
    "onnxruntime f32 e5m2fnuz",
    "onnxruntime fp16 e4m3fn",
    "onnxruntime fp16 e4m3fnuz",
    "onnxruntime fp16 e5m2",
    "onnxruntime fp16 e5m2fnuz",
    "onnxruntime-nosat bf16 e4m3fn",
    "onnxruntime-nosat bf16 e5m2",
    "onnxruntime-nosat fp16 e4m3fn",
    "onnxruntime-nosat fp16 e5m2",
    "torch-cpu@2.13 bf16 e4m3fnuz",
    "torch-cpu@2.13 bf16 e5m2",
    "torch-cpu@2.13 bf16 e5m2fnuz",
    "torch-cpu@2.13 bf16 e8m0",
    "torch-cpu@2.13 bf16 fp16",
    "torch-cpu@2.13 f32 bf16",
    "torch-cpu@2.13 f32 e4m3fnuz",
    "torch-cpu@2.13 f32 e5m2",
    "torch-cpu@2.13 f32 e5m2fnuz",
    "torch-cpu@2.13 f32 e8m0",
    "torch-cpu@2.13 f32 fp16",
    "torch-cpu@2.13 f64 e5m2fnuz",
    "torch-cpu@2.13 fp16 bf16",
    "torch-cpu@2.13 fp16 e4m3fnuz",
    "torch-cpu@2.13 fp16 e5m2",
    "torch-cpu@2.13 fp16 e5m2fnuz",
    "torch-cpu@2.13 fp16 e8m0",
    "torch-cpu@2.13 i64 bf16",
    "torch-cpu@2.13 i64 e4m3fn",
    "torch-cpu@2.13 i64 e4m3fnuz",
    "torch-cpu@2.13 i64 e5m2",
    "torch-cpu@2.13 i64 e5m2fnuz",
    "torch-cpu@2.13 i64 e8m0",
};

TEST_CASE("every recorded cast is what exactly one profile of its implementation does", "[witness]") {
  const std::vector<RecordedCast> casts = recorded_casts();
  REQUIRE(casts.size() == 94 + 81 + 14 + 27 + 54);
  for (const RecordedCast& cast : casts) {
    INFO(cast.where);
    const auto profiles = all_profiles();
    CHECK(std::ranges::count_if(profiles, [&](const Profile& profile) { return row_of(profile, cast) != nullptr; }) == 1);
  }
}

TEST_CASE("rules with a library's name are those that were recorded of it", "[witness]") {
  const std::filesystem::path directory = recorded("numerics-2/encode_python_dialects");
  const Json json = golden::load_json(directory / "manifest.json");
  std::set<std::string> found, named;
  for (const golden::Entry& entry : golden::read_manifest(directory, json).entries) found.insert(golden::params_of(entry).text("format"));
  for (const NamedRules& row : named_rules()) {
    for (const std::string_view library : {"ml_dtypes", "bitstring", "gfloat", "tinygrad"}) {
      if (row.name.starts_with(library)) named.insert(std::string(row.text));
    }
  }
  CHECK(named.size() == 26);
  CHECK(named == found);
}

TEST_CASE("every row of a profile of casts is recorded, or listed as not recorded", "[witness]") {
  std::set<std::string> recorded_rows;
  for (const RecordedCast& cast : recorded_casts()) {
    for (const Profile& profile : all_profiles()) {
      if (const ConversionRow* row = row_of(profile, cast)) recorded_rows.insert(text_of(profile, *row));
    }
  }
  std::set<std::string> unrecorded;
  for (const Profile& profile : all_profiles()) {
    if (profile.implementation == kOcp) continue;  // documents, which record nothing
    for (const ConversionRow& row : profile.conversions) {
      REQUIRE(row.from != nullptr);
      if (!recorded_rows.contains(text_of(profile, row))) unrecorded.insert(text_of(profile, row));
    }
  }
  CHECK(unrecorded == kUnrecorded);
}

/// Implementation, device, build, element, scale and target of the entries that dequantize.
std::set<std::string> recorded_dequantizations() {
  std::set<std::string> found;
  for (const std::string set : {"numerics/block32", "numerics-peers/dequantize_peers", "numerics-peers/quark_mx"}) {
    const std::filesystem::path directory = recorded(set);
    const Json json = golden::load_json(directory / "manifest.json");
    for (const golden::Entry& entry : golden::read_manifest(directory, json).entries) {
      if (!entry.op.ends_with("dequantize")) continue;
      golden::Fields params(entry.params, "params", entry.where);
      const golden::BlockParams shape = golden::read_block_params(params);
      found.insert(entry.profile.implementation + " " + entry.profile.device + " " + entry.profile.build + " " + std::string(shape.element->name) +
                   " " + std::string(shape.scale->name) + " " + params.text("target"));
    }
  }
  return found;
}

TEST_CASE("a dequantizer says that it was read, not run, where nothing is recorded", "[witness]") {
  const std::set<std::string> found = recorded_dequantizations();
  REQUIRE(found.size() == 8 + 14 + 5);
  for (const Profile& profile : all_profiles()) {
    if (profile.name == kOcp) continue;
    for (const Dequantizer& row : profile.dequantizers) {
      std::string who;
      for (const std::string_view word :
           {profile.implementation, profile.device, profile.build, row.format->element->name, row.format->scale->name}) {
        who += std::string(word) + " ";
      }
      INFO(profile.name << " " << row.format->name << " to " << row.target->name << ": " << row.source);
      const bool read = row.source.find("read, not run") != std::string_view::npos;
      const bool recorded_elsewhere =
          row.source.find("recorded on") != std::string_view::npos || row.source.find("not recorded") != std::string_view::npos;
      CHECK(found.contains(who + std::string(row.target->name)) == !(read || recorded_elsewhere));
    }
  }
}

TEST_CASE("an entry of the torch code of triton_kernels is evaluated on the device where it was not recorded", "[witness]") {
  const auto on = [](std::string_view device) { return [device](Json& entry) { entry["profile"]["device"] = device; }; };
  check("block32", "dequant.e2m1.fp16.triton_kernels_torch_cuda", {{"on the cpu", on("cpu"), 0, "values"}});
  check("block32", "f32.e2m1.nvfp4_direct.triton_kernels_torch_cpu", {{"on the GPU", on("h200"), 0, "values"}});
  // Recorded on x86: of the products of Inf and 0 alone the GPU's NaN has another sign.
  check("block32", "f32.e2m1.rceil.triton_kernels_torch_cpu", {{"on the GPU", on("h200"), 1, "codes["}});
}

TEST_CASE("a profile names a source and a target once") {
  for (const Profile& profile : all_profiles()) {
    std::set<std::pair<std::string_view, std::string_view>> pairs;
    for (const ConversionRow& row : profile.conversions) {
      INFO(profile.name << " -> " << row.to->name);
      CHECK(pairs.emplace(row.from == nullptr ? "any" : row.from->name, row.to->name).second);
    }
  }
}

TEST_CASE("profiles have unique names, and messages name those that can do what another cannot") {
  std::set<std::string_view> names;
  for (const Profile& profile : all_profiles()) {
    INFO(profile.name);
    CHECK(names.insert(profile.name).second);
    CHECK_FALSE(profile.source.empty());
  }
  const auto message = [](const auto& attempt) {
    try {
      attempt();
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::usage);
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  CHECK(message([] { profile_named("cuda-satfinit"); }).find("did you mean cuda-satfinite?") != std::string::npos);
  // CUDA has no FNUZ formats.
  const std::string refusal = message([] { conversion(profile_named("cuda-satfinite"), kF32, kE4m3fnuz); });
  CHECK(refusal ==
        "profile 'cuda-satfinite' does not define a conversion f32 -> e4m3fnuz; these do: ocp ocp-nosat ocp-rna ocp-rna-nosat ocp-rz "
        "ocp-rz-nosat ocp-ru ocp-ru-nosat ocp-rd ocp-rd-nosat ml_dtypes torch-cpu@2.11 torch-cpu@2.13 torch-cuda jax-cpu jax-cuda hip-sat hip-nosat "
        "hip-stochastic onnxruntime iree-llvm-cpu");
  CHECK(message([] { conversion(profile_named("numpy"), kBf16, kFp16); }).find("these do: ocp") != std::string::npos);
}

}  // namespace
}  // namespace mx::tests::witness
