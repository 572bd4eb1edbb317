#pragma once
// Runs written by hand, one of each kind that has a part of its own.

#include <string>
#include <vector>

#include "golden/report/report.hpp"

namespace mx::tests {

using golden::Json;
using ReportRun = golden::Run;

/// Two platforms, one of which the engine refuses with two ranks; every other cell passed.
inline Json verify_json() {
  return Json::parse(R"({
    "schema": "mxact-verify/1",
    "mxact": {"version": "0.1.0", "commit": "0123456789ab", "command": "mxact verify --json"},
    "checkpoint": {"path": "model", "form": "gpt-oss", "layers": 2, "layers_verified": 2, "experts": 8, "hidden": 256, "intermediate": 256,
                   "top_k": 4},
    "tokens": {"count": 4, "source": "generated, seed 1", "router": "checkpoint", "seed": 1},
    "contracts": ["exact", "f32-sequential"],
    "conversions": [
      {"backend": "MARLIN", "tp": 1, "hidden": 256, "rounded_hidden": 256, "intermediate": 256, "rounded_intermediate": 384, "verdict": "PASSED",
       "detail": "", "units_compared": 1000, "units_differing": 0, "outputs_compared": 20, "outputs_differing": 0,
       "layout": "sf_128x4,shape=1x128x4"},
      {"backend": "TRITON", "tp": 1, "hidden": 256, "rounded_hidden": 256, "intermediate": 256, "rounded_intermediate": 256, "verdict": "PASSED",
       "detail": "", "units_compared": 500, "units_differing": 0, "outputs_compared": 20, "outputs_differing": 0}],
    "cells": [
      {"platform": "SM80", "tp": 1, "request": "auto", "verdict": "PASSED", "backend": "MARLIN", "kernel_class": "MarlinExperts", "conversion": 0},
      {"platform": "SM90", "tp": 1, "request": "auto", "verdict": "PASSED", "backend": "TRITON", "kernel_class": "TritonExperts", "conversion": 1},
      {"platform": "SM90", "tp": 1, "request": "marlin", "verdict": "PASSED", "backend": "MARLIN", "kernel_class": "MarlinExperts", "conversion": 0},
      {"platform": "SM90", "tp": 2, "request": "auto", "verdict": "REFUSED", "refusal": {"error_type": "ValueError", "text": "no backend takes it"}}],
    "expected": [{"layer": 0, "values": 64, "worst_ulp": 1.25, "limit_ulp": 4.0, "verdict": "PASSED"}],
    "totals": {"cells": 4, "passed": 3, "failed": 0, "mistrusted": 0, "refused": 1, "not_modelled": 0},
    "exit_code": 0})");
}

/// The same with a conversion that differs: MARLIN on both platforms.
inline Json failed_verify_json() {
  Json json = verify_json();
  json["conversions"][0].update({{"verdict", "FAILED"}, {"units_differing", 3}, {"detail", "byte 7 of w2_weight"}});
  json["cells"][0]["verdict"] = json["cells"][2]["verdict"] = "FAILED";
  json["totals"].update({{"passed", 1}, {"failed", 2}});
  json["exit_code"] = 1;
  return json;
}

inline Json witness_json() {
  return Json::parse(R"({
    "schema": "mxact-witness/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"},
    "sets": [{"path": "sets/casts", "set": "casts", "format": "mxact-witness/1", "compared": 100, "differing": 0, "excused": 2, "skipped": 1,
              "entries_equal": 3, "entries_differs": 0, "entries_unmodelled": 1, "entries_nothing_compared": 0,
              "excuses": [{"implementation": "hip_header", "device": "cpu", "build": "any", "condition": "tiny", "reason": "undefined shift", "count": 2}],
              "entries": [{"id": "one", "level": "must", "what": "encode", "status": "equal", "compared": 100, "differing": 0, "excused": 2,
                           "skipped": 1}]}],
    "exit_code": 0})");
}

inline Json audit_json() {
  return Json::parse(R"({
    "schema": "mxact-audit/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "deployments": 10, "choices": 8, "checks": 40,
    "findings": [{"oracle": "mxfp4", "backend": "MARLIN", "kernel_class": "MarlinExperts", "need": "even", "statement": "the ranks divide",
                  "effect": "silent corruption", "consequence": "experts are lost", "grounds": "read", "source": "vllm a.py", "reference": "vllm#1",
                  "times": 4, "smallest": "platform SM80"}],
    "differences": []})");
}

inline Json sweep_json() {
  return Json::parse(R"({
    "schema": "mxact-sweep/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "format": "e4m3fn", "profile": "ocp", "conversion": {},
    "shard": "1/256", "complete": true, "digest": "mix64_sum", "chunks": [{"chunk": 0, "inputs": "0x00000000-0x00ffffff", "digest": "0x1"}],
    "against": {"recorded": "sets/sweep", "compared": 1, "differing": []}, "exit_code": 0})");
}

inline Json compare_json() {
  return Json::parse(R"({
    "schema": "mxact-compare/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "kind": "conversion", "format": "e4m3fn", "from": "bf16",
    "first": {"profile": "ocp"}, "second": {"profile": "ml_dtypes"}, "inputs": 65536, "differing": 5,
    "classes": [{"class": "overflow", "meaning": "too large", "inputs": 5}], "exit_code": 1})");
}

inline Json bench_json() {
  return Json::parse(R"({
    "context": {"date": "today", "host_name": "a-host-of-mine", "executable": "/home/me/bench", "num_cpus": 2, "caches": []},
    "benchmarks": [
      {"name": "to mxfp4/limit/1", "run_name": "to mxfp4/limit/1", "repetitions": 3, "bytes_per_second": 10e9},
      {"name": "to mxfp4/avx2/1", "run_name": "to mxfp4/avx2/1", "repetitions": 3, "bytes_per_second": 1e9},
      {"name": "to mxfp4/avx2/1_median", "run_name": "to mxfp4/avx2/1", "aggregate_name": "median", "repetitions": 3, "bytes_per_second": 5e9},
      {"name": "to mxfp4/avx2/1_cv", "run_name": "to mxfp4/avx2/1", "aggregate_name": "cv", "repetitions": 3, "bytes_per_second": 0.04},
      {"name": "gemm/8", "run_name": "gemm/8", "repetitions": 1, "rate": 3e9, "limit": 4e9, "share": 0.75},
      {"name": "alone", "run_name": "alone", "repetitions": 1, "items_per_second": 7}]})");
}

inline Json doctor_json() {
  return Json::parse(R"({
    "schema": "mxact-doctor/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "compiler": "GNU", "flags": "-O3", "isa": ["x86-64"],
    "threads": 2, "memory_gib": 4.5, "checks": [{"name": "rounding", "passed": true, "detail": "nearest"}], "healthy": true})");
}

inline Json study_json() {
  return Json::parse(R"({
    "schema": "mxact-study/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"},
    "values": 200,
    "rows": [
      {"format": "mxfp4", "profile": "torchao-floor", "rule": "floor",
       "cells": [{"distribution": "normal", "sqnr_db": 18.5, "max_error": 0.5, "saturated": 2, "flushed": 40},
                 {"distribution": "tiny", "sqnr_db": null, "max_error": 0, "saturated": 0, "flushed": 0}]},
      {"format": "mxfp4", "profile": "torchao-rceil", "rule": "rceil",
       "cells": [{"distribution": "normal", "sqnr_db": 19.25, "max_error": 0.25, "saturated": 0, "flushed": 50}]}]})");
}

inline Json formats_json() {
  return Json::parse(R"({"schema": "mxact-formats/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"},
    "formats": [{"name": "e2m1"}, {"name": "e4m3fn"}, {"name": "e8m0"}, {"name": "f32"}]})");
}

inline Json codes_json() {
  return Json::parse(R"({"schema": "mxact-formats/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"},
    "format": {"name": "e2m1"}, "codes": []})");
}

/// Scale 2^1; codes of e2m1: 0x2 is 1, 0xf is -6.
inline Json quantize_json() {
  return Json::parse(R"({"schema": "mxact-quantize/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"},
    "format": "mxfp4", "scale_rule": "floor", "profile": "ocp", "source": "f32", "rows": 1, "block": 2, "block_rows": 1, "dequantized_by": "exact",
    "blocks": [{"scale": "0x80", "elements": [{"input": "0x40000000", "code": "0x2", "dequantized": "0x40000000"},
                                              {"input": "0xc1500000", "code": "0xf", "dequantized": "0xc1400000"}]}],
    "scales": {"layout": "linear", "memory": ["0x80"]}})");
}

inline Json layout_json() {
  return Json::parse(R"({"schema": "mxact-layout-draw/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"},
    "layout": "sf_8x4,shape=12x6", "file": "a.svg", "bytes": 1, "addresses": 128})");
}

inline Json select_json() {
  return Json::parse(R"({"schema": "mxact-select/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "oracle": "mxfp4",
    "choice": {"backend": "MARLIN", "sizes": [1, 2]}, "trace": [{"backend": "TRITON", "supported": false}, {"backend": "MARLIN", "ok": true}]})");
}

inline Json sim_json() {
  return Json::parse(R"({"schema": "mxact-sim/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "layer": {"experts": 4},
    "cells": [
      {"backend": "MARLIN", "spread": "single", "answer": "chosen", "verdict": "bit-equal", "kernel_class": "MarlinExperts",
       "result": {"links": [{"link": "load", "state": "equal", "compared": 10}], "broken": null, "deployment": {"sqnr_db": 30.5}}},
      {"backend": "MARLIN", "spread": "TP=2", "answer": "possible", "verdict": "BROKEN: dispatch", "kernel_class": "MarlinExperts", "why": "rows are lost",
       "reported": {"what": "garbage", "cause": null},
       "result": {"links": [{"link": "load", "state": "broken", "compared": 10}], "broken": "dispatch", "deployment": {"sqnr_db": 2}}},
      {"backend": "XPU", "spread": "single", "answer": "refused", "verdict": "refused: device", "kernel_class": null}]})");
}

inline Json ver_json() {
  return Json::parse(R"({"schema": "mxact-ver/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "op": "f32_to_e4m3fn",
    "verdict": "PASSED", "expected": 10, "checked": 10, "mismatched": 0, "mismatches": [], "kinds": {}, "coverage": []})");
}

inline Json vectors_json() {
  return Json::parse(R"({"schema": "mxact-vectors/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "set": "v1", "part": "core",
    "files": 3, "missing": [], "different": [], "unknown": []})");
}

inline ReportRun named(const std::string& name, Json json) { return golden::run_of(name, std::move(json)); }

/// One run of each kind.
inline std::vector<ReportRun> every_run() {
  std::vector<ReportRun> runs;
  const auto add = [&](const char* name, Json json) { runs.push_back(named(name, std::move(json))); };
  add("verify.json", verify_json());
  add("witness.json", witness_json());
  add("audit.json", audit_json());
  add("sweep.json", sweep_json());
  add("compare.json", compare_json());
  add("bench.json", bench_json());
  add("doctor.json", doctor_json());
  add("study.json", study_json());
  add("sim.json", sim_json());
  add("ver.json", ver_json());
  add("vectors.json", vectors_json());
  add("formats.json", formats_json());
  add("codes.json", codes_json());
  add("quantize.json", quantize_json());
  add("layout.json", layout_json());
  add("select.json", select_json());
  return runs;
}

}  // namespace mx::tests
