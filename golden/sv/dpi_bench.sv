// A device beside the C model, cycle by cycle: every answer of the converter is compared with mxact_convert. Verilator links libmxact.a:
// Build: verilator --binary mxact_pkg.sv f32_to_e4m3.sv dpi_bench.sv libmxact.a
module dpi_bench;
  import mxact_pkg::*;
  localparam int COUNT = 100000;
  logic [31:0]  a;
  logic [7:0]   r [2];
  logic         broken;
  int unsigned  want, flags;
  int           ocp, f32, e4m3;
  for (genvar i = 0; i < 2; i++) begin : twin
    f32_to_e4m3 #(.BROKEN(i)) device (.a(a), .r(r[i]));
  end
  initial begin
    broken = $test$plusargs("broken") != 0;
    ocp = mxact_required(mxact_profile_id("ocp"), "ocp");
    f32 = mxact_required(mxact_format_id("f32"), "f32");
    e4m3 = mxact_required(mxact_format_id("e4m3fn"), "e4m3fn");
    a = 32'h3f800000;
    for (int i = 0; i < COUNT; i++) begin
      // A multiplicative congruence for the bits; the exponents are brought to where E4M3 rounds, mantissas to its ties, every second time.
      a = a * 32'd1664525 + 32'd1013904223;
      if (i % 2 == 1) a = {a[31], 8'd110 + {3'd0, a[27:23]}, a[22:19], 19'd0};
      #1;
      if (mxact_convert(ocp, f32, e4m3, a, 0, want, flags) != MXACT_OK) $fatal(1, "mxact_convert refused %h", a);
      mxact_check("r", {56'd0, r[broken]}, {32'd0, want}, 64'hff);
    end
    mxact_finish(COUNT);
    $finish;
  end
endmodule
