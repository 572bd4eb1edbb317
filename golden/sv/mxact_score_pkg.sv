// A scoreboard for SystemVerilog (DPI-C): each answer of a device in the loop is held against an operation of `mxact gen --list`, and at the end the
// rules that explain wrong answers are said, in the words of `mxact ver`. Beside the bench: libmxact_score.so.
package mxact_score_pkg;
  import "DPI-C" function string mxact_score_error();
  import "DPI-C" function int mxact_score_open(input string operation, input string options, output chandle score);
  import "DPI-C" function void mxact_score_close(input chandle score);
  import "DPI-C" function int mxact_score_put(input chandle score, input int unsigned lane, input int unsigned unknown);
  import "DPI-C" function int mxact_score_check(input chandle score, input string place, output int kind);
  import "DPI-C" function int mxact_score_report(input chandle score, input longint unsigned expected, output int verdict, output string text);

  // A scoreboard, or the end of the simulation. options: "key=value key=value", as `mxact gen` has them.
  function automatic chandle mxact_score_of(input string operation, input string options);
    chandle score;
    if (mxact_score_open(operation, options, score) != 0) $fatal(1, "%s", mxact_score_error());
    return score;
  endfunction

  // The next lane of an answer: operands first, then what the device gave. Bits that are x or z are a kind of wrong answer.
  task automatic mxact_score_lane(input chandle score, input logic [31:0] lane);
    int unsigned word, unknown;
    for (int bit_of = 0; bit_of < 32; bit_of++) begin
      unknown[bit_of] = lane[bit_of] === 1'bx || lane[bit_of] === 1'bz;
      word[bit_of] = lane[bit_of] === 1'b1;
    end
    if (mxact_score_put(score, word, unknown) != 0) $fatal(1, "%s", mxact_score_error());
  endtask

  // The answer whose lanes came.
  task automatic mxact_score_answer(input chandle score, input string place);
    int kind;
    if (mxact_score_check(score, place, kind) != 0) $fatal(1, "%s", mxact_score_error());
  endtask

  // At the end: the report; fails unless exactly `expected` answers came, all right. 0: any number but none.
  task automatic mxact_score_finish(input chandle score, input longint unsigned expected);
    int    verdict;
    string text;
    if (mxact_score_report(score, expected, verdict, text) != 0) $fatal(1, "%s", mxact_score_error());
    $write("%s", text);
    mxact_score_close(score);
    if (verdict != 0) $fatal(1, "the device is not right");
  endtask
endpackage
