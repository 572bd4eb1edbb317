-- fp32 to E4M3, nearest even, saturating, one NaN. BROKEN: ties go away from zero.
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity f32_to_e4m3 is
  generic (BROKEN : boolean := false);
  port (a : in std_logic_vector(31 downto 0); r : out std_logic_vector(7 downto 0));
end entity;

architecture behaviour of f32_to_e4m3 is
  constant LARGEST : natural := 16#7E#;
begin
  process (all)
    variable field, shift, unit, half, kept, rest, magnitude : natural;
    variable significand                                     : natural;
  begin
    field       := to_integer(unsigned(a(30 downto 23)));
    significand := to_integer(unsigned(a(22 downto 0)));
    if field = 255 and significand /= 0 then
      r <= x"7F";
    else
      if field /= 0 then
        significand := significand + 2 ** 23;
      end if;
      -- E4M3's smallest normal exponent is -6: fp32's 121. A unit lies 20 bits up, one more for each exponent below that.
      shift := 20;
      if field < 121 then
        shift := 20 + 121 - maximum(field, 1);
      end if;
      magnitude := 0;
      if field > 136 then
        magnitude := LARGEST;
      elsif shift <= 25 then
        unit := 2 ** shift;
        half := unit / 2;
        kept := significand / unit;
        rest := significand mod unit;
        if rest > half or (rest = half and (kept mod 2 = 1 or BROKEN)) then
          kept := kept + 1;
        end if;
        -- A hidden bit counts into the exponent field.
        if field >= 121 then
          kept := kept + (field - 121) * 8;
        end if;
        magnitude := minimum(kept, LARGEST);
      end if;
      r <= a(31) & std_logic_vector(to_unsigned(magnitude, 7));
    end if;
  end process;
end architecture;
