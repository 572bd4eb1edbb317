// A device between two pipes: mxact gen OP --no-header | this +device=N [+broken] | mxact ver OP. Devices as in the case below.
module demo_bench;
  logic         broken;
  logic [3:0]   code;
  logic [31:0]  f32;
  logic [511:0] block;
  logic [7:0]   a_scale, b_scale;
  logic [127:0] a, b;
  logic [15:0]  row, column;
  logic [191:0] lanes_a, lanes_b;
  logic [31:0]  c;

  logic [15:0]  bf16 [2];
  logic [7:0]   e4m3 [2];
  logic [7:0]   scale [2];
  logic [127:0] elems [2];
  logic [31:0]  sum [2];
  logic [31:0]  address [2];
  logic [31:0]  sum_c [2];

  for (genvar i = 0; i < 2; i++) begin : twin
    e2m1_decoder #(.BROKEN(i)) decoder (.code(code), .value(bf16[i]));
    f32_to_e4m3 #(.BROKEN(i)) converter (.a(f32), .r(e4m3[i]));
    mx_quantizer #(.BROKEN(i)) quantizer (.x(block), .scale(scale[i]), .elems(elems[i]));
    mx_dot4 #(.BROKEN(i)) dot (.a_scale(a_scale), .a(a), .b_scale(b_scale), .b(b), .r(sum[i]));
    sf128x4_address #(.BROKEN(i)) generator (.row(row), .column(column), .address(address[i]));
    e2m1_dot_c #(.LANES(48), .BROKEN(i)) dot_c (.a(lanes_a), .b(lanes_b), .c(c), .r(sum_c[i]));
  end

  // What $fscanf writes is no change of a signal to Verilator, and an element of an array it does not write at all: the words read are handed on
  // by assignments.
  logic [511:0] w0, w1, w2, w3;
  int device, count, wanted, executed, in;
  initial begin
    // A variable: Verilator takes no literal descriptor in $fscanf.
    in = 32'h8000_0000;
    broken = $test$plusargs("broken") != 0;
    if ($value$plusargs("device=%d", device) == 0) $fatal(1, "+device=N is missing");
    executed = 0;
    wanted = device == 3 ? 4 : device == 6 ? 3 : device == 4 ? 2 : 1;
    count = wanted;
    if (device < 0 || device > 6) $fatal(1, "+device=%0d: there are devices 0 to 6", device);
    while (count == wanted) begin
      case (wanted)
        1: count = $fscanf(in, "%h", w0);
        2: count = $fscanf(in, "%h %h", w0, w1);
        3: count = $fscanf(in, "%h %h %h", w0, w1, w2);
        default: count = $fscanf(in, "%h %h %h %h", w0, w1, w2, w3);
      endcase
      if (count == wanted) begin
        // Only what the device reads: a simulator computes all that changes.
        case (device)
          0: code = w0[3:0];
          1: f32 = w0[31:0];
          2: block = w0;
          3: {a_scale, a, b_scale, b} = {w0[7:0], w1[127:0], w2[7:0], w3[127:0]};
          4: {row, column} = {w0[15:0], w1[15:0]};
          6: {lanes_a, lanes_b, c} = {w0[191:0], w1[191:0], w2[31:0]};
          default: f32 = {w0[15:0], 16'h0000};  // the converter with a bf16 source: the upper half of an fp32 number
        endcase
        #1;
        executed = executed + 1;
        case (device)
          0: $display("%h %h", code, bf16[broken]);
          1: $display("%h %h", f32, e4m3[broken]);
          2: $display("%h %h %h", block, scale[broken], elems[broken]);
          3: $display("%h %h %h %h %h", a_scale, a, b_scale, b, sum[broken]);
          4: $display("%h %h %h", row, column, address[broken]);
          6: $display("%h %h %h %h", lanes_a, lanes_b, c, sum_c[broken]);
          default: $display("%h %h", f32[31:16], e4m3[broken]);
        endcase
      end
    end
    if (executed == 0) $fatal(1, "no vector came");
    $finish;
  end
endmodule
