// Three devices beside the C model under Icarus, which has no DPI-C: the converter, the address generator and a dot product with C, answer by answer.
// +broken: their broken twins. +unknown, +undriven, +unlike and +narrow: what is refused ends the simulation with exit status 1.
module vpi_bench;
  localparam int COUNT = 20000;
  logic [31:0] a;
  logic [15:0] row, column;
  logic [7:0]  r [2];
  logic [31:0] address [2];
  logic        broken;
  logic [31:0] undriven;
  int          executed, wrong_codes, wrong_addresses;
  // A dot product of 48 lanes with C, and a row of blocks under a scale of the whole tensor.
  logic [191:0]  dot_a, dot_b;
  logic [31:0]   dot_c;
  logic [31:0]   dot_r [2];
  logic [2047:0] x, back;
  logic [255:0]  codes;
  logic [31:0]   scales;
  int            wrong_sums;
  for (genvar i = 0; i < 2; i++) begin : twin
    e2m1_dot_c #(.LANES(48), .BROKEN(i)) dot (.a(dot_a), .b(dot_b), .c(dot_c), .r(dot_r[i]));
    f32_to_e4m3 #(.BROKEN(i)) converter (.a(a), .r(r[i]));
    sf128x4_address #(.BROKEN(i)) generator (.row(row), .column(column), .address(address[i]));
  end
  initial begin
    broken = $test$plusargs("broken") != 0;
    if ($test$plusargs("unknown") != 0) $display("%h", $mxact_convert("ocp", "f32", "e4m3x", 1));
    if ($test$plusargs("undriven") != 0) $display("%h", $mxact_convert("ocp", "f32", "e4m3fn", undriven));
    if ($test$plusargs("unlike") != 0) $display("%h", $mxact_dot("exact", "e2m1", 12'h123, "e2m1", 8'h12, 0));
    if ($test$plusargs("narrow") != 0)
      $display("%h", $mxact_quantize("vllm-nvfp4", "nvfp4", "f32", {64{32'h3f800000}}, 32'h41000000, 0, row, codes));
    executed = 0;
    wrong_sums = 0;
    dot_a = {6{32'h12345678}};
    dot_b = {6{32'h9abcdef1}};
    wrong_codes = 0;
    wrong_addresses = 0;
    a = 32'h3f800000;
    for (int i = 0; i < COUNT; i++) begin
      // A multiplicative congruence for the bits; every second time the exponents are brought to where E4M3 rounds, the mantissas to its ties.
      a = a * 32'd1664525 + 32'd1013904223;
      if (i % 2 == 1) a = {a[31], 8'd110 + {3'd0, a[27:23]}, a[22:19], 19'd0};
      row = {8'd0, a[15:8]};
      column = {13'd0, a[18:16]};
      dot_a = {dot_a[159:0], a};
      dot_b = {dot_b[159:0], ~a};
      // C about the sum, and at every distance from it.
      dot_c = {a[7], 8'd127 + {4'd0, a[11:8]} - {5'd0, a[14:12]}, a[31:9]};
      #1;
      executed = executed + 1;
      if (dot_r[broken] !== $mxact_dot("exact", "e2m1", dot_a, "e2m1", dot_b, dot_c)) wrong_sums = wrong_sums + 1;
      if ({24'd0, r[broken]} !== $mxact_convert("ocp", "f32", "e4m3fn", a)) wrong_codes = wrong_codes + 1;
      if (address[broken] !== $mxact_address("sf_128x4", 256, 8, row, column)) wrong_addresses = wrong_addresses + 1;
    end
    // The model in two more words: 1.5 * -6 = -9, and a gate of zero closes.
    if ($mxact_product("e2m1", 3, "e2m1", 15) !== 32'hc1100000) $fatal(1, "a wrong product");
    if ($mxact_activate("swiglu_oai", "f32", 0, 0) !== 0) $fatal(1, "a wrong activation");
    // Three blocks with scales: 6 * 6 under 2^1 and 2^-1, 32 ones, and C = 1 make 69.
    dot_a = {{32{4'd2}}, {15{4'd0}}, 4'd7};
    if ($mxact_dot_scaled("exact", "e2m1", "e8m0", 24'h7f7f80, dot_a, "e2m1", "e8m0", 24'h7f7f7e, dot_a, 32'h3f800000) !== 32'h428a0000)
      $fatal(1, "a wrong scaled sum");
    // 64 numbers, four blocks of NVFP4 whose largest are 6, 3, 1.5 and 0.75: under g = 8 their scales are 8, 4, 2 and 1, and those numbers code 7.
    x = {64{32'h3f000000}};
    x[31:0] = 32'h40c00000;
    x[16*32+:32] = 32'h40400000;
    x[32*32+:32] = 32'h3fc00000;
    x[48*32+:32] = 32'h3f400000;
    if ($mxact_quantize("vllm-nvfp4", "nvfp4", "f32", x, 32'h41000000, 0, scales, codes) !== 64) $fatal(1, "not 64 elements");
    if (scales !== 32'h38404850 || codes[3:0] !== 7 || codes[67:64] !== 7 || codes[131:128] !== 7 || codes[195:192] !== 7) $fatal(1, "wrong blocks");
    if ($mxact_dequantize("vllm-nvfp4", "nvfp4", "f32", scales, codes, 32'h41000000, 0, back) !== 64) $fatal(1, "not 64 elements");
    if (back[31:0] !== 32'h40c00000 || back[48*32+:32] !== 32'h3f400000) $fatal(1, "wrong values");
    // A batch of codes: 448, 1 and -1 with a zero.
    if ($mxact_convert_many("ocp", "f32", "e4m3fn", 128'hbf8000003f80000043e0000000000000, scales) !== 4) $fatal(1, "not 4 codes");
    if (scales !== 32'hb8387e00) $fatal(1, "wrong codes");
    if (executed != COUNT) $fatal(1, "%0d of %0d comparisons were made", executed, COUNT);
    if (wrong_codes + wrong_addresses + wrong_sums != 0)
      $fatal(1, "%0d codes, %0d addresses and %0d sums are wrong", wrong_codes, wrong_addresses, wrong_sums);
    $display("PASSED: %0d comparisons", 3 * executed);
    $finish;
  end
endmodule
