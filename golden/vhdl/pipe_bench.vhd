-- A device between mxact gen f32_to_e4m3fn --no-header and mxact ver f32_to_e4m3fn. Fails when no vector came.
library ieee;
use ieee.std_logic_1164.all;
use std.textio.all;
use work.mxact_pkg.all;

entity pipe_bench is
  generic (BROKEN : boolean := false);
end entity;

architecture bench of pipe_bench is
  signal a : std_logic_vector(31 downto 0) := (others => '0');
  signal r : std_logic_vector(7 downto 0);
begin
  device : entity work.f32_to_e4m3 generic map (BROKEN => BROKEN) port map (a => a, r => r);

  process
    variable word  : std_logic_vector(31 downto 0);
    variable found : boolean;
    variable count : natural := 0;
  begin
    loop
      read_vector(input, word, found);
      exit when not found;
      a <= word;
      wait for 1 ns;
      write_answer(output, word, r);
      count := count + 1;
    end loop;
    assert count > 0 report "no vector came" severity failure;
    wait;
  end process;
end architecture;
