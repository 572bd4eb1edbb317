// A device beside the C model, cycle by cycle: every answer of the converter is compared with mxact_convert. Verilator links libmxact.a:
// Build: verilator --binary mxact_pkg.sv f32_to_e4m3.sv dpi_bench.sv libmxact.a
module dpi_bench;
  import mxact_pkg::*;
  localparam int COUNT = 100000;
  localparam int OTHERS = 11;
  logic [31:0]  a;
  logic [7:0]   r [2];
  logic         broken;
  int unsigned  want, flags;
  int           ocp, f32, e4m3;
  for (genvar i = 0; i < 2; i++) begin : twin
    f32_to_e4m3 #(.BROKEN(i)) device (.a(a), .r(r[i]));
  end
  // Every other function of the package once, against the documents: MX 1.0 section 6.3 has 12 under the scale 2 as the code of 6.
  task automatic check_others();
    int          mxfp4, sf;
    int          value_class, negative, exponent, bits;
    longint unsigned significand, address, size;
    int unsigned x[32], codes[32], scale, result, row, column, padding;
    mxfp4 = mxact_required(mxact_block_format_id("mxfp4"), "mxfp4");
    sf = mxact_required(mxact_layout_id("sf_128x4"), "sf_128x4");
    for (int i = 0; i < 32; i++) x[i] = i == 0 ? 32'h41400000 : 0;
    if (mxact_block_scale(ocp, mxfp4, f32, x, 32, null, scale) != MXACT_OK) $fatal(1, "mxact_block_scale");
    mxact_check("scale", {32'd0, scale}, 128, 64'hff);
    if (mxact_quantize_block(ocp, mxfp4, f32, x, 32, null, scale, codes) != MXACT_OK) $fatal(1, "mxact_quantize_block");
    mxact_check("code", {32'd0, codes[0]}, 7, 64'hf);
    if (mxact_dequantize(ocp, mxfp4, f32, scale, codes, 32, null, x) != MXACT_OK) $fatal(1, "mxact_dequantize");
    mxact_check("value", {32'd0, x[0]}, 64'h41400000, 64'hffffffff);
    if (mxact_dot_block(mxact_contract_id("exact"), mxfp4, scale, codes, mxfp4, scale, codes, 32, result) != MXACT_OK) $fatal(1, "mxact_dot_block");
    mxact_check("144", {32'd0, result}, 64'h43100000, 64'hffffffff);
    if (mxact_product(e4m3, 32'h38, e4m3, 32'hb8, result) != MXACT_OK) $fatal(1, "mxact_product");
    mxact_check("-1", {32'd0, result}, 64'hbf800000, 64'hffffffff);
    if (mxact_layout_address(sf, 256, 8, 33, 5, address) != MXACT_OK) $fatal(1, "mxact_layout_address");
    mxact_check("address", address, 533, 64'hffffffff);
    if (mxact_layout_size(sf, 100, 6, size, bits) != MXACT_OK) $fatal(1, "mxact_layout_size");
    mxact_check("two tiles of 512 bytes", {size[31:0], bits}, {32'd1024, 32'd8}, ~64'd0);
    if (mxact_convert_flushed(ocp, f32, e4m3, MXACT_FLUSH_TARGET, 32'h3bc00000, 0, want, flags) != MXACT_OK) $fatal(1, "mxact_convert_flushed");
    mxact_check("3 * 2^-9 flushed", {32'd0, want}, 0, 64'hff);
    if (mxact_layout_element(sf, 256, 8, address, row, column, padding) != MXACT_OK) $fatal(1, "mxact_layout_element");
    mxact_check("element", {row[15:0], column[15:0], padding}, {16'd33, 16'd5, 32'd0}, ~64'd0);
    if (mxact_decode(e4m3, 32'hfe, value_class, negative, significand, exponent) != MXACT_OK) $fatal(1, "mxact_decode");
    mxact_check("-448", {31'd0, negative[0], 32'(significand << (exponent + 10))}, {32'd1, 32'd458752}, ~64'd0);
    if (mxact_activate(mxact_activation_id("swiglu_oai"), f32, 0, 0, result) != MXACT_OK) $fatal(1, "mxact_activate");
    mxact_check("a gate of zero", {32'd0, result}, 0, 64'hffffffff);
  endtask

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
    check_others();
    mxact_finish(COUNT + OTHERS);
    $finish;
  end
endmodule
