import { parseArgs } from 'node:util'
import { type Command, UsageError } from './command.ts'
import { nearest } from './nearest.ts'

export interface Parsed {
  args: string[]
  values: Record<string, string[]>
  flags: Set<string>
}

/** Reads what follows a command's name, and names each thing that is missing, unknown or too much. */
export function parseCall(command: Command, words: readonly string[]): Parsed {
  const rules = command.options ?? {}
  const options = Object.fromEntries(
    [...Object.entries(rules), ['json', {}] as const].map(([name, rule]) => [
      name,
      { type: 'value' in rule ? ('string' as const) : ('boolean' as const), multiple: true },
    ]),
  )
  const { values, positionals } = attempt(Object.keys(options), () =>
    parseArgs({ args: [...words], options, allowPositionals: true, strict: true }),
  )
  const wanted = command.args ?? []
  const missing = wanted[positionals.length]
  if (missing && !missing.startsWith('[')) throw new UsageError(`${missing} is missing.`)
  if (positionals.length > wanted.length) throw new UsageError(`"${positionals[wanted.length]}" is one word too many.`)
  const given: Record<string, string[]> = {}
  const flags = new Set<string>()
  for (const [name, list] of Object.entries(values)) {
    const texts = (list as (string | boolean)[]).filter((each) => typeof each === 'string')
    if (texts.length === 0) flags.add(name)
    else if (texts.length > 1 && !rules[name]?.repeated) throw new UsageError(`--${name} may be given once.`)
    else given[name] = texts
  }
  for (const [name, rule] of Object.entries(rules)) {
    if (rule.required && !given[name]) throw new UsageError(`--${name} ${rule.value ?? ''} is missing.`)
  }
  return { args: positionals, values: given, flags }
}

function attempt<T>(known: readonly string[], read: () => T): T {
  try {
    return read()
  } catch (error) {
    const message = (error as Error).message.replace(/\. To specify.*$/s, '.')
    const unknown = /^Unknown option '--([^']+)'/.exec(message)?.[1]
    const meant = unknown && nearest(unknown, known)
    throw new UsageError(meant ? `${message} Did you mean --${meant}?` : message)
  }
}
