// A converter in the loop with a scoreboard. Build: verilator --binary golden/sv/{mxact_score_pkg,f32_to_e4m3,score_bench}.sv libmxact_score.so
module score_bench;
  import mxact_score_pkg::*;
  localparam int COUNT = 20000;
  logic [31:0] a;
  logic [7:0]  r [2];
  logic        broken;
  chandle      score;
  for (genvar i = 0; i < 2; i++) begin : twin
    f32_to_e4m3 #(.BROKEN(i)) device (.a(a), .r(r[i]));
  end
  initial begin
    broken = $test$plusargs("broken") != 0;
    score = mxact_score_of("f32_to_e4m3fn", "");
    a = 32'h3f800000;
    for (int i = 0; i < COUNT; i++) begin
      // Every second operand lies where E4M3 rounds, on its ties.
      a = a * 32'd1664525 + 32'd1013904223;
      if (i % 2 == 1) a = {a[31], 8'd110 + {3'd0, a[27:23]}, a[22:19], 19'd0};
      #1;
      mxact_score_lane(score, a);
      mxact_score_lane(score, {24'd0, r[broken]});
      mxact_score_answer(score, $sformatf("answer %0d at %0t", i, $time));
    end
    mxact_score_finish(score, COUNT);
    $finish;
  end
endmodule
