#include "cli/completion.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "cli/known_words.hpp"

namespace mx::cli {
namespace {

/// In single quotes for a shell.
std::string shell_quoted(std::string_view text) {
  std::string word = "'";
  for (char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

/// What may come next: verbs, then options.
std::vector<std::string> next_words(const VerbEntry& verb) {
  std::vector<std::string> words;
  for (const VerbEntry& below : verb.verbs) words.emplace_back(name_of(below));
  for (const OptionEntry& option : verb.options) {
    if (!option.positional) words.insert(words.end(), option.names.begin(), option.names.end());
  }
  return words;
}

/// Verbs, and names that a word by its place takes; `help` takes every verb.
std::vector<std::string> place_words(const VerbEntry& program, const VerbEntry& verb) {
  std::vector<std::string> words;
  const bool any_verb = verb.path == "help";
  for (const VerbEntry& below : any_verb ? program.verbs : verb.verbs) words.emplace_back(name_of(below));
  for (const OptionEntry& option : verb.options) {
    if (!option.positional) continue;
    const std::vector<std::string> known = known_words(verb, option);
    words.insert(words.end(), known.begin(), known.end());
  }
  return words;
}

/// "    'layout where') ...;;": what follows an option of that verb, where it is a name.
std::string bash_values(const VerbEntry& verb) {
  std::string cases;
  for (const OptionEntry& option : verb.options) {
    if (option.positional || !option.takes_value) continue;
    const std::vector<std::string> words = known_words(verb, option);
    for (const std::string& name : option.names) {
      // An option whose value is no name completes to files, which is what the rest of them take.
      cases += fmt::format("    {}) words={};;\n", shell_quoted(verb.path + " " + name), shell_quoted(fmt::format("{}", fmt::join(words, " "))));
    }
  }
  return cases;
}

/// Colons and brackets part the fields of _arguments.
std::string zsh_text(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string zsh_values(const VerbEntry& verb, const OptionEntry& option) {
  const std::vector<std::string> words = known_words(verb, option);
  return words.empty() ? "_files" : fmt::format("({})", fmt::join(words, " "));
}

std::string zsh_option(const VerbEntry& verb, const OptionEntry& option, const std::string& name) {
  std::string spec = fmt::format("{}{}[{}]", option.repeats ? "*" : "", name, zsh_text(option.meaning));
  if (option.takes_value) spec += ":value:" + zsh_values(verb, option);
  return spec;
}

/// The specifications of _arguments for one verb without verbs of its own.
std::vector<std::string> zsh_specs(const VerbEntry& verb) {
  std::vector<std::string> specs;
  int place = 0;
  for (const OptionEntry& option : verb.options) {
    if (option.positional) {
      specs.push_back(
          fmt::format("{}:{}:{}", option.repeats ? "*" : std::to_string(++place), zsh_text(option.names.front()), zsh_values(verb, option)));
      continue;
    }
    for (const std::string& name : option.names) specs.push_back(zsh_option(verb, option, name));
  }
  return specs;
}

std::string zsh_case(const VerbEntry& verb) {
  std::string body;
  if (verb.verbs.empty()) {
    body = "_arguments";
    for (const std::string& spec : zsh_specs(verb)) body += " \\\n        " + shell_quoted(spec);
  } else {
    body = "verbs=(";
    for (const VerbEntry& below : verb.verbs) body += "\n        " + shell_quoted(zsh_text(name_of(below)) + ":" + below.meaning);
    body += ")\n      _describe verb verbs";
  }
  return fmt::format("    {})\n      {}\n      ;;\n", shell_quoted(verb.path), body);
}

std::string verb_pattern(const std::vector<const VerbEntry*>& verbs) {
  std::vector<std::string> paths;
  for (const VerbEntry* verb : verbs) {
    if (!verb->path.empty()) paths.push_back(shell_quoted(verb->path));
  }
  return fmt::format("{}", fmt::join(paths, "|"));
}

}  // namespace

std::string bash_completion(const VerbEntry& program) {
  const std::vector<const VerbEntry*> verbs = all_verbs(program);
  std::string values;
  std::string words;
  for (const VerbEntry* verb : verbs) {
    values += bash_values(*verb);
    std::vector<std::string> next = next_words(*verb);
    words += fmt::format("    {}) words={}; names={};;\n", shell_quoted(verb->path), shell_quoted(fmt::format("{}", fmt::join(next, " "))),
                         shell_quoted(fmt::format("{}", fmt::join(place_words(program, *verb), " "))));
  }
  // No reply means files, by `-o default`.
  return "# bash completion of mxact, written by `mxact completion bash`\n_mxact() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} path= words= names= word\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case \"${path:+$path }$word\" in\n      " +
         verb_pattern(verbs) +
         ") path=\"${path:+$path }$word\";;\n    esac\n  done\n"
         "  COMPREPLY=()\n"
         "  case \"$path $previous\" in\n" +
         values +
         "    *) previous=;;\n  esac\n"
         "  if [[ -n $previous ]]; then\n    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n    return\n  fi\n"
         "  case \"$path\" in\n" +
         words +
         "  esac\n"
         "  [[ $current == -* ]] || words=$names\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n}\n"
         "complete -o bashdefault -o default -F _mxact mxact\n";
}

std::string zsh_completion(const VerbEntry& program) {
  const std::vector<const VerbEntry*> verbs = all_verbs(program);
  std::string cases;
  for (const VerbEntry* verb : verbs) cases += zsh_case(*verb);
  // The verb's own words become the whole line, so that places count from it.
  return "#compdef mxact\n# zsh completion of mxact, written by `mxact completion zsh`\n_mxact() {\n"
         "  local path_typed= word\n  local -a verbs\n  integer depth=1\n"
         "  for word in \"${(@)words[2,CURRENT-1]}\"; do\n"
         "    case \"${path_typed:+$path_typed }$word\" in\n      " +
         verb_pattern(verbs) +
         ") path_typed=\"${path_typed:+$path_typed }$word\"; (( depth += 1 ));;\n      *) break;;\n    esac\n  done\n"
         "  words=(mxact \"${(@)words[depth+1,-1]}\")\n  (( CURRENT -= depth - 1 ))\n"
         "  case \"$path_typed\" in\n" +
         cases + "  esac\n}\n_mxact \"$@\"\n";
}

}  // namespace mx::cli
