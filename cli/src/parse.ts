import { parseArgs } from 'node:util'
import { type Command, UsageError } from './command.ts'
import { nearest } from './nearest.ts'

export interface Parsed {
  args: string[]
  values: Record<string, string[]>
  flags: Set<string>
}

/** Parses the words after the command's name. Throws a UsageError for a missing, unknown or unexpected one. */
export function parseArguments(command: Command, words: readonly string[]): Parsed {
  const rules = command.options ?? {}
  const options = Object.fromEntries(
    [...Object.entries(rules), ['json', {}] as const].map(([name, rule]) => [
      name,
      { type: 'value' in rule ? ('string' as const) : ('boolean' as const), multiple: true },
    ]),
  )
  const { values, positionals } = rethrowAsUsageError(command, Object.keys(options), () =>
    parseArgs({ args: [...words], options, allowPositionals: true, strict: true }),
  )
  const expected = command.args ?? []
  const missing = expected[positionals.length]
  if (missing && !missing.startsWith('[')) throw new UsageError(`Missing argument: ${missing}.`)
  if (positionals.length > expected.length)
    throw new UsageError(`Unexpected argument: "${positionals[expected.length]}".`)
  const given: Record<string, string[]> = {}
  const flags = new Set<string>()
  for (const [name, list] of Object.entries(values)) {
    const texts = (list as (string | boolean)[]).filter((each) => typeof each === 'string')
    if (texts.length === 0) flags.add(name)
    else if (texts.length > 1 && !rules[name]?.repeated) throw new UsageError(`--${name} can be given only once.`)
    else given[name] = texts
  }
  for (const [name, rule] of Object.entries(rules)) {
    if (rule.required && !given[name]) throw new UsageError(`Missing required option: --${name} ${rule.value ?? ''}.`)
  }
  return { args: positionals, values: given, flags }
}

function rethrowAsUsageError<T>(command: Command, known: readonly string[], parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new UsageError(explain(command, known, (error as Error).message))
  }
}

/** The messages of Node are for programmers. */
function explain({ options = {} }: Command, known: readonly string[], message: string): string {
  const [, unknown] = /^Unknown option '(-[^']+)'/.exec(message) ?? []
  if (unknown !== undefined) {
    const suggestion = nearest(unknown.replace(/^-+/, ''), known)
    if (suggestion) return `Unknown option "${unknown}". Did you mean --${suggestion}?`
    // As in `workspace credit ID -200`.
    if (/^-\d/.test(unknown)) return 'A negative number is read as an option. Put the arguments after "--".'
    return `Unknown option "${unknown}".`
  }
  const [, name = ''] = /^Option '(?:-\w, )?--([\w-]+)/.exec(message) ?? []
  if (message.includes('does not take an argument')) return `--${name} takes no value.`
  const missing = `Missing value: --${name} ${options[name]?.value ?? 'VALUE'}.`
  return message.includes('ambiguous') ? `${missing} If it begins with a dash, write --${name}=VALUE.` : missing
}
