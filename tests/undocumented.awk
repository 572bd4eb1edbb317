# Functions at namespace scope of a header that say nothing: no comment above them or above the lines that they stand with, none behind them. What takes nothing
# is the accessor of a table, name_of gives an enumerator's word: the types say what they are.
FNR == 1 { commented = code = 0 }
/^[ \t]*\/\// { commented = 1; code = 0; next }
/^[ \t]*$/ { if (code) commented = 0; next }
{ code = 1 }
/^(#|namespace|}|using|static_assert|extern|enum|struct|class|template)/ { next }
# A constant whose value is worked out.
/^inline constexpr [^(]*[={]/ { next }
/\(\)|name_of\(|\/\/\/</ { next }
/^[A-Za-z].*\(.*[;{]$/ || /^[A-Za-z][^=]*\([^;]*,$/ { if (!commented) print FILENAME ":" FNR ": " $0 }
