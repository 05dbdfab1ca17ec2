import type { CompletedCommand, Completions, Word } from './completions.ts'

/** Options of `parley` itself. */
const ownOptions = '--help --version --json'

/** For bash, also the old one of macOS. */
export function bashScript({ first, second, commands }: Completions): string {
  const wordsOf = (words: readonly Word[]) => words.map(({ word }) => word).join(' ')
  return `# Completion of parley for bash.
_parley() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*) ;; *) command="\${command:+$command }$word" ;; esac
  done
  case "$command" in
    '') words='${wordsOf(first)} ${ownOptions}' ;;
${[...second].map(([group, verbs]) => `    ${group}) words='${wordsOf(verbs)}' ;;`).join('\n')}
${commands.map((each) => `    ${patternOf(each)}) words='${[...each.args, ...each.options.map(({ word }) => word)].join(' ')}'${valueCases(each, bashValues)} ;;`).join('\n')}
    *) words= ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _parley parley`
}

/** After an option that takes a value, only its values are offered; if they are not known, files. */
function valueCases({ options }: CompletedCommand, assign: (values: readonly string[]) => string): string {
  const taking = options.filter(({ takesValue }) => takesValue)
  if (taking.length === 0) return ''
  const cases = [...Map.groupBy(taking, ({ values }) => values)].map(
    ([values, same]) => `${same.map(({ word }) => word).join('|')}) ${assign(values)} ;;`,
  )
  return `; case $prev in ${cases.join(' ')} esac`
}

const bashValues = (values: readonly string[]): string => `words='${values.join(' ')}'`
const zshValues = (values: readonly string[]): string => `choices=(${values.map(quoted).join(' ')})`

/** The command, and the command with arguments and values of options after it. */
const patternOf = ({ name }: CompletedCommand): string => `'${name}'|'${name} '*`

export function zshScript({ first, second, commands }: Completions): string {
  const described = (words: readonly Word[]) => words.map(({ word, help }) => quoted(`${word}:${help}`)).join(' ')
  return `#compdef parley
# Completion of parley for zsh.
_parley() {
  local command= word prev=\${words[CURRENT-1]}
  local -a choices
  for word in "\${words[@]:1:$((CURRENT-2))}"; do
    case $word in (-*) ;; (*) command="\${command:+$command }$word" ;; esac
  done
  case "$command" in
    ('') choices=(${described(first)}) ;;
${[...second].map(([group, verbs]) => `    (${group}) choices=(${described(verbs)}) ;;`).join('\n')}
${commands.map((each) => `    (${patternOf(each)}) choices=(${[...each.args.map(quoted), described(each.options)].join(' ')})${valueCases(each, zshValues)} ;;`).join('\n')}
  esac
  _describe parley choices || _files
}
compdef _parley parley`
}

export function fishScript({ first, second, commands }: Completions): string {
  const line = (condition: string, rest: string) => `complete -c parley -n ${quoted(condition)} ${rest}`
  const wordLines = (condition: string, words: readonly Word[]) =>
    words.map(({ word, help }) => line(condition, `-f -a ${word} -d ${quoted(help)}`))
  const after = ({ name }: CompletedCommand) => {
    const [group = '', verb] = name.split(' ')
    return verb ? `__parley_is ${group} ${verb}` : `__parley_is ${group}`
  }
  return [
    '# Completion of parley for fish.',
    'function __parley_is',
    '  set -l typed (commandline -opc | string match -v -- "-*")[2..-1]',
    '  string match -q -- "$argv *" "$typed "',
    'end',
    'function __parley_typed',
    '  set -l typed (commandline -opc | string match -v -- "-*")[2..-1]',
    '  test "$argv" = "$typed"',
    'end',
    ...wordLines('__parley_typed', first),
    ...[...second].flatMap(([group, verbs]) => wordLines(`__parley_typed ${group}`, verbs)),
    ...commands.flatMap((each) => [
      ...each.args.map((word) => line(`__parley_typed ${each.name}`, `-f -a ${word}`)),
      ...each.options.map(({ word, help, takesValue, values }) => {
        const value = values.length > 0 ? `-x -a ${quoted(values.join(' '))} ` : takesValue ? '-r ' : ''
        return line(after(each), `${value}-l ${word.slice(2)} -d ${quoted(help)}`)
      }),
    ]),
  ].join('\n')
}

/** A word for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
