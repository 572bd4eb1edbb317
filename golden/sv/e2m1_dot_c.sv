// LANES products of E2M1 and operand C, fp32: summed exactly and rounded once to fp32. BROKEN: what C has below the products' last place is cut off.
module e2m1_dot_c #(parameter LANES = 48, parameter BROKEN = 0) (
  input  logic [4*LANES-1:0] a,
  input  logic [4*LANES-1:0] b,
  input  logic [31:0]        c,
  output logic [31:0]        r
);
  // The sum counts 2^-149, the last place of fp32's subnormals; products count quarters.
  localparam int WIDTH = 288;
  localparam int QUARTER = 147;
  // Twice the magnitude of an E2M1 code.
  function automatic logic [3:0] doubled(input logic [2:0] code);
    return code < 3'd4 ? {1'b0, code} : {1'b0, 1'b1, code[0], 1'b0} << (code[1] ? 1 : 0);
  endfunction
  logic signed [31:0]    products;  // in quarters
  logic                  all_negative;
  logic        [WIDTH-1:0] sum, magnitude;
  logic        [23:0]    significand, kept;
  logic                  half, sticky;
  int                    top, down;
  always @* begin
    products = 0;
    all_negative = c == 32'h80000000;
    for (int lane = 0; lane < LANES; lane++) begin
      logic [3:0] p, q;
      logic signed [31:0] product;
      p = a[4*lane+:4];
      q = b[4*lane+:4];
      product = 32'(doubled(p[2:0])) * 32'(doubled(q[2:0]));
      products = (p[3] ^ q[3]) ? products - product : products + product;
      all_negative = all_negative && (p[3] ^ q[3]) && product == 0;
    end
    significand = {c[30:23] != 0, c[22:0]};
    magnitude = WIDTH'(significand) << (c[30:23] == 0 ? 8'd0 : c[30:23] - 8'd1);
    if (BROKEN != 0) magnitude = (magnitude >> QUARTER) << QUARTER;
    sum = products < 0 ? -(WIDTH'(32'(-products)) << QUARTER) : WIDTH'(32'(products)) << QUARTER;
    sum = c[31] ? sum - magnitude : sum + magnitude;
    magnitude = sum[WIDTH-1] ? -sum : sum;
    top = 0;
    for (int i = 0; i < WIDTH; i++) if (magnitude[i]) top = i;
    // 24 bits from the leading one, and no place below 2^-149.
    down = top > 23 ? top - 23 : 0;
    kept = 24'(magnitude >> down);
    half = down > 0 ? 1'(magnitude >> (down - 1)) : 1'b0;
    sticky = down > 1 ? (magnitude & ((WIDTH'(1) << (down - 1)) - WIDTH'(1))) != 0 : 1'b0;
    if (c[30:23] == 8'hff) r = c[22:0] != 0 ? 32'h7fc00000 : c;
    else if (magnitude == 0) r = {all_negative, 31'd0};
    else if (down > 253) r = {sum[WIDTH-1], 8'hff, 23'd0};
    else begin
      r = (32'(down) << 23) + {8'd0, kept};
      if (half && (sticky || kept[0])) r = r + 32'd1;
      r[31] = sum[WIDTH-1];
    end
  end
endmodule
