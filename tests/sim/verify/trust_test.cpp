// What a verdict stands on: the engine's own choice, data in which an exchange would show, and numbers that are numbers.

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "sim/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/draft.hpp"
#include "tests/checkpoint/form_drafts.hpp"
#include "tests/sim/verify/scratch.hpp"

namespace {

using namespace mx;
using namespace mx::tests;
using namespace mx::deployment;
using sim::Cell;
using sim::ConversionResult;
using sim::Verdict;
using sim::VerifyOptions;
using sim::VerifyReport;
using Kind = FormTensor::Kind;

VerifyOptions options_on(const char* platform, std::vector<int> tp = {1}) {
  VerifyOptions options;
  options.engine = mx::deployment::kVllm2026_05;
  options.platforms = {platform};
  options.tp = std::move(tp);
  options.tokens = 2;
  return options;
}

VerifyReport verified(const Draft& draft, const VerifyOptions& options) {
  const TemporaryDirectory directory;
  draft.write(directory.path());
  return sim::verify(checkpoint::Checkpoint(directory.path()), options);
}

/// The cell that the engine chooses at this tensor parallel size.
const Cell& chosen(const VerifyReport& report, int tp = 1) {
  const auto found = std::ranges::find_if(report.cells, [&](const Cell& cell) { return cell.request == "auto" && cell.tp == tp; });
  REQUIRE(found != report.cells.end());
  return *found;
}

/// Tensors of one kind, with the bytes of one row of theirs.
struct Shaped {
  support::TensorData* tensor;
  Kind kind;
  int projection;
  int expert;
};
std::vector<Shaped> tensors_of(Draft& draft, const FormCase& form) {
  std::vector<Shaped> tensors;
  for (int expert = 0; expert < kFormExperts; ++expert) {
    for (int projection = 0; projection < 3; ++projection) {
      for (const FormTensor& row : form.tensors)
        tensors.push_back({&draft.tensor(form_tensor_name(form, 0, expert, projection, row.suffix)), row.kind, projection, expert});
    }
  }
  return tensors;
}

/// An exchange that data may hide, and how they come to hide it.
struct Hidden {
  std::string_view words;
  void (*hide)(Draft& draft, const FormCase& form);
};

void copy_experts(Draft& draft, const FormCase& form) {
  for (const Shaped& one : tensors_of(draft, form)) {
    for (const FormTensor& row : form.tensors) {
      if (row.kind == one.kind) one.tensor->bytes = draft.tensor(form_tensor_name(form, 0, 2, one.projection, row.suffix)).bytes;
    }
  }
}
void copy_gate(Draft& draft, const FormCase& form) {
  for (const Shaped& one : tensors_of(draft, form)) {
    if (one.projection != 1) continue;
    for (const FormTensor& row : form.tensors) {
      if (row.kind == one.kind) one.tensor->bytes = draft.tensor(form_tensor_name(form, 0, one.expert, 0, row.suffix)).bytes;
    }
  }
}
void repeat_rows(Draft& draft, const FormCase& form) {
  for (const Shaped& one : tensors_of(draft, form)) {
    std::vector<std::uint8_t>& bytes = one.tensor->bytes;
    if (one.tensor->shape.size() < 2) continue;
    const auto row = static_cast<std::ptrdiff_t>(bytes.size()) / one.tensor->shape[0];
    for (auto at = bytes.begin() + row; at != bytes.end(); at += row) std::copy_n(bytes.begin(), row, at);
  }
}
void level_scales(Draft& draft, const FormCase& form) {
  for (const Shaped& one : tensors_of(draft, form)) {
    std::vector<std::uint8_t>& bytes = one.tensor->bytes;
    if (one.kind != Kind::scale) continue;
    const auto size = static_cast<std::ptrdiff_t>(bytes.size() / std::max<std::size_t>(1, [&] {
                                                    std::size_t count = 1;
                                                    for (const std::int64_t extent : one.tensor->shape) count *= static_cast<std::size_t>(extent);
                                                    return count;
                                                  }()));
    for (auto at = bytes.begin() + size; at < bytes.end(); at += size) std::copy_n(bytes.begin(), size, at);
  }
}
void level_codes(Draft& draft, const FormCase& form) {
  for (const Shaped& one : tensors_of(draft, form)) {
    if (one.kind != Kind::weight) continue;
    const auto row = one.tensor->bytes.size() / static_cast<std::size_t>(one.tensor->shape[0]);
    for (std::size_t i = 0; i < one.tensor->bytes.size(); ++i) {
      // Rows and experts stay apart: 1 to 6 in both nibbles, so that FP8 codes are numbers too.
      const auto code = 1 + (i / row + static_cast<std::size_t>(one.expert) + static_cast<std::size_t>(one.projection)) % 6;
      one.tensor->bytes[i] = static_cast<std::uint8_t>(code << 4U | code);
    }
  }
}

/// Of the scales, only where a matrix has several.
constexpr Hidden kHidden[] = {{"all experts are alike", copy_experts},
                              {"gate and up are alike", copy_gate},
                              {"all rows are alike", repeat_rows},
                              {"all scales are alike", level_scales},
                              {"all codes of a row are alike", level_codes}};

}  // namespace

TEST_CASE("data that hide an exchange never pass, and the verdict says which exchange") {
  for (const FormCase& form : form_cases()) {
    for (const Hidden& hidden : kHidden) {
      Draft draft = form_draft(form, 1);
      if (hidden.hide == level_scales && (form.format == layout::WeightFormat::fp8_tensor || form.format == layout::WeightFormat::fp8_block))
        continue;
      hidden.hide(draft, form);
      INFO(form.title << ": " << hidden.words);
      const VerifyReport report = verified(draft, options_on("SM100"));
      CHECK(report.held() == 0);
      CHECK(report.exit_code() != 0);
      for (const ConversionResult& result : report.conversions) {
        if (result.verdict != Verdict::mistrusted) continue;
        INFO(result.detail);
        CHECK(result.detail.find(hidden.words) != std::string::npos);
      }
      CHECK(report.count(Verdict::mistrusted) > 0);
    }
  }
}

TEST_CASE("an exchange that the form leaves no pair for is listed and takes nothing from the verdict") {
  const VerifyReport report = verified(form_draft(form_case("ModelOpt FP8"), 1), options_on("SM90"));
  REQUIRE(report.held() > 0);
  const ConversionResult& result = report.conversions[*chosen(report).conversion];
  CHECK(result.verdict == Verdict::passed);
  CHECK(std::ranges::find(result.not_asked, "w13_weight_scale: two scales: one scale covers the matrix") != result.not_asked.end());
}

TEST_CASE("tokens that reach nothing show no exchange") {
  const mx::tests::ScratchDirectory scratch;
  checkpoint::write_synthetic_checkpoint(scratch.path() / "model", {1, 4, 128, 128, 2, 1});
  VerifyOptions options = options_on("SM90");
  options.backends = {"MARLIN"};
  CHECK(sim::verify(checkpoint::Checkpoint(scratch.path() / "model"), options).exit_code() == 0);
  // Scales so small that every product is a zero of bf16: the bytes differ, the outputs cannot.
  Draft draft = form_draft(form_case("ModelOpt NVFP4"), 1);
  for (const Shaped& one : tensors_of(draft, form_case("ModelOpt NVFP4"))) {
    if (one.kind == Kind::global) one.tensor->bytes = {0, 0, 0x80, 0x0D};  // 2^-100
  }
  const VerifyReport report = verified(draft, options_on("SM90"));
  CHECK(report.held() == 0);
}

namespace {

/// A fault of a number of one kind of tensor.
struct Planted {
  Kind kind;
  std::string_view dtype;  ///< "*": whatever the kind has
  std::vector<std::uint8_t> bytes;
  checkpoint::ValueFault fault;
};

std::vector<std::uint8_t> f32_bytes(float value) {
  std::vector<std::uint8_t> bytes(4);
  std::memcpy(bytes.data(), &value, 4);
  return bytes;
}

const std::vector<Planted>& planted_faults() {
  using checkpoint::ValueFault;
  static const std::vector<Planted> faults{
      {Kind::weight, "F8_E4M3", {0x7F}, ValueFault::not_a_number},
      {Kind::weight, "F8_E4M3", {0xFF}, ValueFault::not_a_number},
      {Kind::scale, "U8", {0xFF}, ValueFault::not_a_number},
      {Kind::scale, "F8_E8M0", {0xFF}, ValueFault::not_a_number},
      {Kind::scale, "F8_E4M3", {0x7F}, ValueFault::not_a_number},
      {Kind::scale, "F8_E4M3", {0xFF}, ValueFault::not_a_number},
      {Kind::scale, "F8_E4M3", {0xB8}, ValueFault::negative},
      {Kind::scale, "F8_E4M3", {0x00}, ValueFault::zero_over_codes},
      {Kind::scale, "F8_E4M3", {0x80}, ValueFault::zero_over_codes},
      {Kind::scale, "F32", {0, 0, 0xC0, 0x7F}, ValueFault::not_a_number},
      {Kind::scale, "F32", {0, 0, 0xC0, 0xFF}, ValueFault::not_a_number},
      {Kind::scale, "F32", {0, 0, 0x80, 0x7F}, ValueFault::infinite},
      {Kind::scale, "F32", f32_bytes(0.0F), ValueFault::zero_over_codes},
      {Kind::scale, "F32", f32_bytes(-0.25F), ValueFault::negative},
      {Kind::scale, "F32", {1, 0, 0, 0}, ValueFault::subnormal},
      {Kind::global, "F32", {1, 0, 0x80, 0x7F}, ValueFault::not_a_number},
      {Kind::global, "F32", {0, 0, 0x80, 0xFF}, ValueFault::infinite},
      {Kind::global, "F32", f32_bytes(0.0F), ValueFault::zero_over_codes},
      {Kind::global, "F32", f32_bytes(-2.0F), ValueFault::negative},
      {Kind::input, "F32", {0, 0, 0xC0, 0x7F}, ValueFault::not_a_number},
      {Kind::input, "F32", {0, 0, 0x80, 0x7F}, ValueFault::infinite},
      {Kind::input, "F32", f32_bytes(0.0F), ValueFault::factor_infinite},
      {Kind::input, "F32", f32_bytes(-1.0F), ValueFault::negative},
  };
  return faults;
}

}  // namespace

TEST_CASE("a planted number that is none is always named, with its tensor and its place") {
  std::uint64_t draw = 11;
  for (const FormCase& form : form_cases()) {
    for (const Planted& planted : planted_faults()) {
      const auto row =
          std::ranges::find_if(form.tensors, [&](const FormTensor& one) { return one.kind == planted.kind && one.dtype == planted.dtype; });
      if (row == form.tensors.end()) continue;
      Draft draft = form_draft(form, 1);
      draw = draw * 6364136223846793005U + 1442695040888963407U;
      // FP8 refuses unlike scales of gate and up: those of w2 have no such pair.
      const int expert = static_cast<int>(draw >> 33U) % kFormExperts, projection = 2;
      const std::string name = form_tensor_name(form, 0, expert, projection, row->suffix);
      std::vector<std::uint8_t>& bytes = draft.tensor(name).bytes;
      const std::size_t size = planted.bytes.size(), at = (draw >> 40U) % (bytes.size() / size) * size;
      std::ranges::copy(planted.bytes, bytes.begin() + static_cast<std::ptrdiff_t>(at));
      INFO(form.title << " " << name << " at " << at << ": " << checkpoint::name_of(planted.fault));
      const VerifyReport report = verified(draft, options_on("SM100"));
      const auto named = std::ranges::find_if(report.values, [&](const checkpoint::LayerValues& value) {
        return value.fault.fault == planted.fault && value.fault.tensor == name && value.fault.count == 1;
      });
      REQUIRE(named != report.values.end());
      CHECK(named->fault.first.empty() == (bytes.size() == size));
      for (const Cell& cell : report.cells) {
        if (!cell.conversion || !checkpoint::spoils(planted.fault)) continue;
        const ConversionResult& result = report.conversions[*cell.conversion];
        INFO(result.backend << ": " << result.detail);
        // Weights alone are read by MARLIN: a scale of activations spoils nothing there.
        const bool reads = planted.kind != Kind::input || (result.backend != "MARLIN" && result.backend != "HUMMING");
        if (reads) CHECK(result.verdict != Verdict::passed);
      }
      if (!checkpoint::spoils(planted.fault)) CHECK(report.warnings() > 0);
    }
  }
}

TEST_CASE("a number is found and placed in a tensor that is read in several pieces") {
  const FormCase& form = form_case("FP8 block");
  constexpr std::int64_t kRows = 1280, kColumns = 1024, kBlock = 128;  // 1.25 MiB, where a piece has 1 MiB
  Draft draft = form_draft(form, 1);
  draft.config = "{" + form.quantization + "}";
  for (const Shaped& one : tensors_of(draft, form)) {
    const bool down = one.projection == 2, weight = one.kind == Kind::weight;
    const std::int64_t rows = down ? kColumns : kRows, columns = down ? kRows : kColumns;
    draft.reshape(one.tensor->name, weight ? std::vector{rows, columns} : std::vector{rows / kBlock, columns / kBlock});
    // Rows, matrices and experts differ.
    const auto step = static_cast<std::size_t>(3 * one.expert + one.projection);
    for (std::size_t at = 0; weight && at < one.tensor->bytes.size(); ++at)
      one.tensor->bytes[at] = static_cast<std::uint8_t>(0x30 + (at + step) % 11);
    for (std::size_t at = 0; !weight && at < one.tensor->bytes.size(); at += 4) std::ranges::copy(f32_bytes(1), &one.tensor->bytes[at]);
  }
  const auto tensor = [&](int expert, std::size_t row) -> support::TensorData& {
    return draft.tensor(form_tensor_name(form, 0, expert, 0, form.tensors[row].suffix));
  };
  tensor(0, 0).bytes.back() = 0x7F;
  // Scales of 0 over the last square: of all zeros, which is no fault, and of zeros before one other code.
  for (const int expert : {1, 2}) {
    std::vector<std::uint8_t>& codes = tensor(expert, 0).bytes;
    for (std::int64_t row = kRows - kBlock; row < kRows; ++row) std::fill_n(codes.begin() + (row + 1) * kColumns - kBlock, kBlock, std::uint8_t{0});
    std::vector<std::uint8_t>& scales = tensor(expert, 1).bytes;
    std::fill(scales.end() - 4, scales.end(), std::uint8_t{0});
  }
  tensor(2, 0).bytes.back() = 0x38;
  const TemporaryDirectory directory;
  draft.write(directory.path());
  const std::vector<checkpoint::ScannedFault> faults = checkpoint::Checkpoint(directory.path()).scan(0);
  std::vector<std::string> texts;
  for (const checkpoint::ScannedFault& fault : faults) texts.push_back(fault.text());
  CHECK(texts == std::vector<std::string>{"'" + tensor(0, 0).name + "': NaN, 1 in all, the first at [1279, 1023]",
                                          "'" + tensor(2, 1).name + "': a scale of 0 over codes that are not 0, 1 in all, the first at [9, 7]"});
}

TEST_CASE("a companion that a static scheme needs is missed, one or all") {
  for (const char* title : {"ModelOpt NVFP4", "ModelOpt FP8", "compressed-tensors NVFP4"}) {
    const FormCase& form = form_case(title);
    const auto row = std::ranges::find(form.tensors, Kind::input, &FormTensor::kind);
    Draft draft = form_draft(form, 1);
    draft.remove(form_tensor_name(form, 0, 1, 1, row->suffix));
    const VerifyReport report = verified(draft, options_on("SM100"));
    INFO(title);
    REQUIRE(report.values.size() == 1);
    CHECK(report.values[0].fault.fault == checkpoint::ValueFault::missing);
    CHECK(report.values[0].fault.tensor == form_tensor_name(form, 0, 1, 1, row->suffix));
    CHECK(report.exit_code() == 5);
    for (int expert = 0; expert < kFormExperts; ++expert) {
      for (int projection = 0; projection < 3; ++projection) {
        if (expert != 1 || projection != 1) draft.remove(form_tensor_name(form, 0, expert, projection, row->suffix));
      }
    }
    // A compressed-tensors checkpoint without any has 16-bit activations.
    const VerifyReport without = verified(draft, options_on("SM100"));
    CHECK(without.values.size() == (std::string(title).starts_with("ModelOpt") ? 1 : 0));
  }
}

TEST_CASE("global scales of gate and up that differ are a warning, and a sound checkpoint has none") {
  const FormCase& form = form_case("ModelOpt NVFP4");
  Draft draft = form_draft(form, 1);
  CHECK(verified(draft, options_on("SM100")).values.empty());
  draft.tensor(form_tensor_name(form, 0, 1, 1, ".weight_scale_2")).bytes = {0, 0, 0x80, 0x3F};
  const VerifyReport report = verified(draft, options_on("SM100"));
  REQUIRE(report.values.size() == 1);
  CHECK(report.values[0].fault.fault == checkpoint::ValueFault::unlike_halves);
  CHECK(report.warnings() == 1);
  CHECK(report.exit_code() == 0);
}

TEST_CASE("the chosen cell decides: what the engine raises is its own reason, at every size but the possible one") {
  const VerifyReport fp8 = verified(form_draft(form_case("FP8 block"), 1), options_on("SM90", {1, 2}));
  CHECK(is_held(fp8.verdict(chosen(fp8, 1))));
  // fp8.py create_weights: 64 rows of a rank are no whole block of 128.
  REQUIRE(chosen(fp8, 2).refusal);
  CHECK(chosen(fp8, 2).refusal->error_type == "ValueError");
  CHECK(chosen(fp8, 2).refusal->text == "The output_size of gate's and up's weight = 64 is not divisible by weight quantization block_n = 128.");
  CHECK(fp8.exit_code() == 4);
  CHECK(fp8.broken_choices() == 1);
  // That of 0.29.0 makes finer blocks.
  VerifyOptions finer = options_on("SM90", {1, 2});
  finer.engine = deployment::kVllm2026_08;
  const VerifyReport august = verified(form_draft(form_case("FP8 block"), 1), finer);
  CHECK(is_held(august.verdict(chosen(august, 1))));
  for (const auto& one : august.conversions) UNSCOPED_INFO(one.backend << " " << one.tp << ": " << one.detail);
  CHECK(is_held(august.verdict(chosen(august, 2))));
  CHECK(august.exit_code() == 0);

  // Half a group of 16 on a rank: the scales of the checkpoint do not fit, and TP 1 is verified all the same.
  const VerifyReport nvfp4 = verified(form_draft(form_case("ModelOpt NVFP4"), 1), options_on("SM90", {1, 16}));
  CHECK(is_held(nvfp4.verdict(chosen(nvfp4, 1))));
  CHECK(nvfp4.verdict(chosen(nvfp4, 16)) == Verdict::refused);
  CHECK(chosen(nvfp4, 16).refusal->text.find("whole blocks of 16") != std::string::npos);
  for (const Cell& cell : nvfp4.cells) CHECK((cell.tp == 1 || nvfp4.verdict(cell) == Verdict::refused));
}

TEST_CASE("the method's own class is the chosen cell, and without a verdict for it nothing exits 0") {
  const VerifyReport report = verified(form_draft(form_case("compressed-tensors MXFP4"), 1), options_on("SM100"));
  CHECK(chosen(report).backend == "NOT_ASKED");
  CHECK(chosen(report).kernel_class == "CutlassExpertsMxfp4");
  CHECK(report.verdict(chosen(report)) == Verdict::not_modelled);
  CHECK(report.held() > 0);
  CHECK(report.exit_code() == 5);
  for (const Cell& cell : report.cells) CHECK(cell.heard == (cell.request == "auto"));
}

TEST_CASE("a backend that the platform does not have says why") {
  VerifyOptions options = options_on("SM100");
  options.backends = {"CPU"};
  const VerifyReport report = verified(form_draft(form_case("Quark MXFP4"), 1), options);
  REQUIRE(report.cells.size() == 1);
  CHECK(report.cells[0].refusal->text == "device, cuda capability 100; the class needs cpu");
  CHECK(report.exit_code() == 5);
}

TEST_CASE("a variable changes the choice that is verified") {
  VerifyOptions options = options_on("gfx950");
  const Draft draft = form_draft(form_case("Quark MXFP4"), 1);
  const VerifyReport without = verified(draft, options);
  CHECK(without.verdict(chosen(without)) == Verdict::refused);
  CHECK(without.exit_code() == 4);
  options.env = {{"VLLM_ROCM_USE_AITER", "1"}};
  const VerifyReport with = verified(draft, options);
  CHECK(chosen(with).backend == "AITER_MXFP4_BF16");
  CHECK(is_held(with.verdict(chosen(with))));
}
