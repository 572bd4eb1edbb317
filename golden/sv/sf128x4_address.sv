// Where the scale of a row and a column lies: tiles of 128 rows and 4 columns. COLUMNS is a multiple of 4. BROKEN: quarters of a tile's rows are off
// by one.
module sf128x4_address #(parameter BROKEN = 0, parameter COLUMNS = 8) (
  input  logic [15:0] row,
  input  logic [15:0] column,
  output logic [31:0] address
);
  logic [31:0] tile;
  logic [1:0]  quarter;
  assign tile = 32'(row[15:7]) * (COLUMNS / 4) + 32'(column[15:2]);
  assign quarter = BROKEN != 0 ? row[6:5] + 2'd1 : row[6:5];
  assign address = tile * 512 + {23'd0, row[4:0], 4'd0} + {28'd0, quarter, column[1:0]};
endmodule
