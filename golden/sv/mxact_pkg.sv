// The C model for SystemVerilog (DPI-C): link libmxact.a, or load libmxact.so beside the simulation, and compile mxact_dpi.c. Bits in, bits out; no
// reals. Routers and layers are for C.
package mxact_pkg;
  typedef enum int {
    MXACT_OK = 0, MXACT_USAGE = 2, MXACT_UNSUPPORTED = 4, MXACT_RESOURCE = 6, MXACT_INTERNAL = 70
  } mxact_status_e;

  typedef enum int unsigned {
    MXACT_FLAG_INEXACT = 1, MXACT_FLAG_UNDERFLOW = 2, MXACT_FLAG_OVERFLOW = 4, MXACT_FLAG_DIVIDE_BY_ZERO = 8, MXACT_FLAG_INVALID = 16,
    MXACT_FLAG_SATURATED = 32, MXACT_FLAG_NAN = 64, MXACT_FLAG_FLUSHED = 128
  } mxact_flag_e;

  typedef enum int {
    MXACT_FLUSH_NONE = 0, MXACT_FLUSH_SOURCE = 1, MXACT_FLUSH_TARGET = 2, MXACT_FLUSH_BOTH = 3
  } mxact_flush_e;

  localparam int unsigned MXACT_ABI_VERSION = 1;

  import "DPI-C" function int unsigned mxact_abi_version();
  import "DPI-C" function string mxact_version();
  import "DPI-C" function string mxact_status_text(input int status);
  import "DPI-C" function int mxact_format_id(input string name);
  import "DPI-C" function int mxact_block_format_id(input string name);
  import "DPI-C" function int mxact_profile_id(input string name);
  import "DPI-C" function int mxact_contract_id(input string name);
  import "DPI-C" function int mxact_layout_id(input string name);
  import "DPI-C" function int mxact_activation_id(input string name);
  import "DPI-C" function int mxact_operation_id(input string name);
  import "DPI-C" function int mxact_predicate_id(input string name);
  import "DPI-C" function int mxact_integer_id(input string name);
  import "DPI-C" function int mxact_affine_id(input string name);
  import "DPI-C" function int mxact_format_width(input int format);
  import "DPI-C" function int mxact_block_size(input int block_format);
  import "DPI-C" function int mxact_decode(input int format, input int unsigned code, output int value_class, output int negative,
                                           output longint unsigned significand, output int exponent);
  import "DPI-C" function int mxact_convert(input int profile, input int from, input int to, input int unsigned code,
                                            input int unsigned random, output int unsigned result, output int unsigned flags);
  import "DPI-C" function int mxact_convert_flushed(input int profile, input int from, input int to, input int flush, input int unsigned code,
                                                    input int unsigned random, output int unsigned result, output int unsigned flags);
  import "DPI-C" function int mxact_operate(input int operation, input int profile, input int format_a, input int unsigned a,
                                            input int format_b, input int unsigned b, input int format_c, input int unsigned c, input int to,
                                            input int unsigned random, output int unsigned result, output int unsigned flags);
  import "DPI-C" function int mxact_compare(input int predicate, input int format_a, input int unsigned a, input int format_b,
                                            input int unsigned b, output int unsigned result, output int unsigned flags);
  import "DPI-C" function int mxact_to_integer(input int integer_id, input int from, input int unsigned code, output longint unsigned result,
                                               output int unsigned flags);
  import "DPI-C" function int mxact_from_integer(input int profile, input int integer_id, input int to, input longint unsigned bits,
                                                 input int unsigned random, output int unsigned result, output int unsigned flags);
  import "DPI-C" function int mxact_product(input int format_a, input int unsigned a, input int format_b, input int unsigned b,
                                            output int unsigned result);
  // Arrays of any length, through mxact_dpi.c, which is compiled with the bench; `count`, `length` and `rows` times `columns` say how much of them
  // counts. `encode` and `decode` are the numbers of the whole tensor, g and its reciprocal as the recipe takes them, fp32 bits; 0: not given.
  import "DPI-C" mxact_sv_block_scale = function int mxact_block_scale(
    input int profile, input int block_format, input int source, input int unsigned x[], input longint unsigned count, input int unsigned encode,
    input int unsigned decode, output int unsigned scale);
  import "DPI-C" mxact_sv_quantize_block = function int mxact_quantize_block(
    input int profile, input int block_format, input int source, input int unsigned x[], input longint unsigned count, input int unsigned encode,
    input int unsigned decode, output int unsigned scale, output int unsigned codes[]);
  import "DPI-C" mxact_sv_p3109 = function int mxact_p3109(
    input string specialization, input int unsigned operands[], input longint unsigned operand_count, input int unsigned random[],
    input longint unsigned random_count, output int unsigned results[], input longint unsigned result_count);
  import "DPI-C" mxact_sv_quantize_affine = function int mxact_quantize_affine(
    input int affine, input int unsigned x[], input longint unsigned count, output int unsigned scale, output int unsigned zero,
    output int unsigned codes[]);
  import "DPI-C" mxact_sv_dequantize_affine = function int mxact_dequantize_affine(
    input int affine, input int target, input int unsigned scale, input int unsigned zero, input int unsigned codes[],
    input longint unsigned count, output int unsigned result[]);
  import "DPI-C" mxact_sv_dequantize = function int mxact_dequantize(
    input int profile, input int block_format, input int target, input int unsigned scale, input int unsigned codes[], input longint unsigned count,
    input int unsigned encode, input int unsigned decode, output int unsigned result[]);
  // Matrices, row after row, block by block; codes one by one.
  import "DPI-C" mxact_sv_quantize_many = function int mxact_quantize_many(
    input int profile, input int block_format, input int source, input int unsigned x[], input longint unsigned rows, input longint unsigned columns,
    input int unsigned encode, input int unsigned decode, output int unsigned scales[], output int unsigned codes[]);
  import "DPI-C" mxact_sv_dequantize_many = function int mxact_dequantize_many(
    input int profile, input int block_format, input int target, input int unsigned scales[], input int unsigned codes[],
    input longint unsigned rows, input longint unsigned columns, input int unsigned encode, input int unsigned decode, output int unsigned result[]);
  import "DPI-C" mxact_sv_convert_many = function int mxact_convert_many(
    input int profile, input int from, input int to, input int unsigned codes[], input longint unsigned count, output int unsigned results[],
    output int unsigned flags[]);
  // A side without scales has scale format -1, and any array for them. C counts where `has_c` is 1.
  import "DPI-C" mxact_sv_dot = function int mxact_dot(
    input int contract, input int format_a, input int scale_format_a, input int block_a, input int unsigned scales_a[], input int unsigned a[],
    input int format_b, input int scale_format_b, input int block_b, input int unsigned scales_b[], input int unsigned b[],
    input longint unsigned length, input bit has_c, input int unsigned c, output int unsigned result);
  import "DPI-C" mxact_sv_dot_block = function int mxact_dot_block(
    input int contract, input int block_format_a, input int unsigned scale_a, input int unsigned a[], input int block_format_b,
    input int unsigned scale_b, input int unsigned b[], input longint unsigned count, output int unsigned result);
  import "DPI-C" function int mxact_layout_size(input int layout, input int unsigned rows, input int unsigned columns,
                                                output longint unsigned size, output int bits);
  import "DPI-C" function int mxact_layout_element(input int layout, input int unsigned rows, input int unsigned columns,
                                                   input longint unsigned address, output int unsigned row, output int unsigned column,
                                                   output int unsigned padding);
  import "DPI-C" function int mxact_layout_address(input int layout, input int unsigned rows, input int unsigned columns, input int unsigned row,
                                                   input int unsigned column, output longint unsigned address);
  import "DPI-C" function int mxact_activate(input int activation, input int format, input int unsigned gate, input int unsigned up,
                                             output int unsigned result);

  int unsigned mxact_executed = 0;
  int unsigned mxact_mismatched = 0;

  // An id, or the end of the simulation: a misspelt name must not check nothing.
  function automatic int mxact_required(input int id, input string name);
    if (id < 0) $fatal(1, "mxact knows no '%s'", name);
    return id;
  endfunction

  // One comparison of the bits set in `mask`.
  task automatic mxact_check(input string what, input longint unsigned got, input longint unsigned want, input longint unsigned mask);
    mxact_executed = mxact_executed + 1;
    if (((got ^ want) & mask) != 0) begin
      mxact_mismatched = mxact_mismatched + 1;
      if (mxact_mismatched <= 20) $display("%s: device %h, right %h", what, got, want);
    end
  endtask

  // At the end: fails unless exactly `count` comparisons, and at least one, were made and all of them held.
  task automatic mxact_finish(input int unsigned count);
    if (mxact_abi_version() != MXACT_ABI_VERSION) $fatal(1, "libmxact.so has ABI %0d, this package %0d", mxact_abi_version(), MXACT_ABI_VERSION);
    if (mxact_executed == 0) $fatal(1, "nothing was checked");
    if (mxact_executed != count) $fatal(1, "%0d of %0d comparisons were made", mxact_executed, count);
    if (mxact_mismatched != 0) $fatal(1, "%0d of %0d answers are wrong", mxact_mismatched, mxact_executed);
    $display("PASSED: %0d comparisons", mxact_executed);
  endtask
endpackage
