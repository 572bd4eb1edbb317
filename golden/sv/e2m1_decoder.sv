// E2M1 to bf16. BROKEN: the subnormal 0.5 is read with the hidden bit that it does not have.
module e2m1_decoder #(parameter BROKEN = 0) (
  input  logic [3:0]  code,
  output logic [15:0] value
);
  logic       sign;
  logic [1:0] exponent;
  logic       mantissa;
  assign {sign, exponent, mantissa} = code;
  always @* begin
    if (exponent == 0 && !BROKEN) value = {sign, mantissa ? 15'h3f00 : 15'h0000};
    else if (exponent == 0) value = {sign, mantissa ? 15'h3f40 : 15'h0000};
    else value = {sign, 8'd126 + {6'd0, exponent}, mantissa, 6'd0};
  end
endmodule
