#pragma once
// Runs written by hand, one of each kind that has a part of its own.

#include <string>
#include <string_view>
#include <vector>

#include "tests/json_text.hpp"
#include "verbs/report/report.hpp"

namespace mx::tests {

using support::Json;
using ReportRun = verbs::Run;

/// Two platforms, one of which the engine refuses with two ranks; every other cell passed.
inline Json verify_json() {
  return parsed(R"({
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
  return parsed(R"({
    "schema": "mxact-witness/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"},
    "sets": [{"path": "sets/casts", "set": "casts", "format": "mxact-witness/1", "compared": 100, "differing": 0, "excused": 2, "skipped": 1,
              "entries_equal": 3, "entries_differs": 0, "entries_unmodelled": 1, "entries_nothing_compared": 0,
              "excuses": [{"implementation": "hip_header", "device": "cpu", "build": "any", "condition": "tiny", "reason": "undefined shift", "count": 2}],
              "entries": [{"id": "one", "level": "must", "what": "encode", "status": "equal", "compared": 100, "differing": 0, "excused": 2,
                           "skipped": 1}]}],
    "exit_code": 0})");
}

inline Json audit_json() {
  return parsed(R"({
    "schema": "mxact-audit/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "engine": "vllm@2026-05", "deployments": 10,
    "choices": 8, "checks": 40,
    "findings": [{"oracle": "mxfp4", "backend": "MARLIN", "kernel_class": "MarlinExperts", "need": "even", "statement": "the ranks divide",
                  "effect": "silent corruption", "consequence": "experts are lost", "grounds": "read", "source": "vllm a.py", "reference": "vllm#1",
                  "until": "vllm@2026-08", "times": 4, "smallest": "platform SM80"}],
    "differences": []})");
}

inline Json upgrade_json() {
  return parsed(R"({
    "schema": "mxact-engine-diff/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "from": "vllm@2026-05", "to": "vllm@2026-08",
    "deployments": 10, "counts": {"choice": 3, "refusal": 0, "class": 1, "sizes": 0},
    "changes": [{"deployments": 3, "oracle": "fp8", "kind": "choice", "before": "TRITON", "after": "DEEPGEMM", "cause": "it comes before",
                 "smallest": "platform SM120"},
                {"deployments": 1, "oracle": "mxfp4", "kind": "class", "before": "XPU/A", "after": "XPU/B", "cause": "renamed",
                 "smallest": "platform XPU"}],
    "memory_counts": {"compared": 9, "differing": 2, "unknown": 1},
    "memory": [{"deployments": 2, "oracle": "mxfp4",
                "before": {"backend": "MARLIN", "layout": "MARLIN mxfp4", "missing": null, "source": null, "bytes": 640,
                           "tensors": [{"tensor": "w13_weight", "dtype": "U8", "shape": [2, 320], "bytes": 640}]},
                "after": {"backend": "MARLIN", "layout": "MARLIN mxfp4", "missing": null, "source": null, "bytes": 1280,
                          "tensors": [{"tensor": "w13_weight", "dtype": "U8", "shape": [4, 320], "bytes": 1280}]},
                "cause": "other sizes", "tensors": [{"tensor": "w13_weight", "differs": "shape", "before": "U8[2, 320]", "after": "U8[4, 320]"}],
                "smallest": "platform SM80"},
               {"deployments": 1, "oracle": "fp8",
                "before": {"backend": "TRITON", "layout": "TRITON fp8_block", "missing": null, "source": null, "bytes": 9, "tensors": []},
                "after": {"backend": "HPC", "layout": null, "missing": "no layout", "source": null, "bytes": null, "tensors": []},
                "cause": "no layout", "tensors": [], "smallest": "platform SM90"}],
    "exit_code": 0
})");
}

inline Json sweep_json() {
  return parsed(R"({
    "schema": "mxact-sweep/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "format": "e4m3fn", "profile": "ocp", "conversion": {},
    "shard": "1/256", "complete": true, "digest": "mix64_sum", "chunks": [{"chunk": 0, "inputs": "0x00000000-0x00ffffff", "digest": "0x1"}],
    "against": {"recorded": "sets/sweep", "compared": 1, "differing": []}, "exit_code": 0})");
}

inline Json compare_json() {
  return parsed(R"({
    "schema": "mxact-compare/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "kind": "conversion", "format": "e4m3fn", "from": "bf16",
    "first": {"profile": "ocp"}, "second": {"profile": "ml_dtypes"}, "inputs": 65536, "differing": 5,
    "classes": [{"class": "overflow", "meaning": "too large", "inputs": 5}], "exit_code": 1})");
}

inline Json bench_json() {
  return parsed(R"({
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
  return parsed(R"({
    "schema": "mxact-doctor/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "compiler": "GNU", "flags": "-O3", "isa": ["x86-64"],
    "threads": 2, "memory_gib": 4.5, "checks": [{"name": "rounding", "passed": true, "detail": "nearest"}], "healthy": true})");
}

inline Json study_json() {
  return parsed(R"({
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
  return parsed(R"({"schema": "mxact-formats/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"},
    "formats": [{"name": "e2m1"}, {"name": "e4m3fn"}, {"name": "e8m0"}, {"name": "f32"}]})");
}

inline Json codes_json() {
  return parsed(R"({"schema": "mxact-formats/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"},
    "format": {"name": "e2m1"}, "codes": []})");
}

/// Scale 2^1; codes of e2m1: 0x2 is 1, 0xf is -6.
inline Json quantize_json() {
  return parsed(R"({"schema": "mxact-quantize/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"},
    "format": "mxfp4", "scale_rule": "floor", "profile": "ocp", "source": "f32", "rows": 1, "block": 2, "block_rows": 1, "dequantized_by": "exact",
    "blocks": [{"scale": "0x80", "elements": [{"input": "0x40000000", "code": "0x2", "dequantized": "0x40000000"},
                                              {"input": "0xc1500000", "code": "0xf", "dequantized": "0xc1400000"}]}],
    "scales": {"layout": "linear", "memory": ["0x80"]}})");
}

inline Json layout_json() {
  return parsed(R"({"schema": "mxact-layout-draw/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"},
    "layout": "sf_8x4,shape=12x6", "file": "a.svg", "bytes": 1, "addresses": 128})");
}

inline Json select_json() {
  return parsed(R"({"schema": "mxact-select/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "oracle": "mxfp4",
    "choice": {"backend": "MARLIN", "sizes": [1, 2]}, "trace": [{"backend": "TRITON", "supported": false}, {"backend": "MARLIN", "ok": true}]})");
}

inline Json sim_json() {
  return parsed(R"({"schema": "mxact-sim/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "layer": {"experts": 4},
    "cells": [
      {"backend": "MARLIN", "spread": "single", "answer": "chosen", "verdict": "bit-equal", "kernel_class": "MarlinExperts",
       "result": {"links": [{"link": "load", "state": "equal", "compared": 10}], "broken": null, "deployment": {"sqnr_db": 30.5}}},
      {"backend": "MARLIN", "spread": "TP=2", "answer": "possible", "verdict": "BROKEN: dispatch", "kernel_class": "MarlinExperts", "why": "rows are lost",
       "reported": {"what": "garbage", "cause": null},
       "result": {"links": [{"link": "load", "state": "broken", "compared": 10}], "broken": "dispatch", "deployment": {"sqnr_db": 2}}},
      {"backend": "XPU", "spread": "single", "answer": "refused", "verdict": "refused: device", "kernel_class": null}]})");
}

inline Json ver_json() {
  return parsed(R"({"schema": "mxact-ver/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "op": "f32_to_e4m3fn",
    "verdict": "PASSED", "expected": 10, "checked": 10, "mismatched": 0, "mismatches": [], "kinds": {}, "coverage": []})");
}

inline Json merged_json() {
  return parsed(R"({"schema": "mxact-coverage/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "set": "v1.1", "files": ["a.json"],
    "runs": [{"op": "f32_to_e4m3fn", "set": "directed", "checked": 10, "wrong": 0, "verdict": "PASSED"}], "wrong_bins": [],
    "coverage": {"tables": [{"table": "f32_to_e4m3fn", "axes": [{"axis": "rounding", "hit": 2, "reachable": 2, "total": 4, "unreachable": []}]}],
      "hit": 2, "reachable": 2, "total": 4}, "verdict": "PASSED"})");
}

inline Json vectors_json() {
  return parsed(R"({"schema": "mxact-vectors/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "set": "v1", "part": "core",
    "files": 3, "missing": [], "different": [], "unknown": []})");
}

/// Two faults, of which the second survives.
inline Json faults_json() {
  return parsed(R"({"schema": "mxact-faults/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "extent": "named",
    "laws": [{"id": "N2/e4m3fn", "statement": "encode rounds once"}, {"id": "L1/programs", "statement": "one to one"}],
    "faults": [
      {"id": "encode_ties_away", "area": "numerics", "place": "model/numerics/rounding.cpp goes_up", "breaks": "ties go away from zero",
       "named": ["N2/e4m3fn"], "tried": 1, "killed": true,
       "laws": [{"law": "N2/e4m3fn", "fate": "broken", "first_line": "N2/e4m3fn: 3 of 10 cases fail"}]},
      {"id": "digit_flip_lost", "area": "layouts", "place": "model/layout/digits.cpp Symbolic", "breaks": "flips are forgotten",
       "named": ["L1/programs"], "tried": 1, "killed": false, "laws": []}],
    "numbers": ["N2", "L1"],
    "areas": [{"area": "numerics", "faults": 1, "killed": 1, "named_rightly": 1}, {"area": "layouts", "faults": 1, "killed": 0, "named_rightly": 0}],
    "exit_code": 1})");
}

inline Json blindness_json() {
  return parsed(R"({"schema": "mxact-blindness/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"},
    "tolerances": [{"suite": "aiter", "rule": "95 % within 0.01", "source": "aiter"}, {"suite": "bits", "rule": "all equal", "source": "mxact"}],
    "data": [{"name": "wide", "note": "normal"}],
    "faults": [{"id": "sim_drops_alpha", "area": "simulator", "breaks": "alpha is not passed on", "threw": 0,
                "runs": [{"backend": "MARLIN", "data": "wide", "elements": 2048, "differ": 2000, "accepted": ["aiter"]}]}]})");
}

inline Json plan_json() {
  return parsed(R"({"schema": "mxact-plan/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "plan": "xxh3:01", "backend": "MARLIN",
    "setting": {"experts": 8, "hidden": 180, "rounded_hidden": 256, "intermediate": 256, "rounded_intermediate": 256, "engine": "2026-05", "platform": "sm90"},
    "units": [{"unit": 0, "what": "layer 0", "file": "mxact-layer-00000.safetensors", "bytes": 1500000},
              {"unit": 1, "what": "shard a.safetensors", "file": "a.safetensors", "bytes": 500000}], "bytes": 2000000})");
}

/// The plan's own file, which run and merge read.
inline Json plan_file_json() {
  return parsed(
      R"({"schema": "mxact-plan/1", "program": "mxact 0.1.0", "checkpoint": "/model", "output": "/packed", "backend": "MARLIN", "rank": 0,
    "setting": {"sizes": {"experts": 8, "intermediate": 256, "hidden": 180, "group": 32}, "engine": "2026-05", "platform": "sm90"},
    "files": [{"name": "a.safetensors", "size": 1, "header": "xxh3:02"}],
    "units": [{"unit": 0, "what": "layer 0", "file": "mxact-layer-00000.safetensors", "bytes": 1500000}], "id": "xxh3:01"})");
}

inline Json run_units_json() {
  return parsed(R"({"schema": "mxact-run/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "plan": "xxh3:01",
    "units": [{"unit": 0, "file": "mxact-layer-00000.safetensors", "size": 1600000, "digest": "xxh3:03", "outcome": "written"},
              {"unit": 1, "file": "a.safetensors", "size": 500100, "digest": "xxh3:04", "outcome": "there already"}]})");
}

inline Json merge_json() {
  return parsed(
      R"({"schema": "mxact-merge/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "plan": "xxh3:01", "checkpoint": "/model",
    "output": "/packed", "backend": "MARLIN", "rank": 0, "setting": {"experts": 8, "hidden": 180, "rounded_hidden": 256, "intermediate": 256,
    "rounded_intermediate": 256, "engine": "2026-05", "platform": "sm90"}, "layers": 1, "bytes_in": 1500000, "bytes_out": 1600000, "other_tensors": 3,
    "digest": "xxh3:05", "losses": [{"tensor": "w13_bias", "what": "rounded to fp16", "units": 7, "layers": [0]}]})");
}

inline Json restore_json() {
  return parsed(R"({"schema": "mxact-restore/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "directories": ["packed"],
    "output": "/restored", "backend": "MARLIN", "setting": {"experts": 8, "hidden": 180, "rounded_hidden": 256, "intermediate": 256,
    "rounded_intermediate": 256, "engine": "2026-05", "platform": "sm90"}, "layers": 1, "files": 2, "bytes": 1500000, "losses": []})");
}

/// Two tables of one family and one of another: 5 bins are hit, 1 is missed, 2 cannot be reached.
inline Json coverage_json() {
  return parsed(R"({"schema": "mxact-vectors/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "set": "v1", "part": "core",
    "coverage": {"tables": [
      {"table": "cast/a", "axes": [{"axis": "rounding", "hit": 1, "reachable": 1, "total": 2, "unreachable": []}]},
      {"table": "dot/b", "axes": [{"axis": "sum", "hit": 2, "reachable": 2, "total": 2, "unreachable": []}]},
      {"table": "cast/c", "axes": [{"axis": "rounding", "hit": 2, "reachable": 3, "total": 4, "unreachable": []}]}],
      "hit": 5, "reachable": 6, "total": 8}})");
}

inline Json needs_json() {
  return parsed(R"({"schema": "mxact-needs/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "oracles": [{"oracle": "mxfp4", "rows": [
    {"backend": "MARLIN", "kernel_class": "MarlinExperts", "needs": [
      {"id": "sizes", "statement": "H divides by 64", "effect": "error", "consequence": "it raises", "grounds": "read", "source": "ops.cu", "reference": ""},
      {"id": "bias", "statement": "no bias", "effect": "silent corruption", "consequence": "it is dropped", "grounds": "run", "source": "a.py", "reference": ""}]},
    {"backend": "XPU", "kernel_class": "XPUExperts", "needs": [
      {"id": "sizes", "statement": "unknown", "effect": "error", "consequence": "unknown", "grounds": "assumed", "source": "none", "reference": ""}]}]}]})");
}

/// Scales 2^-2 and, from 1.5 on, 2^-1.
inline Json rules_json() {
  return parsed(R"({"schema": "mxact-scale-rules/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "amax": "1 to 2", "formats": [
    {"format": "mxfp4", "rows": [{"rule": "floor", "profiles": ["ocp", "torchao-floor"], "below": 125, "above": 125, "first": null},
                                 {"rule": "rceil", "profiles": ["torchao-rceil"], "below": 125, "above": 126, "first": "0x3fc00000"}]}]})");
}

inline Json line_json() {
  return parsed(R"({"schema": "mxact-error-line/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "rounding": "nearest_even",
    "overflow": "saturate", "lowest": -1, "highest": 1, "bins": 2, "samples": 4, "formats": [{"name": "e2m1", "worst": [1, 0.5, 0.125, 0]}]})");
}

inline Json diff_json() {
  return parsed(R"({"schema": "mxact-layout-diff/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"}, "a": "sf_8x4,shape=1x8x8",
    "b": "sf_128x4,shape=1x8x8", "equal": false, "address_bits": 8, "addresses": 1024, "differing": 900,
    "first": [{"address": 1, "count": 3, "a": "one", "b": "two"}], "digits_only_in_a": [], "digits_only_in_b": []})");
}

/// A comparison whose tolerance passes one wrong kernel and fails one right one.
inline Json power_json() {
  return parsed(R"({
    "schema": "mxact-laws/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab", "command": "mxact laws power"}, "subject": "power",
    "law": "power mxfp4", "command": "./mine", "seed": 0, "compared": 9, "answers": 9,
    "power": {"layer": "mxfp4, SILU", "unit": "times what passes", "why": "no limit parts them", "parts": null, "share": 0.5,
              "wrong": [{"name": "zeros", "what": "every output is 0", "passes": {"plain": false, "small": true}, "error": 0.5, "data": "small", "smallest": "small data"},
                        {"name": "nan", "what": "every output is NaN", "passes": {"plain": false}, "error": null, "data": "plain", "smallest": ""}],
              "right": [{"name": "MARLIN", "what": "split of k", "passes": {"plain": true}, "error": 0.25, "data": "plain", "smallest": ""},
                        {"name": "exact", "what": "itself", "passes": {"plain": true}, "error": 0, "data": "plain", "smallest": ""},
                        {"name": "TRITON", "what": "f32", "passes": {"plain": false}, "error": 2, "data": "plain", "smallest": ""}],
              "unseen": [], "elsewhere": [], "refuses": [], "passing": ["zeros"], "failing": ["TRITON"]},
    "failure": "it passes zeros", "replay": "mxact laws power", "verdict": "FAILED", "exit_code": 1})");
}

inline Json changes_json() {
  return parsed(R"({"schema": "mxact-table-changes/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab"},
    "changes": [{"table": "recipes", "row": "ocp", "change": "rule", "text": "floor to ceil", "judgement": "law"},
                {"table": "recipes", "row": "hip", "change": "flush", "text": "none to both", "judgement": "survives"}],
    "tables": [{"table": "recipes", "changes": 2, "law": 1, "survives": 1}], "exit_code": 1})");
}

/// What is at a path: "/cells/0/verdict". A member that is not there is added.
inline Json& at_path(Json& json, std::string_view path) {
  if (path.empty()) return json;
  const std::string key(path.substr(1, path.find('/', 1) - 1));
  return at_path(json.is_array() ? json[std::stoul(key)] : json[key], path.substr(1 + key.size()));
}

/// One value changed.
inline Json with(Json json, std::string_view path, Json value) {
  at_path(json, path) = std::move(value);
  return json;
}

/// The paths of all values that have no value below them.
inline std::vector<std::string> paths_in(const Json& json) {
  if (!json.is_structured() || json.empty()) return {""};
  std::vector<std::string> paths;
  const auto add = [&](const std::string& key, const Json& value) {
    for (const std::string& below : paths_in(value)) paths.push_back("/" + key + below);
  };
  if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) add(std::to_string(i), json[i]);
  } else {
    for (const auto& [key, value] : json.items()) add(key, value);
  }
  return paths;
}

inline ReportRun named(const std::string& name, Json json) { return verbs::run_of(name, std::move(json)); }

/// Two kinds of scales and one finding.
inline Json inspect_json() {
  return parsed(R"({
    "schema": "mxact-inspect/1", "mxact": {"version": "0.1.0", "commit": "0123456789ab", "command": "mxact inspect model --deep --json"},
    "checkpoint": {"path": "model", "files": 1, "bytes": 4096}, "producer": {"name": "modelopt", "version": "0.47.0", "place": "quantization_config.producer.version"},
    "method": "modelopt_fp4",
    "groups": [{"form": "ModelOpt NVFP4", "meaning": "value = e2m1 * e4m3 * weight_scale_2", "place": "model.layers.N.mlp", "layers": [0, 1], "experts": 4,
                "hidden": 64, "intermediate": 32, "gated": true, "converts": true, "further": false, "named_in": "", "bytes": 4000,
                "tensors": [{"name": "gate_proj.weight", "dtype": "U8", "shape": [32, 32], "tensors": 8, "bytes": 8192}],
                "scales": [{"name": "gate_proj.weight_scale", "dtype": "F8_E4M3", "count": 300, "least": 0.5, "most": 448.0, "zeros": 4, "subnormals": 0,
                            "largest": 1, "binades": [{"exponent": -1, "count": 20}, {"exponent": 0, "count": 200}, {"exponent": 8, "count": 76}]},
                           {"name": "gate_proj.weight_scale_2", "dtype": "F32", "count": 8, "least": 0.25, "most": 0.25, "zeros": 0, "subnormals": 0,
                            "largest": 0, "binades": [{"exponent": -2, "count": 8}]}]}],
    "dense": [], "shared_experts": 0, "kv_scales": 0, "ignored": [], "others": {"tensors": 3, "bytes": 96}, "deep": true, "bytes_read": 4000,
    "faults": [{"group": 0, "layer": 1, "fault": "equal_experts", "spoils": false, "tensor": "model.layers.1.mlp.experts.2.gate_proj.weight", "count": 1,
                "first": "", "detail": "experts 0, 2 have the same codes", "means": "an export that wrote each expert over the one before", "sure": "very likely",
                "seen": "weights"}],
    "disagreements": [], "known": [], "open": [], "verdict": "FAILED", "exit_code": 1})");
}

/// One run of each kind.
inline std::vector<ReportRun> every_run() {
  std::vector<ReportRun> runs;
  const auto add = [&](const char* name, Json json) { runs.push_back(named(name, std::move(json))); };
  add("verify.json", verify_json());
  add("witness.json", witness_json());
  add("audit.json", audit_json());
  add("upgrade.json", upgrade_json());
  add("sweep.json", sweep_json());
  add("compare.json", compare_json());
  add("bench.json", bench_json());
  add("doctor.json", doctor_json());
  add("study.json", study_json());
  add("sim.json", sim_json());
  add("ver.json", ver_json());
  add("merged.json", merged_json());
  add("vectors.json", vectors_json());
  add("faults.json", faults_json());
  add("blindness.json", blindness_json());
  add("formats.json", formats_json());
  add("codes.json", codes_json());
  add("quantize.json", quantize_json());
  add("layout.json", layout_json());
  add("select.json", select_json());
  add("plan.json", plan_json());
  add("plan-file.json", plan_file_json());
  add("run.json", run_units_json());
  add("merge.json", merge_json());
  add("restore.json", restore_json());
  add("coverage.json", coverage_json());
  add("needs.json", needs_json());
  add("rules.json", rules_json());
  add("line.json", line_json());
  add("diff.json", diff_json());
  add("changes.json", changes_json());
  add("inspect.json", inspect_json());
  return runs;
}

}  // namespace mx::tests
