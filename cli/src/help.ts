import type { Command, OptionRule } from './command.ts'
import { styled } from './style.ts'

/** Every command with what it does; what each takes is told by its own help. */
export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length)) + 2
  const rows = commands.map(({ name, summary }, index) => {
    const isNew = name.includes(' ') && nounOf(name) !== nounOf(commands[index - 1]?.name ?? name)
    return `${isNew ? '\n' : ''}  ${styled('bold', name.padEnd(width))}${summary}`
  })
  return [
    'Parley: messages over WhatsApp, with webhooks that are never lost.',
    '',
    'Usage: npx parley <command> [options]',
    '',
    ...rows,
    '',
    'npx parley <command> --help tells what a command takes, npx parley <noun> --help what there is of a noun.',
    'Every command takes --json: one JSON document on standard output and nothing else.',
    'Settings come from the environment: DATABASE_URL, PARLEY_DATA_DIR, PORT and others; see the README.',
  ].join('\n')
}

/** All that can be done with a noun, and what it takes. */
export function helpForNoun(commands: readonly Command[]): string {
  return commands.map((command) => `${styled('bold', usageOf(command))}\n    ${command.summary}`).join('\n')
}

export function helpForOne(command: Command): string {
  const rules = Object.entries(command.options ?? {})
  const left = (name: string, value?: string) => `  --${name}${value ? ` ${value}` : ''}`
  const width = Math.max(0, ...rules.map(([name, rule]) => left(name, rule.value).length)) + 2
  const rows = rules.map(([name, rule]) => {
    const notes = [rule.required && 'required', rule.repeated && 'may be repeated', secretNote(rule)]
      .filter(Boolean)
      .join(', ')
    return `${left(name, rule.value).padEnd(width)}${rule.help}${notes ? ` (${notes})` : ''}`
  })
  return [`Usage: npx parley ${usageOf(command)}`, '', command.summary, ...(rows.length ? ['', ...rows] : [])].join(
    '\n',
  )
}

export const nounOf = (name: string): string => name.split(' ', 1)[0] as string

function usageOf({ name, args = [], options = {} }: Command): string {
  const required = Object.entries(options)
    .filter(([, rule]) => rule.required || rule.variable)
    .map(([option, rule]) => `--${option} ${rule.value ?? ''}${rule.repeated ? '…' : ''}`.trim())
  const more = Object.keys(options).length > required.length ? ['[options]'] : []
  return [name, ...args, ...required, ...more].join(' ')
}

const secretNote = ({ variable }: OptionRule): string | undefined =>
  variable && `required, unless ${variable} holds it; - reads a line of standard input`
