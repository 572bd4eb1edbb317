# awk -f together.awk -v most=12 [-v apart=1] HEADERS... SOURCES...: which sources are compiled as one, a line for each; with apart=1 of one folder alone. Apart stay two of which one has something of its own (in an anonymous namespace, static, an
# alias) with a name that the other has too, calls or names; two that open different namespaces or enumerations with `using`; alone what has a macro, includes what is generated (it changes with every commit),
# or has something of its own with the name of a header's type or object in the same namespace. Relies on clang-format: what is declared at a namespace's level begins a line, and a namespace's end
# says what it ends. What it takes for a name and is none keeps two sources apart, no more.
function folder_of(file) { sub(/\/[^\/]*$/, "", file); return file }
function fits(group, file,  i) {
  if (apart && folder[group] != folder_of(file)) return 0
  if (size[group] >= most || (uses[group] != "" && used[file] != "" && uses[group] != used[file])) return 0
  for (i = 1; i <= names[file]; ++i) if ((group, name[file, i]) in taken || (group, name[file, i]) in said) return 0
  for (i = 1; i <= calls[file]; ++i) if ((group, call[file, i]) in taken) return 0
  return 1
}
# Something of a source's own; of a header, what an equal name would be ambiguous with.
function own(what, is_function) {
  if (header && !is_function) public[scope "::" what] = 1
  if (header) return
  name[FILENAME, ++names[FILENAME]] = what
  if ((scope "::" what) in public) alone[FILENAME] = 1
}
FNR == 1 { header = FILENAME ~ /[.]hpp$/; scope = ""; depth = 0; private = 0 }
FNR == 1 && !header { file[++files] = FILENAME; names[FILENAME] = calls[FILENAME] = 0; used[FILENAME] = "" }
# What it calls, and types and constants that it names, where nothing says whose they are.
!header {
  line = $0
  sub(/\/\/.*/, "", line)
  while (match(line, /(^|[^.>:A-Za-z0-9_])([A-Za-z_][A-Za-z0-9_]*\(|k?[A-Z][A-Za-z0-9_]*)/)) {
    called = substr(line, RSTART, RLENGTH)
    gsub(/[^A-Za-z0-9_]/, "", called)
    line = substr(line, RSTART + RLENGTH)
    if (!((FILENAME, called) in seen)) { seen[FILENAME, called] = 1; call[FILENAME, ++calls[FILENAME]] = called }
  }
}
!header && (/^#define/ || /^#include "[^\/]*"/) { alone[FILENAME] = 1 }
/^using (namespace|enum) / { used[FILENAME] = used[FILENAME] $0; next }
/^using [^=]*;/ { next }
/^namespace [a-zA-Z_:0-9]+ = / { own($2, 0); next }
/^namespace .*{$/ {
  if (private) own($2, 0)
  outer[++depth] = scope
  if ($2 != "{") scope = scope "::" $2
  else if (!private) private = depth
  next
}
/^}  \/\/ namespace/ {
  scope = outer[depth]
  if (private == depth--) private = 0
  next
}
/^[a-zA-Z_[]/ && (private || header || /^static /) {
  line = $0
  sub(/ *\/\/.*/, "", line)
  sub(/^\[\[[^]]*\]\] */, "", line)
  while (gsub(/<[^<>]*>/, "", line)) {}
  if (line ~ /^(template|static_assert|requires|return|public|private)/) next
  if (match(line, /^(struct|class|union|enum class|enum) +[A-Za-z_0-9]+/)) {
    line = substr(line, 1, RLENGTH)
    sub(/.* /, "", line)
    own(line, 0)
  } else if (match(line, /[A-Za-z_0-9]+ *[({=[;]/)) {
    line = substr(line, RSTART, RLENGTH)
    is_function = line ~ /\($/
    sub(/ *.$/, "", line)
    own(line, is_function)
  }
}
END {
  for (f = 1; f <= files; ++f) {
    g = groups + 1
    if (!(file[f] in alone)) for (g = 1; g <= groups && !fits(g, file[f]); ++g) {}
    if (g > groups) groups = g
    if (file[f] in alone) size[g] = most
    if (used[file[f]] != "") uses[g] = used[file[f]]
    ++size[g]
    folder[g] = folder_of(file[f])
    for (i = 1; i <= names[file[f]]; ++i) taken[g, name[file[f], i]] = 1
    for (i = 1; i <= calls[file[f]]; ++i) said[g, call[file[f], i]] = 1
    members[g] = members[g] (members[g] == "" ? "" : " ") file[f]
  }
  for (g = 1; g <= groups; ++g) print members[g]
}
