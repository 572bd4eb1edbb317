# Prints each namespace that is not its file's folder. Blocks of nothing but forward declarations speak of other folders, and what cmake/embed.cmake
# makes lies in mx::embedded; tests/proof/specialized.cpp declares what the model defines. model/ itself and model/numerics are mx; deeper names are free.
function expected(path) {
  split(path, part, "/")
  if (part[1] != "model") return "mx::" part[1]
  return part[2] ~ /\./ || part[2] == "numerics" ? "mx" : "mx::" part[2]
}
FNR == 1 { home = expected(FILENAME); space = "" }
/^namespace mx(::[a-z0-9_:]+)? \{/ { space = $2; line = FNR; own = 0; next }
/^\}  \/\/ namespace mx(::[a-z0-9_:]+)?$/ {
  if (own && FILENAME != "tests/proof/specialized.cpp" && space != "mx::embedded" && space != home && index(space, home "::") != 1) printf "%s:%d: namespace %s, not %s\n", FILENAME, line, space, home
  space = ""
  next
}
space != "" && !/^ *$/ && !/^ *\/\// && !/^(struct|class|enum class) [A-Za-z0-9_]+( : [a-z0-9_:]+)?;$/ { own = 1 }
