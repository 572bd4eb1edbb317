// Every code of every small format between two pipes: mxact gen FORMAT_to_f32 --set exhaustive --no-header | this +format=N | mxact ver ...
// +e4m3: the answer goes on through the converter, for FORMAT_to_e4m3fn. +broken: the broken decoder.
module small_bench;
  localparam int COUNT = 12;
  logic [15:0] code;
  logic [31:0] f32 [2*COUNT];
  logic [31:0] chosen;
  logic [7:0]  e4m3;
  // Twins stand side by side: format N is decoded rightly at 2 * N, wrongly at 2 * N + 1. WIDTH, EXPONENT, MANTISSA, BIAS, SIGNED, SPECIALS, BROKEN.
  for (genvar i = 0; i < 2; i++) begin : twin
    small_to_f32 #(8, 4, 3, 7, 1, 2, i) e4m3fn (.code(code), .value(f32[i]));
    small_to_f32 #(8, 5, 2, 15, 1, 1, i) e5m2 (.code(code), .value(f32[2+i]));
    small_to_f32 #(8, 4, 3, 8, 1, 3, i) e4m3fnuz (.code(code), .value(f32[4+i]));
    small_to_f32 #(8, 5, 2, 16, 1, 3, i) e5m2fnuz (.code(code), .value(f32[6+i]));
    small_to_f32 #(6, 2, 3, 1, 1, 0, i) e2m3 (.code(code), .value(f32[8+i]));
    small_to_f32 #(6, 3, 2, 3, 1, 0, i) e3m2 (.code(code), .value(f32[10+i]));
    small_to_f32 #(4, 2, 1, 1, 1, 0, i) e2m1 (.code(code), .value(f32[12+i]));
    small_to_f32 #(8, 8, 0, 127, 0, 4, i) e8m0 (.code(code), .value(f32[14+i]));
    small_to_f32 #(7, 4, 3, 7, 0, 2, i) ue4m3 (.code(code), .value(f32[16+i]));
    small_to_f32 #(8, 0, 6, 0, 1, 0, i) mxint8 (.code(code), .value(f32[18+i]));
    small_to_f32 #(16, 8, 7, 127, 1, 1, i) bf16 (.code(code), .value(f32[20+i]));
    small_to_f32 #(16, 5, 10, 15, 1, 1, i) fp16 (.code(code), .value(f32[22+i]));
  end
  f32_to_e4m3 converter (.a(chosen), .r(e4m3));

  // Read whole and handed on by an assignment: Verilator takes what $fscanf writes for no change of a signal, and no literal descriptor.
  logic [15:0] word;
  int format, in, executed, digits, broken;
  initial begin
    in = 32'h8000_0000;
    executed = 0;
    broken = $test$plusargs("broken") != 0 ? 1 : 0;
    if ($value$plusargs("format=%d", format) == 0 || format < 0 || format >= COUNT) $fatal(1, "+format=N: there are formats 0 to %0d", COUNT - 1);
    digits = format == 6 ? 1 : format >= 10 ? 4 : 2;
    while ($fscanf(in, "%h", word) == 1) begin
      code = word;
      #1;
      chosen = f32[2*format+broken];
      #1;
      executed = executed + 1;
      case (digits)
        1: $write("%h ", code[3:0]);
        2: $write("%h ", code[7:0]);
        default: $write("%h ", code);
      endcase
      if ($test$plusargs("e4m3") != 0) $display("%h", e4m3);
      else $display("%h", chosen);
    end
    if (executed == 0) $fatal(1, "no vector came");
    $finish;
  end
endmodule
