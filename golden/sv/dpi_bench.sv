// Two devices beside the C model, cycle by cycle: every answer of the converter is compared with mxact_convert, every one of the dot product of 48
// lanes with C with mxact_dot. Verilator compiles mxact_dpi.c along and links libmxact.a:
// Build: verilator --binary -CFLAGS -I$PWD golden/sv/{mxact_pkg,f32_to_e4m3,e2m1_dot_c,dpi_bench}.sv $PWD/golden/sv/mxact_dpi.c libmxact.a
module dpi_bench;
  import mxact_pkg::*;
  localparam int COUNT = 100000;
  localparam int SUMS = 20000;
  localparam int LANES = 48;
  localparam int OTHERS = 33;
  logic [31:0]  a;
  logic [7:0]   r [2];
  logic         broken;
  int unsigned  want, flags;
  int           ocp, f32, e4m3;
  logic [4*LANES-1:0] dot_a, dot_b;
  logic [31:0]  dot_c;
  logic [31:0]  dot_r [2];
  for (genvar i = 0; i < 2; i++) begin : twin
    f32_to_e4m3 #(.BROKEN(i)) device (.a(a), .r(r[i]));
    e2m1_dot_c #(.LANES(LANES), .BROKEN(i)) dot (.a(dot_a), .b(dot_b), .c(dot_c), .r(dot_r[i]));
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
    if (mxact_block_scale(ocp, mxfp4, f32, x, 32, 0, 0, scale) != MXACT_OK) $fatal(1, "mxact_block_scale");
    mxact_check("scale", {32'd0, scale}, 128, 64'hff);
    if (mxact_quantize_block(ocp, mxfp4, f32, x, 32, 0, 0, scale, codes) != MXACT_OK) $fatal(1, "mxact_quantize_block");
    mxact_check("code", {32'd0, codes[0]}, 7, 64'hf);
    if (mxact_dequantize(ocp, mxfp4, f32, scale, codes, 32, 0, 0, x) != MXACT_OK) $fatal(1, "mxact_dequantize");
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

  // Operations: 1.5 * 2 + 2^-24 is 3 and inexact in fp32; a NaN is unordered; 2.5 is the integer 2; 0xc000 with 14 bits behind the point is -1.
  task automatic check_operations();
    int              e5m2;
    int unsigned     result, raised;
    longint unsigned whole;
    e5m2 = mxact_required(mxact_format_id("e5m2"), "e5m2");
    if (mxact_operate(mxact_operation_id("fma"), ocp, e4m3, 32'h3c, e5m2, 32'h40, f32, 32'h33800000, f32, 0, result, raised) != MXACT_OK)
      $fatal(1, "mxact_operate");
    mxact_check("fma", {raised, result}, {32'(MXACT_FLAG_INEXACT), 32'h40400000}, ~64'd0);
    if (mxact_compare(mxact_predicate_id("signalling-less"), e4m3, 32'h7f, f32, 0, result, raised) != MXACT_OK) $fatal(1, "mxact_compare");
    mxact_check("unordered", {raised, result}, {32'(MXACT_FLAG_INVALID), 32'd0}, ~64'd0);
    if (mxact_to_integer(mxact_integer_id("i32,round=rne,overflow=riscv"), f32, 32'h40200000, whole, raised) != MXACT_OK) $fatal(1, "mxact_to_integer");
    mxact_check("two and a half", {raised, whole[31:0]}, {32'(MXACT_FLAG_INEXACT), 32'd2}, ~64'd0);
    if (mxact_from_integer(ocp, mxact_integer_id("q2.14"), f32, 64'hc000, 0, result, raised) != MXACT_OK) $fatal(1, "mxact_from_integer");
    mxact_check("minus one", {raised, result}, {32'd0, 32'hbf800000}, ~64'd0);
  endtask

  // Arrays of other lengths: a row of blocks under the scale of a tensor, a batch of codes, three blocks with scales and C.
  task automatic check_arrays();
    int          nvfp4, vllm, e2m1, e8m0;
    int unsigned x[64], back[64], codes[64], scales[4], flags_of[3], batch[3], made[3];
    int unsigned sides[LANES], scales_a[3], scales_b[3], result;
    nvfp4 = mxact_required(mxact_block_format_id("nvfp4"), "nvfp4");
    vllm = mxact_required(mxact_profile_id("vllm-nvfp4"), "vllm-nvfp4");
    e2m1 = mxact_required(mxact_format_id("e2m1"), "e2m1");
    e8m0 = mxact_required(mxact_format_id("e8m0"), "e8m0");
    // The largest of the blocks are 6, 3, 1.5 and 0.75: under g = 8 their scales are 8, 4, 2 and 1, and those numbers code 7.
    for (int i = 0; i < 64; i++) x[i] = i % 16 == 0 ? 32'h40c00000 - (i / 16) * 32'h00800000 : 32'h3f000000;
    if (mxact_quantize_many(vllm, nvfp4, f32, x, 1, 64, 32'h41000000, 0, scales, codes) != MXACT_OK) $fatal(1, "mxact_quantize_many");
    for (int i = 0; i < 4; i++) mxact_check("scale of a block", {32'd0, scales[i]}, 64'h50 - 64'(8 * i), 64'hff);
    mxact_check("codes", {codes[0], codes[48]}, {32'd7, 32'd7}, ~64'd0);
    if (mxact_dequantize_many(vllm, nvfp4, f32, scales, codes, 1, 64, 32'h41000000, 0, back) != MXACT_OK) $fatal(1, "mxact_dequantize_many");
    mxact_check("values", {back[0], back[48]}, {x[0], x[48]}, ~64'd0);
    if (mxact_quantize_block(vllm, nvfp4, f32, x, 16, 32'h41000000, 0, result, codes) != MXACT_OK) $fatal(1, "mxact_quantize_block");
    mxact_check("one block", {codes[0], result}, {32'd7, 32'h50}, ~64'd0);
    mxact_check("too short an array", {32'd0, mxact_quantize_many(vllm, nvfp4, f32, x, 2, 64, 32'h41000000, 0, scales, codes)}, 64'(MXACT_USAGE), ~64'd0);
    batch = '{32'h43e00000, 32'h3f800000, 32'h3b000000};
    if (mxact_convert_many(ocp, f32, e4m3, batch, 3, made, flags_of) != MXACT_OK) $fatal(1, "mxact_convert_many");
    mxact_check("a batch", {40'd0, made[0][7:0], made[1][7:0], made[2][7:0]}, 64'h7e3801, ~64'd0);
    // 6 * 6 under 2^1 and 2^-1, 32 ones, and C = 1 make 69; without C 68.
    for (int i = 0; i < LANES; i++) sides[i] = i == 0 ? 7 : i < 16 ? 0 : 2;
    scales_a = '{128, 127, 127};
    scales_b = '{126, 127, 127};
    if (mxact_dot(mxact_contract_id("exact"), e2m1, e8m0, 16, scales_a, sides, e2m1, e8m0, 16, scales_b, sides, 64'(LANES), 1, 32'h3f800000, result) != MXACT_OK)
      $fatal(1, "mxact_dot");
    mxact_check("69", {32'd0, result}, 64'h428a0000, ~64'd0);
    if (mxact_dot(mxact_contract_id("exact"), e2m1, e8m0, 16, scales_a, sides, e2m1, e8m0, 16, scales_b, sides, 64'(LANES), 0, 32'h3f800000, result) != MXACT_OK)
      $fatal(1, "mxact_dot");
    mxact_check("68", {32'd0, result}, 64'h42880000, ~64'd0);
    mxact_check("too few scales", {32'd0, mxact_dot(mxact_contract_id("exact"), e2m1, e8m0, 8, scales_a, sides, e2m1, e8m0, 8, scales_b, sides, 64'(LANES), 0, 0, result)},
                64'(MXACT_USAGE), ~64'd0);
  endtask

  // P3109: 1 / 0 is a NaN, which Binary8p4se has at 0x80; 1 is 0x40.
  task automatic check_p3109();
    int unsigned x[2], random[1], result[1];
    x = '{32'h40, 32'h0};
    random = '{0};
    if (mxact_p3109("Divide<Binary8p4se, Binary8p4se, Binary8p4se, (NearestTiesToEven, SatFinite)>", x, 2, random, 0, result, 1) != MXACT_OK)
      $fatal(1, "mxact_p3109");
    mxact_check("1 / 0", {32'd0, result[0]}, 64'h80, ~64'd0);
    mxact_check("one operand", {32'd0, mxact_p3109("CompareLess<Binary8p4se, Binary8p4se>", x, 1, random, 0, result, 1)}, 64'(MXACT_USAGE), ~64'd0);
  endtask

  // Integers with a zero point: -1, 0, 2 span 3, fifteen steps of 0.2, of which 5 lie below 0.
  task automatic check_integers();
    int          awq;
    int unsigned x[4], codes[4], back[4], scale, zero;
    awq = mxact_required(mxact_affine_id("awq,block=4"), "awq,block=4");
    x = '{32'hbf800000, 32'h0, 32'h40000000, 32'h3f800000};
    if (mxact_quantize_affine(awq, x, 4, scale, zero, codes) != MXACT_OK) $fatal(1, "mxact_quantize_affine");
    mxact_check("scale and zero point", {scale, zero}, {32'h3e4ccccd, 32'd5}, ~64'd0);
    mxact_check("codes", {48'd0, codes[0][3:0], codes[1][3:0], codes[2][3:0], codes[3][3:0]}, 64'h05fa, ~64'd0);
    if (mxact_dequantize_affine(awq, f32, scale, zero, codes, 4, back) != MXACT_OK) $fatal(1, "mxact_dequantize_affine");
    mxact_check("numbers", {back[0], back[1]}, {32'hbf800000, 32'h0}, ~64'd0);
    mxact_check("too many", {32'd0, mxact_quantize_affine(awq, x, 5, scale, zero, codes)}, 64'(MXACT_USAGE), ~64'd0);
  endtask

  // The dot product in the loop, with C about the sum and at every distance from it.
  task automatic check_sums();
    int          exact, e2m1;
    int unsigned sides_a[LANES], sides_b[LANES], none[1], result;
    exact = mxact_required(mxact_contract_id("exact"), "exact");
    e2m1 = mxact_required(mxact_format_id("e2m1"), "e2m1");
    none[0] = 0;
    dot_a = 0;
    dot_b = 0;
    for (int i = 0; i < SUMS; i++) begin
      a = a * 32'd1664525 + 32'd1013904223;
      dot_a = {dot_a[4*LANES-33:0], a};
      dot_b = {dot_b[4*LANES-33:0], ~a};
      dot_c = {a[7], 8'd127 + {4'd0, a[11:8]} - {5'd0, a[14:12]}, a[31:9]};
      #1;
      for (int lane = 0; lane < LANES; lane++) begin
        sides_a[lane] = {28'd0, dot_a[4*lane+:4]};
        sides_b[lane] = {28'd0, dot_b[4*lane+:4]};
      end
      if (mxact_dot(exact, e2m1, -1, 0, none, sides_a, e2m1, -1, 0, none, sides_b, 64'(LANES), 1, dot_c, result) != MXACT_OK) $fatal(1, "mxact_dot");
      mxact_check("sum", {32'd0, dot_r[broken]}, {32'd0, result}, 64'hffffffff);
    end
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
    check_operations();
    check_arrays();
    check_integers();
    check_p3109();
    check_sums();
    mxact_finish(COUNT + OTHERS + SUMS);
    $finish;
  end
endmodule
