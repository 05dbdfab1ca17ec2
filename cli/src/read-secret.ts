import { text } from 'node:stream/consumers'
import { type Call, type OptionRule, UsageError } from './command.ts'

/** The lines that are left of each standard input: tests run several commands in one process. */
const inputs = new WeakMap<NodeJS.ReadStream, Promise<string[]>>()

/**
 * Reads a secret from its option, its environment variable or standard input. The last two keep it out of the shell's
 * history and the process list.
 */
export async function readSecret({ option, env }: Call, name: string, { variable = '' }: OptionRule): Promise<string> {
  const given = option(name) ?? env[variable]
  if (!given) throw new UsageError(`Missing --${name}. Pass it as an option or set ${variable}.`)
  if (given !== '-') return given
  // One line for each secret, in the order in which the command reads them.
  const lines = inputs.get(process.stdin) ?? text(process.stdin).then((all) => all.split(/\r?\n/))
  inputs.set(process.stdin, lines)
  const line = (await lines).shift()
  if (!line) throw new UsageError(`--${name} is "-", but standard input has no line left for it.`)
  return line
}
