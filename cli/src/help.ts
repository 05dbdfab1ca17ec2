import type { Command, OptionRule } from './command.ts'

export function helpFor(commands: readonly Command[]): string {
  const width = Math.max(...commands.map((command) => usageOf(command).length)) + 2
  const rows = commands.map((command) => `  ${usageOf(command).padEnd(width)}${command.summary}`)
  return [
    'Parley: messages over WhatsApp, with webhooks that are never lost.',
    '',
    'Usage: npx parley <command> [options]',
    '',
    ...rows,
    '',
    'Every command takes --json (one JSON document on standard output) and --help.',
    'Settings come from the environment: DATABASE_URL, PARLEY_DATA_DIR, PORT and others; see the README.',
  ].join('\n')
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

export function usageOf({ name, args = [], options = {} }: Command): string {
  const required = Object.entries(options)
    .filter(([, rule]) => rule.required || rule.variable)
    .map(([option, rule]) => `--${option} ${rule.value ?? ''}${rule.repeated ? '…' : ''}`.trim())
  return [name, ...args, ...required].join(' ')
}

const secretNote = ({ variable }: OptionRule): string | undefined =>
  variable && `required, unless ${variable} holds it; - reads a line of standard input`
