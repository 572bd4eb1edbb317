// 32 bf16 elements to MXFP4 (MX 1.0 section 6.3: floor), nearest even, saturating. Element 0 and code 0 in the lowest bits.
// BROKEN: the two codes of each byte are exchanged.
module mx_quantizer #(parameter BROKEN = 0) (
  input  logic [511:0] x,
  output logic [7:0]   scale,
  output logic [127:0] elems
);
  logic [14:0] largest;
  // The code of one element in units of 2^(scale - 127): E2M1's decisions are 0.25, 0.75, 1.25, 1.75, 2.5, 3.5 and 5.
  function automatic logic [3:0] encode(input logic [15:0] v, input logic [7:0] s);
    logic [8:0]  place;  // exponent of v relative to the scale, plus 256
    logic [7:0]  significand;
    logic [2:0]  magnitude;
    logic [15:0] fixed;  // |v| / 2^(s - 127) in units of 2^-8, the lowest bit sticky
    logic [8:0]  down;
    significand = {v[14:7] != 0, v[6:0]};
    place = 9'd256 + {1'b0, v[14:7] == 0 ? 8'd1 : v[14:7]} - {1'b0, s};
    // significand has 7 bits of fraction: shifted by place - 256 + 1 it counts units of 2^-8.
    if (place >= 9'd260) fixed = 16'hffff;
    else if (place >= 9'd255) fixed = {8'd0, significand} << (place - 9'd255);
    else begin
      down = 9'd255 - place;
      fixed = down > 9'd8 ? {15'd0, significand != 0} : {8'd0, significand} >> down;
      if (down <= 9'd8 && (({8'd0, significand} >> down) << down) != {8'd0, significand}) fixed = fixed | 16'd1;
    end
    if (fixed <= 16'd64) magnitude = 3'd0;        // a tie at 0.25 goes to 0
    else if (fixed < 16'd192) magnitude = 3'd1;   // a tie at 0.75 goes to 1
    else if (fixed <= 16'd320) magnitude = 3'd2;
    else if (fixed < 16'd448) magnitude = 3'd3;
    else if (fixed <= 16'd640) magnitude = 3'd4;
    else if (fixed < 16'd896) magnitude = 3'd5;
    else if (fixed <= 16'd1280) magnitude = 3'd6;
    else magnitude = 3'd7;
    return {v[15], magnitude};
  endfunction
  always @* begin
    largest = 0;
    for (int i = 0; i < 32; i++) if (x[16*i+:15] > largest) largest = x[16*i+:15];
    // Inf and NaN make the scale NaN and every element the largest code, positive: what a product with NaN is.
    scale = largest[14:7] == 8'hff ? 8'hff : largest[14:7] < 8'd2 ? 8'd0 : largest[14:7] - 8'd2;
    for (int i = 0; i < 32; i++) begin
      elems[4*(BROKEN != 0 ? i ^ 1 : i)+:4] = scale == 8'hff ? 4'h7 : encode(x[16*i+:16], scale);
    end
  end
endmodule
