// 32 products of MXFP4, four lanes a step, summed exactly, scaled and rounded once to fp32. BROKEN: the last of the eight steps is left out.
module mx_dot4 #(parameter BROKEN = 0) (
  input  logic [7:0]   a_scale,
  input  logic [127:0] a,
  input  logic [7:0]   b_scale,
  input  logic [127:0] b,
  output logic [31:0]  r
);
  // Twice the magnitude of an E2M1 code.
  function automatic logic [3:0] doubled(input logic [2:0] code);
    case (code)
      3'd0: return 4'd0;
      3'd1: return 4'd1;
      3'd2: return 4'd2;
      3'd3: return 4'd3;
      3'd4: return 4'd4;
      3'd5: return 4'd6;
      3'd6: return 4'd8;
      default: return 4'd12;
    endcase
  endfunction
  logic signed [15:0] sum;  // in quarters
  logic               all_negative;
  logic        [15:0] magnitude;
  logic signed [11:0] exponent;  // of the leading bit
  logic signed [11:0] down;
  logic        [39:0] wide;
  logic        [23:0] kept;
  logic               half, sticky;
  int                 top;
  always @* begin
    sum = 0;
    all_negative = 1;
    for (int step = 0; step < (BROKEN != 0 ? 7 : 8); step++) begin
      for (int lane = 0; lane < 4; lane++) begin
        logic [3:0] p, q;
        logic signed [15:0] product;
        p = a[4*(4*step+lane)+:4];
        q = b[4*(4*step+lane)+:4];
        product = 16'(doubled(p[2:0])) * 16'(doubled(q[2:0]));
        sum = (p[3] ^ q[3]) ? sum - product : sum + product;
        all_negative = all_negative && (p[3] ^ q[3]) && product == 0;
      end
    end
    magnitude = sum < 0 ? 16'(-sum) : 16'(sum);
    top = 0;
    for (int i = 0; i < 16; i++) if (magnitude[i]) top = i;
    // The sum counts quarters, both scales have bias 127.
    exponent = 12'(top) - 12'sd2 + $signed({4'd0, a_scale}) + $signed({4'd0, b_scale}) - 12'sd254;
    // 24 bits from the leading one; below 2^-126 fewer.
    wide = 40'(magnitude) << (39 - top);
    down = exponent < -12'sd126 ? -12'sd126 - exponent : 12'sd0;
    kept = down > 12'sd24 ? 24'd0 : 24'(wide[39:16] >> down);
    half = down > 12'sd24 ? 1'b0 : 1'((wide >> (15 + down)) & 40'd1);
    sticky = down > 12'sd24 ? 1'b1 : (wide & ((40'd1 << (15 + down)) - 40'd1)) != 0;
    if (a_scale == 8'hff || b_scale == 8'hff) r = 32'h7fc00000;
    else if (magnitude == 0) r = {all_negative, 31'd0};
    else if (exponent > 12'sd127) r = {sum[15], 8'hff, 23'd0};
    else begin
      r = {1'b0, (exponent < -12'sd126 ? 8'd0 : 8'(exponent + 12'sd126)), 23'd0} + {8'd0, kept};
      if (half && (sticky || kept[0])) r = r + 32'd1;
      r[31] = sum[15];
    end
  end
endmodule
