// Two devices beside the C model under Icarus, which has no DPI-C: the converter and the address generator, answer by answer.
// +broken: their broken twins. +unknown and +undriven: what the model refuses ends the simulation with exit status 1.
module vpi_bench;
  localparam int COUNT = 20000;
  logic [31:0] a;
  logic [15:0] row, column;
  logic [7:0]  r [2];
  logic [31:0] address [2];
  logic        broken;
  logic [31:0] undriven;
  int          executed, wrong_codes, wrong_addresses;
  for (genvar i = 0; i < 2; i++) begin : twin
    f32_to_e4m3 #(.BROKEN(i)) converter (.a(a), .r(r[i]));
    sf128x4_address #(.BROKEN(i)) generator (.row(row), .column(column), .address(address[i]));
  end
  initial begin
    broken = $test$plusargs("broken") != 0;
    if ($test$plusargs("unknown") != 0) $display("%h", $mxact_convert("ocp", "f32", "e4m3x", 1));
    if ($test$plusargs("undriven") != 0) $display("%h", $mxact_convert("ocp", "f32", "e4m3fn", undriven));
    executed = 0;
    wrong_codes = 0;
    wrong_addresses = 0;
    a = 32'h3f800000;
    for (int i = 0; i < COUNT; i++) begin
      // A multiplicative congruence for the bits; every second time the exponents are brought to where E4M3 rounds, the mantissas to its ties.
      a = a * 32'd1664525 + 32'd1013904223;
      if (i % 2 == 1) a = {a[31], 8'd110 + {3'd0, a[27:23]}, a[22:19], 19'd0};
      row = {8'd0, a[15:8]};
      column = {13'd0, a[18:16]};
      #1;
      executed = executed + 1;
      if ({24'd0, r[broken]} !== $mxact_convert("ocp", "f32", "e4m3fn", a)) wrong_codes = wrong_codes + 1;
      if (address[broken] !== $mxact_address("sf_128x4", 256, 8, row, column)) wrong_addresses = wrong_addresses + 1;
    end
    // The model in two more words: 1.5 * -6 = -9, and a gate of zero closes.
    if ($mxact_product("e2m1", 3, "e2m1", 15) !== 32'hc1100000) $fatal(1, "a wrong product");
    if ($mxact_activate("swiglu_oai", "f32", 0, 0) !== 0) $fatal(1, "a wrong activation");
    if (executed != COUNT) $fatal(1, "%0d of %0d comparisons were made", executed, COUNT);
    if (wrong_codes + wrong_addresses != 0) $fatal(1, "%0d codes and %0d addresses are wrong", wrong_codes, wrong_addresses);
    $display("PASSED: %0d comparisons", 2 * executed);
    $finish;
  end
endmodule
