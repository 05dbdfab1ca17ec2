import { text } from 'node:stream/consumers'
import { type Call, type OptionRule, UsageError } from './command.ts'

let input: Promise<string[]> | undefined

/** A secret may be typed, but then the shell's history and the list of processes show it; so it may come from elsewhere. */
export async function readSecret({ option, env }: Call, name: string, { variable = '' }: OptionRule): Promise<string> {
  const given = option(name) ?? env[variable]
  if (!given) throw new UsageError(`--${name} is missing, and ${variable} is not set.`)
  if (given !== '-') return given
  // Several secrets are as many lines, in the order in which the command asks for them.
  input ??= text(process.stdin).then((all) => all.split(/\r?\n/))
  const line = (await input).shift()
  if (!line) throw new UsageError(`--${name} is "-", but standard input has no line for it.`)
  return line
}
