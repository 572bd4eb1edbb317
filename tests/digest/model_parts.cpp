#include <array>
#include <random>

#include "model/audit/audit_space.hpp"
#include "model/engine/vllm/select.hpp"
#include "model/error.hpp"
#include "model/moe/activation.hpp"
#include "model/numerics/dot.hpp"
#include "model/numerics/f32.hpp"
#include "model/numerics/wide_source.hpp"
#include "tests/digest/digest.hpp"
#include "tests/kernels/codec_cases.hpp"
#include "tests/kernels/moe_cases.hpp"
#include "tests/kernels/relayout_cases.hpp"

namespace mx::tests {
namespace {

/// What a call gives, or the code of its refusal.
template <class Call>
void add_result(Digest& digest, const Call& call) {
  try {
    digest.add(call());
  } catch (const Error& error) {
    digest.add(0xE0000000U | static_cast<std::uint32_t>(error.code()));
  }
}

/// Patterns of a format: all of a small one, else some of every kind.
std::vector<std::uint32_t> patterns_of(const Format& format, std::uint32_t seed) {
  Words random(seed);
  if (format.width >= 16) return drawn_elements(160, 16, format, random);
  std::vector<std::uint32_t> all(std::size_t{1} << format.width);
  for (std::uint32_t code = 0; code < all.size(); ++code) all[code] = code;
  return all;
}

void decode_formats(Digest& digest) {
  for (const Format& format : all_formats()) {
    for (const std::uint32_t code : patterns_of(format, 1)) digest.add(to_f32(code, format));
  }
}

void convert_scalars(Digest& digest) {
  for (const Profile& profile : all_profiles()) {
    for (const ConversionRow& row : profile.conversions) {
      const Format& from = row.from == nullptr ? kF32 : *row.from;
      const bool wide = is_wide_source(from);
      for (const std::uint32_t code : patterns_of(wide ? kF32 : from, 2)) {
        const std::uint64_t bits = from.width == 64 ? std::uint64_t{code} << 32 | (code * 2654435761U) : code;
        Flags flags;
        const Random random = is_stochastic(row.how.rounding) ? Random(code * 2654435761U >> (32 - row.how.random_bits)) : Random{};
        add_result(digest, [&] { return convert_source(bits, from, *row.to, row.how, flags, random); });
        digest.add(std::uint64_t{flags.inexact} | std::uint64_t{flags.underflow} << 1 | std::uint64_t{flags.overflow} << 2 |
                   std::uint64_t{flags.invalid} << 3 | std::uint64_t{flags.saturated} << 4 | std::uint64_t{flags.nan} << 5 |
                   std::uint64_t{flags.flushed} << 6);
      }
    }
  }
}

kernels::Shape small_shape(const BlockFormat& format) {
  if (format.block == 0) return {2, 70};
  if (format.block_rows != 1) return {128, 128};
  return {2, 3 * static_cast<std::size_t>(format.block)};
}

void quantize_blocks(Digest& digest) {
  Words random(3);
  for (const RecipeCase& the : recipe_cases()) {
    const kernels::Shape shape = small_shape(*the.recipe->format);
    const auto elements = drawn_elements(shape.rows * shape.cols, 32, *the.source, random);
    const Packed packed = quantized_by_model(elements, shape, the, tensor_scale_for(tensor_needs(*the.recipe), random()));
    digest.add_all<std::uint8_t>(packed.codes);
    digest.add_all<std::uint8_t>(packed.scales);
  }
}

void dequantize_blocks(Digest& digest) {
  Words random(4);
  for (const DequantizerCase& the : dequantizer_cases()) {
    const kernels::Shape shape = small_shape(*the.how->format);
    const Packed packed = drawn_blocks(shape, *the.how->format, random);
    const auto numbers = dequantized_by_model(packed, shape, *the.how, tensor_scale_for(needs_of(*the.how), random()));
    digest.add_all<std::uint32_t>(numbers);
  }
}

void evaluate_functions(Digest& digest) {
  for (const std::uint32_t x : patterns_of(kF32, 5)) {
    for (const auto function : {f32::exp, f32::exp2, f32::log2, f32::log1p, f32::tanh, f32::erf}) digest.add(function(x));
  }
}

/// 128 codes with 4 scales.
struct CodedRow {
  std::vector<Value> elements;
  std::vector<Value> scales;

  CodedRow(const Format& format, Words& random) {
    const std::uint32_t all = 0xFFFFFFFFU >> (32 - format.width);
    const auto drawn = format.width < 16 ? std::vector<std::uint32_t>{} : drawn_elements(128, 64, format, random);
    for (std::size_t k = 0; k < 128; ++k) elements.push_back(decode(format, drawn.empty() ? random() & all : drawn[k]));
    for (int i = 0; i < 4; ++i) scales.push_back(decode(kE8m0, 110 + random() % 30));
  }
};

void sum_products(Digest& digest) {
  Words random(6);
  for (const ContractRow& row : all_contracts()) {
    const Format& a_format = row.a_formats.empty() ? mx::kBf16 : *row.a_formats.front();
    const Format& b_format = row.b_formats.empty() ? mx::kE2m1 : *row.b_formats.front();
    for (int i = 0; i < 12; ++i) {
      const CodedRow a(a_format, random);
      const CodedRow b(b_format, random);
      for (const bool scaled : {false, true}) {
        const std::span<const Value> none;
        add_result(digest, [&] {
          return dot(row, Operand{a.elements, &a_format, scaled ? a.scales : none, scaled ? 32 : 0},
                     Operand{b.elements, &b_format, scaled ? b.scales : none, scaled ? 32 : 0}, Addends{{}, 0x3F9D70A4U});
        });
      }
    }
  }
}

void activate_columns(Digest& digest) {
  const std::vector<std::uint32_t> gate = patterns_of(kF32, 7);
  const std::vector<std::uint32_t> up = patterns_of(kF32, 8);
  for (const moe::Activation& row : moe::all_activations()) {
    for (const Format* type : {&kF32, &mx::kBf16, &kFp16}) {
      for (std::size_t i = 0; i < gate.size(); i += 4) add_result(digest, [&] { return moe::activate(row, *type, gate[i], up[i], row.constants); });
    }
  }
}

void run_layers(Digest& digest) {
  std::mt19937 random(9);
  for (const WeightFormat format : kFormats) {
    const Case c = any_case(random, true, format);
    for (const Contract contract : kContracts) {
      if (takes(contract, format)) digest.add_all<std::uint32_t>(modelled(c, any_choices(random, contract, c)));
    }
  }
}

void place_tensors(Digest& digest) {
  constexpr std::int64_t kMostBytes = 1 << 12;
  std::uint32_t cases = 0;
  for_each_block_case([&](const RelayoutCase& c) {
    if (++cases % 4 == 0 && c.to.bytes() <= kMostBytes) digest.add_all<std::uint8_t>(by_model(c.from, random_bytes(c.from.bytes(), cases), c.to));
  });
  for_each_backend_case([&](const RelayoutCase& c) {
    digest.add_text(c.name);
    if (++cases % 8 == 0 && c.to.bytes() <= kMostBytes) digest.add_all<std::uint8_t>(by_model(c.from, random_bytes(c.from.bytes(), cases), c.to));
  });
}

void choose_backends(Digest& digest) {
  constexpr std::uint64_t kEvery = 4001;
  std::uint64_t deployments = 0;
  for (const std::string_view name : engine::oracle_names(mx::deployment::kVllm2026_05)) {
    const engine::OracleTables& tables = engine::tables_of(deployment::kVllm2026_05, name);
    audit::for_each_deployment(tables, [&](const deployment::Deployment& deployment) {
      if (++deployments % kEvery != 0) return;
      const engine::Decision decision = engine::select(tables, deployment, engine::Detail::texts);
      for (const engine::Candidate& candidate : decision.trace) {
        digest.add_text(candidate.backend);
        digest.add_text(candidate.kernel_class);
        digest.add_text(candidate.verdict.code);
        digest.add_text(candidate.verdict.text);
      }
      if (decision.choice) digest.add_text(decision.choice->backend);
      if (decision.refusal) digest.add_text(decision.refusal->text);
    });
  }
  digest.add(deployments);
}

constexpr std::array kParts{
    ModelPart{"formats", decode_formats},       ModelPart{"conversions", convert_scalars},
    ModelPart{"recipes", quantize_blocks},      ModelPart{"dequantizers", dequantize_blocks},
    ModelPart{"functions", evaluate_functions}, ModelPart{"contracts", sum_products},
    ModelPart{"activations", activate_columns}, ModelPart{"layers", run_layers},
    ModelPart{"layouts", place_tensors},        ModelPart{"oracles", choose_backends},
};

}  // namespace

std::span<const ModelPart> model_parts() { return kParts; }

}  // namespace mx::tests
