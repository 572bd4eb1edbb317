-- A device and a table of vectors. Fails unless COUNT vectors are in the file and every answer is right.
library ieee;
use ieee.std_logic_1164.all;
use std.textio.all;
use work.mxact_pkg.all;

entity file_bench is
  generic (NAME : string; COUNT : positive; BROKEN : boolean := false);
end entity;

architecture bench of file_bench is
  signal a : std_logic_vector(31 downto 0) := (others => '0');
  signal r : std_logic_vector(7 downto 0);
begin
  device : entity work.f32_to_e4m3 generic map (BROKEN => BROKEN) port map (a => a, r => r);

  process
    -- Columns of f32_to_e4m3fn.ocp.directed.hex: a:32 r:8 flags:8 r_mask:8 flags_mask:8 bins:24.
    file vectors         : text;
    variable status      : file_open_status;
    variable word        : std_logic_vector(87 downto 0);
    variable found       : boolean;
    variable read, wrong : natural := 0;
  begin
    file_open(status, vectors, NAME, read_mode);
    assert status = open_ok report NAME & " cannot be read" severity failure;
    loop
      read_vector(vectors, word, found);
      exit when not found;
      a <= word(87 downto 56);
      wait for 1 ns;
      read := read + 1;
      if not is_right(r, word(55 downto 48), word(39 downto 32)) then
        wrong := wrong + 1;
      end if;
    end loop;
    assert read = COUNT report integer'image(read) & " vectors in the file, not " & integer'image(COUNT) severity failure;
    assert wrong = 0 report integer'image(wrong) & " of " & integer'image(read) & " answers are wrong" severity failure;
    report "PASSED: " & integer'image(read) & " vectors";
    wait;
  end process;
end architecture;
