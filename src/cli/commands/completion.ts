import type { Command } from '../command/command.ts'
import { readArguments, unknownWord } from '../command/read-arguments.ts'
import { UsageError } from '../command/usage-error.ts'
import type { Verb } from '../command/verbs.ts'
import { VERBS } from '../command/verbs.ts'

const USAGE = `branchpoint completion bash|zsh|fish

  Prints what makes the shell complete commands, sub-commands and options.

Examples:
  source <(branchpoint completion bash)        in ~/.bashrc
  source <(branchpoint completion zsh)         in ~/.zshrc, after compinit
  branchpoint completion fish | source         in ~/.config/fish/config.fish`

/** The command `completion`. The printed script calls no program, so completion is fast. */
export const completionCommand: Command = {
  usage: USAGE,
  needsWords: true,
  run: async (args, { print }) => {
    const { positionals } = readArguments(args, VERBS.completion.options, { usage: USAGE })
    const [shell = '', more] = positionals
    const script = { bash, zsh, fish }[shell]
    if (!script) throw unknownWord(shell, VERBS.completion.words, USAGE)
    if (more !== undefined) throw new UsageError(`"${more}" is one word too many.`, USAGE)
    print(script())
    return 0
  },
}

const ALL = Object.entries<Verb>(VERBS)

function optionsOf({ options }: Verb): string[] {
  return [...Object.keys(options), 'help'].map((name) => `--${name}`)
}

function bash(): string {
  return `_branchpoint() {
  local word=\${COMP_WORDS[COMP_CWORD]} words= options=
  case \${COMP_WORDS[1]} in
${ALL.map(([name, verb]) => `    ${name}) words="${verb.words.join(' ')}" options="${optionsOf(verb).join(' ')}" ;;`).join('\n')}
  esac
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then words="${ALL.map(([name]) => name).join(' ')}" options=--help
  elif [ "$COMP_CWORD" -gt 2 ]; then words=
  fi
  case $word in
    -*) words=$options ;;
  esac
  [ -z "$words" ] || COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _branchpoint branchpoint`
}

function zsh(): string {
  // In zsh, `options` and `words` are reserved variables.
  const verbs = ALL.map(([name, { summary }]) => `'${name}:${summary.replaceAll("'", "'\\''")}'`)
  return `#compdef branchpoint
_branchpoint() {
  local -a verbs subs flags
  verbs=(${verbs.join(' ')})
  if (( CURRENT == 2 )); then _describe command verbs; return; fi
  case $words[2] in
${ALL.map(([name, verb]) => `    ${name}) subs=(${verb.words.join(' ')}) flags=(${optionsOf(verb).join(' ')}) ;;`).join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then compadd -- $flags
  elif (( CURRENT == 3 && $#subs )); then compadd -- $subs
  else _files
  fi
}
compdef _branchpoint branchpoint`
}

function fish(): string {
  return ALL.flatMap(([name, { words, summary, options }]) => {
    const on = `complete -c branchpoint -n '__fish_seen_subcommand_from ${name}'`
    const described = summary.replaceAll("'", "\\'")
    const subs = words.join(' ')
    return [
      `complete -c branchpoint -n __fish_use_subcommand -f -a ${name} -d '${described}'`,
      ...(subs
        ? [
            `complete -c branchpoint -n '__fish_seen_subcommand_from ${name}; and not __fish_seen_subcommand_from ${subs}' -f -a '${subs}'`,
          ]
        : []),
      ...Object.entries(options).map(
        ([option, { type }]) => `${on} -l ${option}${type === 'string' ? ' -r' : ''}`,
      ),
      `${on} -s h -l help`,
    ]
  }).join('\n')
}
