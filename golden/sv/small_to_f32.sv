// A code of at most 16 bits to fp32, exactly; one NaN, 7FC00000. The parameters are a row of `mxact formats`.
// BROKEN: subnormals and the smallest power of an exponent-only format are read as zero; a fixed-point number's sign is read as sign and magnitude.
module small_to_f32 #(
  parameter WIDTH = 8, parameter EXPONENT = 4, parameter MANTISSA = 3, parameter BIAS = 7, parameter SIGNED = 1,
  parameter SPECIALS = 0,  // 0: none; 1: as IEEE 754; 2: exponent and mantissa all ones; 3: the code of -0; 4: the largest code
  parameter BROKEN = 0
) (
  input  logic [15:0] code,
  output logic [31:0] value
);
  localparam int HIDDEN = 1 << MANTISSA;
  localparam int TOP = (1 << EXPONENT) - 1;
  logic sign, is_nan, is_infinite;
  int   exponent, mantissa;  // the fields
  int   significand, power, top;  // the number is significand * 2^power; `top` is the place of its leading one
  always @* begin
    sign = SIGNED != 0 && code[WIDTH-1];
    exponent = (int'(code) >> MANTISSA) & TOP;
    mantissa = int'(code) & (HIDDEN - 1);
    is_infinite = SPECIALS == 1 && exponent == TOP && mantissa == 0;
    case (SPECIALS)
      1: is_nan = exponent == TOP && mantissa != 0;
      2: is_nan = exponent == TOP && mantissa == HIDDEN - 1;
      3: is_nan = code == 16'd1 << (WIDTH - 1);
      4: is_nan = exponent == TOP;
      default: is_nan = 0;
    endcase
    power = exponent - BIAS - MANTISSA;
    significand = HIDDEN + mantissa;
    if (EXPONENT == 0) begin
      power = -MANTISSA;
      significand = int'(code) & ((1 << (WIDTH - 1)) - 1);
      if (sign && BROKEN == 0) significand = (1 << (WIDTH - 1)) - significand;
    end else if (exponent == 0 && MANTISSA != 0) begin
      power = power + 1;
      significand = BROKEN != 0 ? 0 : mantissa;
    end else if (exponent == 0 && BROKEN != 0) begin
      significand = 0;
    end
    top = 0;
    for (int i = 0; i < 16; i++) if (((significand >> i) & 1) != 0) top = i;
    if (is_nan) value = 32'h7fc00000;
    else if (is_infinite) value = {sign, 31'h7f800000};
    else if (significand == 0) value = {sign && EXPONENT != 0, 31'd0};
    // fp32 has subnormals of its own: units of 2^-149.
    else if (top + power < -126) value = {sign, 31'(significand << (power + 149))};
    else value = {sign, 8'(top + power + 127), 23'(significand << (23 - top))};
  end
endmodule
