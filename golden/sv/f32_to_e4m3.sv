// fp32 to E4M3, nearest even, saturating, one NaN. BROKEN: ties go away from zero.
module f32_to_e4m3 #(parameter BROKEN = 0) (
  input  logic [31:0] a,
  output logic [7:0]  r
);
  logic [7:0]  exponent;
  logic [23:0] significand;
  logic [7:0]  shift;
  logic [23:0] floor;
  logic [47:0] wide;
  logic        half, sticky, up;
  logic [7:0]  magnitude;
  always @* begin
    exponent = a[30:23];
    significand = {exponent != 0, a[22:0]};
    // E4M3's smallest normal exponent is -6: fp32's 121. A unit lies 20 bits up, one more for each exponent below that.
    shift = exponent >= 8'd121 ? 8'd20 : 8'd20 + (8'd121 - (exponent == 0 ? 8'd1 : exponent));
    wide = shift > 8'd47 ? {47'd0, |significand} : {significand, 24'd0} >> shift;
    floor = wide[47:24];
    half = wide[23];
    sticky = |wide[22:0];
    if (shift <= 8'd47 && shift > 8'd24) sticky = sticky | |(significand << (8'd48 - shift));
    up = half && (sticky || floor[0] || (BROKEN != 0));
    // Above the subnormals the exponent field follows; adding the significand with its hidden bit counts it in.
    if (exponent > 8'd136) magnitude = 8'h7f;
    else if (exponent >= 8'd121) magnitude = ((exponent - 8'd121) << 3) + {4'd0, floor[3:0]} + {7'd0, up};
    else magnitude = {4'd0, floor[3:0]} + {7'd0, up};
    if (magnitude > 8'h7e) magnitude = 8'h7e;
    r = {a[31], magnitude[6:0]};
    if (exponent == 8'hff && a[22:0] != 0) r = 8'h7f;
  end
endmodule
