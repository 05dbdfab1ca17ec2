import type { Command, ListedCommand, Section } from '../command.ts'
import { commands as events } from '../commands/events.ts'
import { commands as listen } from '../commands/listen.ts'
import { commands as login } from '../commands/login.ts'
import { commands as logs } from '../commands/logs.ts'
import { commands as mcp } from '../commands/mcp.ts'
import { commands as send } from '../commands/send.ts'
import { commands as trigger } from '../commands/trigger.ts'
import { commands as types } from '../commands/types.ts'
import { commands as webhookList } from '../commands/webhook-list.ts'
import { commands as all } from '../commands.ts'

/** The commands that can work with an API key. */
const withKey = [login, listen, send, events, trigger, webhookList, types, logs, mcp].flat()

export const commands: readonly ListedCommand[] = withKey.map((command) => ({
  name: command.name,
  summary: all.find(({ name }) => name === command.name)?.summary ?? '',
  load: async () => forKeys(command),
}))

/** Without `logs`, which only says what an operator runs. */
export const sections: readonly Section[] = [
  { title: 'Commands', commands: commands.filter(({ name }) => name !== 'logs') },
]

export const onServer: readonly string[] = all
  .map(({ name }) => name)
  .filter((name) => !withKey.some((command) => command.name === name))

/** Without --workspace, because a key belongs to one, and without examples that would need it or lack what is required here. */
function forKeys({ options = {}, examples = [], ...command }: Command): Command {
  const rules = Object.entries(options).filter(([, { idOf }]) => idOf !== 'workspace')
  const required = rules.flatMap(([name, rule]) => (rule.required ? [`--${name} `] : []))
  return {
    ...command,
    options: Object.fromEntries(rules),
    examples: examples.filter(
      (example) => !example.includes('--workspace') && required.every((option) => example.includes(option)),
    ),
  }
}
