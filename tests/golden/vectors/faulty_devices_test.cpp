// Broken devices: the model with planted faults answers the vectors of the committed set. Each must be caught by the files alone, and the class of
// its fault be named first.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "golden/vectors/files/set_rows.hpp"
#include "model/fault.hpp"
#include "tests/catch.hpp"
#include "tests/golden/vectors/device.hpp"

namespace {

using mx::fault::Fault;
using mx::golden::FaultClass;
using mx::golden::Lanes;
using mx::golden::MutableLanes;

/// Switches a fault on for a scope.
class Planted {
 public:
  explicit Planted(Fault fault) { mx::fault::set_active(fault); }
  ~Planted() { mx::fault::set_active(Fault::none); }
  Planted(const Planted&) = delete;
  Planted& operator=(const Planted&) = delete;
};

/// A committed file: its operation, and its rows as lanes of the file's columns.
struct CoreFile {
  const mx::golden::SetRow* row;
  std::string stem;
  std::unique_ptr<mx::golden::VectorOp> op;
  std::size_t row_lanes;
  std::vector<std::uint32_t> lanes;
};

CoreFile read(const mx::golden::SetRow& row) {
  CoreFile file{&row, {}, mx::golden::op_of(row, mx::golden::Edition::v1), 0, {}};
  file.stem = mx::golden::stem_of(row, *file.op);
  const std::vector<mx::golden::Column> columns = mx::golden::file_columns(*file.op);
  file.row_lanes = mx::golden::lane_count(columns);
  std::ifstream stream(std::filesystem::path(MXACT_SOURCE_DIR) / "golden/v1" / (file.stem + ".hex"));
  REQUIRE(stream.good());
  std::vector<std::string_view> fields(columns.size());
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("//")) continue;
    REQUIRE(mx::golden::split_fields(line, fields) == columns.size());
    file.lanes.resize(file.lanes.size() + file.row_lanes);
    MutableLanes lanes = MutableLanes(file.lanes).last(file.row_lanes);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto width = static_cast<std::size_t>(columns[i].lanes);
      REQUIRE(mx::golden::parse_field(fields[i], columns[i], lanes.first(width)) == mx::golden::FieldFault::none);
      lanes = lanes.subspan(width);
    }
  }
  return file;
}

const std::vector<CoreFile>& core_files() {
  static const std::vector<CoreFile> kFiles = [] {
    std::vector<CoreFile> files;
    for (const mx::golden::SetRow& row : mx::golden::all_set_rows()) {
      if (row.core && row.since == mx::golden::Edition::v1) files.push_back(read(row));
    }
    return files;
  }();
  return kFiles;
}

/// A broken device: the fault it is built with, or what it does to right answers; the file that it is tried on; and what a report should call it.
struct BrokenDevice {
  Fault fault;
  void (*spoil)(const mx::golden::VectorOp& op, MutableLanes answer);
  const char* file;
  FaultClass cls;
};

void swap_nibbles(const mx::golden::VectorOp& op, MutableLanes answer) {
  const auto scale = static_cast<std::size_t>(op.results().front().lanes == 1 && op.results().size() > 1 ? 1 : 0);
  for (std::size_t i = scale; i + 1 < answer.size(); i += 2) std::swap(answer[i], answer[i + 1]);
}
void next_address(const mx::golden::VectorOp& /*op*/, MutableLanes answer) { ++answer[0]; }

const std::vector<BrokenDevice>& broken_devices() {
  static const std::vector<BrokenDevice> kDevices{
      {Fault::encode_ties_away, nullptr, "cast/f32_to_e4m3fn.ocp.directed", FaultClass::rounding},
      {Fault::encode_ties_away, nullptr, "cast/f32_to_e5m2.ocp.directed", FaultClass::rounding},
      {Fault::encode_ties_away, nullptr, "cast/bf16_to_e2m1.ocp.directed", FaultClass::rounding},
      {Fault::encode_ties_away, nullptr, "cast/f32_to_e2m3.ocp.directed", FaultClass::rounding},
      {Fault::encode_drops_sticky, nullptr, "cast/f32_to_e4m3fn.ocp.directed", FaultClass::rounding},
      {Fault::encode_drops_sticky, nullptr, "cast/f32_to_e3m2.ocp.directed", FaultClass::rounding},
      {Fault::encode_loses_carry, nullptr, "cast/f32_to_e4m3fn.ocp.directed", FaultClass::rounding},
      {Fault::encode_loses_carry, nullptr, "cast/f32_to_e5m2.ocp.directed", FaultClass::rounding},
      {Fault::directed_ignores_sign, nullptr, "cast/f32_to_e4m3fn.ocp-ru.directed", FaultClass::rounding},
      {Fault::directed_ignores_sign, nullptr, "cast/f32_to_e4m3fn.ocp-rd.directed", FaultClass::rounding},
      {Fault::flush_lost, nullptr, "dot/dot_mxfp4_mxfp4.bf16-chain-64.directed", FaultClass::rounding},
      {Fault::encode_saturates_low, nullptr, "cast/f32_to_e4m3fn.ocp.directed", FaultClass::saturation},
      {Fault::encode_saturates_low, nullptr, "cast/f32_to_e2m3.ocp.directed", FaultClass::saturation},
      {Fault::saturation_leaves_no_flag, nullptr, "cast/f32_to_e4m3fn.ocp.directed", FaultClass::saturation},
      {Fault::saturation_leaves_no_flag, nullptr, "cast/f32_to_e5m2.ocp.directed", FaultClass::saturation},
      {Fault::scale_nan_is_top, nullptr, "scale/scale_mxfp4.ocp-bf16.directed", FaultClass::nan},
      {Fault::scale_nan_is_top, nullptr, "block/quantize_mxfp4.ocp-bf16.directed", FaultClass::nan},
      {Fault::amax_ignores_nan, nullptr, "scale/scale_mxfp4.ocp-bf16.directed", FaultClass::nan},
      {Fault::e8m0_top_is_infinite, nullptr, "cast/e8m0_to_f32.ocp.exhaustive", FaultClass::nan},
      {Fault::e8m0_top_is_infinite, nullptr, "cast/e8m0_to_bf16.ocp.exhaustive", FaultClass::nan},
      {Fault::decode_subnormal_shift, nullptr, "cast/e4m3fn_to_f32.ocp.exhaustive", FaultClass::subnormal},
      {Fault::decode_subnormal_shift, nullptr, "cast/e5m2_to_f32.ocp.exhaustive", FaultClass::subnormal},
      {Fault::decode_subnormal_shift, nullptr, "cast/e2m1_to_bf16.ocp.exhaustive", FaultClass::subnormal},
      {Fault::scale_bumps_any_subnormal, nullptr, "scale/scale_mxfp4.torchao-rceil-bf16.directed", FaultClass::subnormal},
      {Fault::encode_drops_zero_sign, nullptr, "cast/f32_to_e4m3fn.ocp.directed", FaultClass::sign},
      {Fault::encode_drops_zero_sign, nullptr, "cast/f32_to_bf16.ocp.directed", FaultClass::sign},
      {Fault::encode_drops_zero_sign, nullptr, "cast/bf16_to_e2m1.ocp.directed", FaultClass::sign},
      {Fault::fixed_point_loses_sign, nullptr, "cast/mxint8_to_f32.ocp.exhaustive", FaultClass::sign},
      {Fault::e8m0_zero_is_zero, nullptr, "cast/e8m0_to_f32.ocp.exhaustive", FaultClass::scale},
      {Fault::scale_rounds_down, nullptr, "scale/scale_mxfp4.torchao-ceil-bf16.directed", FaultClass::scale},
      {Fault::scale_even_loses_carry, nullptr, "scale/scale_mxfp4.torchao-even-bf16.directed", FaultClass::scale},
      {Fault::scale_floor_off_by_one, nullptr, "scale/scale_mxfp4.ocp.directed", FaultClass::scale},
      {Fault::sf128x4_columns_swapped, nullptr, "layout/address_sf_128x4.256x8.directed", FaultClass::address},
      {Fault::sf128x4_rows_mixed, nullptr, "layout/address_sf_128x4.100x6.directed", FaultClass::address},
      {Fault::sf8x4_columns_first, nullptr, "layout/address_sf_8x4.20x6.directed", FaultClass::address},
      {Fault::shuffle_a_wrong_stride, nullptr, "layout/address_trtllm.shuffle_matrix_a.256x16.directed", FaultClass::address},
      {Fault::none, next_address, "layout/address_sf_128x4.256x8.directed", FaultClass::address},
      {Fault::none, next_address, "layout/address_sf_8x4.20x6.directed", FaultClass::address},
      {Fault::none, swap_nibbles, "block/quantize_mxfp4.ocp-bf16.directed", FaultClass::order},
      {Fault::none, swap_nibbles, "block/quantize_nvfp4.vllm-nvfp4-bf16.directed", FaultClass::order},
      {Fault::none, swap_nibbles, "decode/dequantize_mxfp4_to_bf16.ocp.directed", FaultClass::order},
  };
  return kDevices;
}

/// What a broken device makes of one file.
struct Verdict {
  std::size_t wrong = 0;
  std::vector<mx::golden::Explanation> explanations;
};

Verdict judged(const CoreFile& file, const BrokenDevice& broken) {
  const std::size_t operands = mx::golden::lane_count(file.op->operands());
  const std::size_t results = mx::golden::lane_count(file.op->results());
  mx::golden::Evidence evidence(*file.op);
  Verdict verdict;
  std::vector<std::uint32_t> answer(results);
  {
    // The device is built with its fault, as a design is.
    const Planted planted(broken.fault);
    const auto device = mx::golden::op_of(*file.row, mx::golden::Edition::v1);
    for (Lanes rest = file.lanes; !rest.empty(); rest = rest.subspan(file.row_lanes)) {
      device->evaluate(rest.first(operands), answer);
      if (broken.spoil != nullptr) broken.spoil(*device, answer);
      const Lanes right = rest.subspan(operands, results);
      const Lanes mask = rest.subspan(operands + results, results);
      bool match = true;
      for (std::size_t i = 0; i < results; ++i) match = match && ((answer[i] ^ right[i]) & mask[i]) == 0;
      verdict.wrong += match ? 0U : 1U;
      evidence.add(rest.first(operands), right, mask, answer, match);
    }
  }
  verdict.explanations = evidence.explanations();
  return verdict;
}

const CoreFile& file_named(std::string_view stem) {
  const auto file = std::ranges::find(core_files(), stem, &CoreFile::stem);
  REQUIRE(file != core_files().end());
  return *file;
}

}  // namespace

TEST_CASE("the model without faults gives every answer of the committed files") {
  for (const CoreFile& file : core_files()) {
    INFO(file.stem);
    REQUIRE(file.lanes.size() > file.row_lanes);
    CHECK(judged(file, {Fault::none, nullptr, "", FaultClass::value}).wrong == 0);
  }
}

TEST_CASE("every broken device is caught by the committed files alone, and at least 95 % are named rightly first") {
  std::size_t named = 0;
  std::string others;
  for (const BrokenDevice& broken : broken_devices()) {
    const Verdict verdict = judged(file_named(broken.file), broken);
    INFO(broken.file << ", fault " << static_cast<int>(broken.fault));
    CHECK(verdict.wrong > 0);
    const bool right = !verdict.explanations.empty() && verdict.explanations.front().cls == broken.cls;
    named += right ? 1U : 0U;
    if (!right) others += std::string(broken.file) + ": " + (verdict.explanations.empty() ? "nothing" : verdict.explanations.front().name) + "; ";
  }
  CHECK(broken_devices().size() >= 30);
  INFO(others);
  CHECK(named * 100 >= broken_devices().size() * 95);
}
