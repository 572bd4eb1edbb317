// Quantizers of every tier against the model, on blocks of any bits.

#include "tests/fuzz/target.hpp"
#include "tests/kernels/codec_cases.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<mx::tests::RecipeCase> cases = mx::tests::recipe_cases();
  mx::tests::Bytes bytes(data, size);
  const mx::tests::RecipeCase& the = cases[(bytes.byte() | static_cast<std::size_t>(bytes.byte()) << 8) % cases.size()];
  const mx::BlockFormat& format = *the.recipe->format;
  const std::size_t block = format.block == 0 ? 32 : static_cast<std::size_t>(format.block);
  const std::size_t rows = static_cast<std::size_t>(format.block_rows);
  const mx::kernels::Shape shape{rows * (1 + bytes.pick(2)), block / rows * (1 + bytes.pick(3))};
  const mx::TensorScale tensor = mx::tests::tensor_scale_for(mx::tensor_needs(*the.recipe), bytes.byte());
  const std::uint32_t mask = the.source->width == 32 ? 0xFFFFFFFFU : (1U << the.source->width) - 1U;
  std::vector<std::uint32_t> elements(shape.rows * shape.cols);
  for (std::uint32_t& element : elements) element = bytes.word() & mask;
  mx::tests::expect_answer([&] {
    const mx::tests::Packed wanted = mx::tests::quantized_by_model(elements, shape, the, tensor);
    for (const mx::kernels::IsaTier* tier : mx::tests::tiers_here())
      mx::tests::require(mx::tests::quantized_by_kernel(elements, shape, the, tensor, {tier, 1}) == wanted, "every tier has the model's bits");
  });
  return 0;
}
