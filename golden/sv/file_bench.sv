// A device and a file of vectors: +file=NAME.hex +count=N [+broken]. Fails unless N vectors are there and every one holds.
module file_bench;
  localparam int MOST = 4096;
  // Columns of f32_to_e4m3fn.ocp.directed.hex: a:32 r:8 flags:8 r_mask:8 flags_mask:8 bins:24.
  logic [87:0] vectors [MOST];
  logic [31:0] a;
  logic [7:0]  r [2];
  logic        broken;
  int          count, executed, mismatched;
  string       name;
  for (genvar i = 0; i < 2; i++) begin : twin
    f32_to_e4m3 #(.BROKEN(i)) device (.a(a), .r(r[i]));
  end
  initial begin
    if ($value$plusargs("file=%s", name) == 0) $fatal(1, "+file=NAME is missing");
    if ($value$plusargs("count=%d", count) == 0 || count < 1 || count >= MOST) $fatal(1, "+count=N is missing or no number below %0d", MOST);
    broken = $test$plusargs("broken") != 0;
    executed = 0;
    mismatched = 0;
    // What the file leaves alone keeps a mask of zero, which no vector has: a missing or short file shows.
    for (int i = 0; i < MOST; i++) vectors[i] = 0;
    $readmemh(name, vectors);
    for (int i = 0; i < count && vectors[i][39:32] != 0; i++) begin
      a = vectors[i][87:56];
      #1;
      executed = executed + 1;
      if (((r[broken] ^ vectors[i][55:48]) & vectors[i][39:32]) != 0) mismatched = mismatched + 1;
    end
    if (executed != count) $fatal(1, "%0d of %0d vectors were there", executed, count);
    if (vectors[count] != 0) $fatal(1, "the file has more than %0d vectors", count);
    if (mismatched != 0) $fatal(1, "%0d of %0d answers are wrong", mismatched, count);
    $display("PASSED: %0d vectors", executed);
    $finish;
  end
endmodule
