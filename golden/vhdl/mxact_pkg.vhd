-- Vectors of mxact for a VHDL-2008 bench: lines of a pipe (mxact gen OP --no-header) and of a table (mxact vectors, *.hex).
library ieee;
use ieee.std_logic_1164.all;
use std.textio.all;

package mxact_pkg is
  -- The next vector: every column of a line, the first one in the highest bits. Lines that begin with "//" are passed over; `found` is false
  -- at the end of the file. A line with another number of bits ends the simulation with an error.
  procedure read_vector(file source : text; variable word : out std_logic_vector; variable found : out boolean);

  -- The line that mxact ver reads: the operands as they came, and the answer. Bits of an answer that are neither '0' nor '1' are written as X.
  procedure write_answer(file sink : text; operands : in std_logic_vector; answer : in std_logic_vector);

  -- Whether an answer has the expected bits where the mask is '1'. A bit that is neither '0' nor '1' is wrong there.
  function is_right(answer, expected, mask : std_logic_vector) return boolean;
end package;

package body mxact_pkg is
  procedure read_vector(file source : text; variable word : out std_logic_vector; variable found : out boolean) is
    constant digits : natural := (word'length + 3) / 4;
    variable row    : line;
    variable nibble : line;
    variable bits   : std_logic_vector(4 * digits - 1 downto 0);
    variable four   : std_logic_vector(3 downto 0);
    variable read   : natural;
    variable good   : boolean;
  begin
    found := false;
    bits  := (others => '0');
    while not found and not endfile(source) loop
      readline(source, row);
      next when row'length = 0 or (row'length > 1 and row(row'left to row'left + 1) = "//");
      read := 0;
      for i in row'range loop
        next when row(i) = '_' or row(i) = ' ' or row(i) = CR;
        nibble := new string'(1 => row(i));
        hread(nibble, four, good);
        deallocate(nibble);
        assert good report "mxact: '" & row(i) & "' is no hexadecimal digit: " & row.all severity failure;
        bits := bits(bits'high - 4 downto 0) & four;
        read := read + 1;
      end loop;
      assert read = digits
        report "mxact: a line has " & integer'image(read) & " digits, expected " & integer'image(digits) & ": " & row.all severity failure;
      found := true;
    end loop;
    word := bits(word'length - 1 downto 0);
  end procedure;

  procedure write_answer(file sink : text; operands : in std_logic_vector; answer : in std_logic_vector) is
    variable row : line;
  begin
    hwrite(row, operands);
    write(row, ' ');
    hwrite(row, answer);
    writeline(sink, row);
  end procedure;

  function is_right(answer, expected, mask : std_logic_vector) return boolean is
    alias a : std_logic_vector(answer'length - 1 downto 0) is answer;
    alias e : std_logic_vector(expected'length - 1 downto 0) is expected;
    alias m : std_logic_vector(mask'length - 1 downto 0) is mask;
  begin
    assert a'length = e'length and a'length = m'length report "mxact: answer, expected bits and mask differ in length" severity failure;
    for i in a'range loop
      if m(i) = '1' and to_x01(a(i)) /= e(i) then
        return false;
      end if;
    end loop;
    return true;
  end function;
end package body;
