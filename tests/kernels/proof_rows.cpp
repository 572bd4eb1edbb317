#include "tests/kernels/proof_rows.hpp"

#include <algorithm>

#include "kernels/functions/functions.hpp"

namespace mx::tests {
namespace {

/// Blocks that are drawn together, fewer of squares; what has no block length is drawn in pieces of 64.
constexpr std::uint64_t kBatch = 512;
constexpr std::uint64_t kSquaresInBatch = 2;
constexpr std::size_t kPiece = 64;

struct Batch {
  std::size_t block;  ///< elements
  std::size_t blocks;
  kernels::Shape shape;

  explicit Batch(const BlockFormat& format)
      : block(format.block == 0 ? kPiece : static_cast<std::size_t>(format.block)),
        blocks(format.block_rows == 1 ? kBatch : kSquaresInBatch),
        shape{} {
    const std::size_t rows = format.block == 0 ? blocks : static_cast<std::size_t>(format.block_rows);
    shape = {rows, blocks * block / rows};
  }
  std::uint64_t elements() const { return std::uint64_t{block} * blocks; }
};

/// Whether every tier gives the model's codes and scales for the batch of this number.
bool is_right(const RecipeCase& the, const Batch& batch, std::uint64_t number, const Tiers& tiers) {
  Words random(number * 1000003U + 20260505U);
  const TensorScale tensor = tensor_scale_for(tensor_needs(*the.recipe), random());
  const auto elements = drawn_elements(batch.elements(), batch.block, *the.source, random);
  const Packed want = quantized_by_model(elements, batch.shape, the, tensor);
  return std::ranges::all_of(tiers, [&](const kernels::IsaTier* tier) {
    return quantized_by_kernel(elements, batch.shape, the, tensor, {tier, 1}) == want;
  });
}

/// `number` counts the recipe's chunks, of which its row has 256: `chunk` is the number in the row.
ChunkResult check_blocks(const RecipeCase& the, std::uint64_t number, std::uint32_t chunk, const Tiers& tiers) {
  const Batch batch(*the.recipe->format);
  ChunkResult result;
  for (; result.inputs < kChunkInputs; result.inputs += batch.elements()) {
    if (is_right(the, batch, (number * kChunkInputs + result.inputs) / batch.elements(), tiers)) continue;
    if (result.wrong == 0) result.first_wrong = chunk * kChunkInputs + static_cast<std::uint32_t>(result.inputs);
    result.wrong += batch.elements();
  }
  return result;
}

}  // namespace

std::string row_name(std::string name, const Tiers& tiers) {
  std::ranges::replace(name, ' ', '_');
  for (const kernels::IsaTier* tier : tiers) name += "/" + std::string(tier->name);
  return name;
}

std::vector<QuantizerProof> quantizer_proofs(std::uint64_t blocks, const Tiers& tiers, const Wanted& wanted) {
  std::vector<QuantizerProof> proofs;
  for (const RecipeCase& the : recipe_cases()) {
    const kernels::CodecWay way = kernels::quantize_way(*the.recipe, *the.source, tensor_scale_for(tensor_needs(*the.recipe), 0));
    if (way == kernels::CodecWay::model || !wanted(the.name())) continue;
    const Batch batch(*the.recipe->format);
    QuantizerProof proof{the.name(), kChunkInputs / batch.block, {}};
    const std::uint64_t share = blocks * batch.blocks / kBatch;
    const std::uint64_t chunks = std::max<std::uint64_t>(1, (share + proof.blocks_per_chunk - 1) / proof.blocks_per_chunk);
    for (std::uint64_t first = 0; first < chunks; first += kChunks) {
      const auto check = [the, first, tiers](std::uint32_t chunk) { return check_blocks(the, first + chunk, chunk, tiers); };
      const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(kChunks, chunks - first));
      proof.rows.push_back({std::string(kQuantizers), row_name(the.name(), tiers) + "/" + std::to_string(first / kChunks), check, {}, count});
    }
    proofs.push_back(std::move(proof));
  }
  return proofs;
}

std::vector<ProofRow> function_proofs(const Tiers& tiers, const Wanted& wanted) {
  std::vector<ProofRow> rows;
  for (const kernels::ElementaryFunction& function : kernels::elementary_functions()) {
    const std::string name(function.name);
    if (!wanted(name)) continue;
    std::vector<ManyResults> implementations;
    for (const kernels::IsaTier* tier : tiers) {
      implementations.push_back(
          [&function, tier](std::span<const std::uint32_t> x, std::span<std::uint32_t> y) { kernels::apply(function, x, y, *tier); });
    }
    rows.push_back({std::string(kVectors),
                    row_name(name, tiers),
                    [name, implementations](std::uint32_t chunk) { return check_function_chunk(name, chunk, implementations); },
                    {}});
  }
  return rows;
}

}  // namespace mx::tests
