import { roles } from '@parley/contract/console/permissions'
import { eventTypes } from '@parley/contract/events'
import type { ListedCommand } from '../command.ts'
import { groupOf } from '../help.ts'

/** A word that can be typed, and what it does. */
export interface Word {
  word: string
  help: string
}

interface CompletedOption extends Word {
  takesValue: boolean
  /** What the value can be, if it is one of a few words. */
  values: readonly string[]
}

export interface CompletedCommand {
  /** As typed: `workspace create`. */
  name: string
  options: readonly CompletedOption[]
  /** What the first argument can be, if it is one of a few words. */
  args: readonly string[]
}

export interface Completions {
  /** The first words: groups, and commands of one word. */
  first: readonly Word[]
  /** The second words of each group. */
  second: ReadonlyMap<string, readonly Word[]>
  commands: readonly CompletedCommand[]
}

const argumentsOf: Readonly<Record<string, readonly string[]>> = {
  trigger: eventTypes,
  completion: ['bash', 'zsh', 'fish'],
}

const unknown: readonly string[] = []

/** By the name of the option. Scopes are not here: bash divides words at a colon. */
const valuesOf: Readonly<Record<string, readonly string[]>> = {
  event: eventTypes,
  role: roles,
}

/** Everything that a shell completes, from the table of commands. */
export async function readCompletions(commands: readonly ListedCommand[]): Promise<Completions> {
  const second = new Map<string, Word[]>()
  const first = new Map<string, string>()
  const all: CompletedCommand[] = []
  for (const { name, summary, load } of commands) {
    const group = groupOf(name)
    const verb = name.slice(group.length + 1)
    if (verb === '') first.set(group, summary)
    else {
      if (!first.has(group)) first.set(group, `Commands for ${group}`)
      second.set(group, [...(second.get(group) ?? []), { word: verb, help: summary }])
    }
    const { options = {} } = await load()
    const rules = { ...options, json: { help: 'Print the result as one JSON document' }, help: { help: 'Show help' } }
    all.push({
      name,
      options: Object.entries(rules).map(([option, rule]) => ({
        word: `--${option}`,
        help: rule.help,
        takesValue: 'value' in rule,
        values: 'value' in rule ? (valuesOf[option] ?? unknown) : unknown,
      })),
      args: argumentsOf[name] ?? [],
    })
  }
  return { first: [...first].map(([word, help]) => ({ word, help })), second, commands: all }
}
