import type { Command, ListedCommand, OptionRule, Section } from './command.ts'
import { program } from './program.ts'
import { styled } from './style.ts'

/** Lines end here, or where a narrower terminal ends. */
const widest = 100
const lineWidth = (): number => Math.min(widest, process.stdout.columns || widest)
/** A longer option name gets a line of its own. */
const maxColumn = 30
/** A narrower column than this is too narrow for a text next to its label. */
const narrowest = 24

/** `parley --help`: every command, without its options. */
export function overview(sections: readonly Section[]): string {
  const width = Math.max(...sections.flatMap(({ commands }) => commands.map(({ name }) => name.length))) + 2
  const lists = sections.flatMap(({ title, commands }) => [
    styled('bold', `${title}:`),
    ...commands.flatMap(({ name, summary }) => hanging(`  ${name.padEnd(width)}`, summary)),
    '',
  ])
  return [
    program.about,
    '',
    `Usage: ${program.name} <command> [options]`,
    '',
    ...lists,
    ...optionLines({
      json: { help: 'Print the result as one JSON document' },
      help: { help: `Show help for a command or a group, for example "${program.name} webhook --help"` },
      version: { help: 'Show the version' },
    }),
    '',
    ...exampleLines(program.examples),
    '',
    ...wrap(program.settings, lineWidth()),
  ].join('\n')
}

/** `parley key --help`: the commands of one group, with their arguments. */
export async function helpForGroup(commands: readonly ListedCommand[]): Promise<string> {
  const group = groupOf(commands[0]?.name ?? '')
  const usages = await Promise.all(commands.map(async (listed) => usageOf(await listed.load())))
  return [
    `Usage: ${program.name} ${group} <command> [options]`,
    '',
    styled('bold', 'Commands:'),
    ...commands.flatMap(({ summary }, index) => [`  ${usages[index]}`, ...hanging('      ', summary)]),
    '',
    `Run "${program.name} ${group} <command> --help" for the options of a command.`,
  ].join('\n')
}

export async function helpForCommand({ summary, load }: ListedCommand): Promise<string> {
  const command = await load()
  const { details, withDatabase, options = {}, examples = [] } = command
  const texts = [`${summary}.`, details, program.hasDatabase && withDatabase]
  return [
    ...wrap(texts.filter(Boolean).join(' '), lineWidth()),
    '',
    usageLine(command),
    '',
    ...optionLines({ ...options, json: { help: 'Print the result as one JSON document' } }),
    ...(examples.length > 0 ? ['', ...exampleLines(examples)] : []),
  ].join('\n')
}

export const usageLine = (command: Command): string => `Usage: ${program.name} ${usageOf(command)}`

/** The command that needs the database, for people without it. */
export function runOnServer(words: readonly string[]): string {
  const typed = words.map((word) => (/^[\w./:,+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
  return `An operator runs this on the server: ./parley ${typed.join(' ')}`
}

/** The first word of a command: `key` for `key create`. */
export const groupOf = (name: string): string => name.split(' ', 1)[0] as string

function optionLines(rules: Readonly<Record<string, OptionRule>>): string[] {
  const left = (name: string, value?: string) => `  --${name}${value ? ` ${value}` : ''}`
  const rows = Object.entries(rules).map(([name, rule]) => ({ label: left(name, rule.value), rule }))
  const width = Math.max(...rows.map(({ label }) => label.length).filter((length) => length <= maxColumn)) + 2
  const lines = rows.flatMap(({ label, rule }) => {
    const notes = notesOf(rule)
    const text = notes ? `${rule.help} (${notes})` : rule.help
    if (label.length > maxColumn) return [label, ...hanging(' '.repeat(width), text)]
    return hanging(label.padEnd(width), text)
  })
  return [styled('bold', 'Options:'), ...lines]
}

const exampleLines = (examples: readonly string[]): string[] => [
  styled('bold', 'Examples:'),
  ...examples.map((example) => `  $ ${program.name} ${example}`),
]

function usageOf({ name, args = [], options = {} }: Command): string {
  const required = Object.entries(options)
    .filter(([, rule]) => rule.required || rule.variable || rule.usual)
    .map(([option, rule]) => `--${option} ${rule.value ?? ''}${rule.repeated ? '...' : ''}`.trim())
  const more = Object.keys(options).length > required.length ? ['[options]'] : []
  return [name, ...args, ...required, ...more].join(' ')
}

const notesOf = ({ required, repeated, variable }: OptionRule): string =>
  [
    required && 'required',
    repeated && 'repeatable',
    variable && `required, or set ${variable}; "-" reads a line from standard input`,
  ]
    .filter(Boolean)
    .join(', ')

/** A text next to its label. In a narrow terminal, it begins below the label. */
function hanging(label: string, text: string): string[] {
  const left = lineWidth() - label.length
  if (left < narrowest && label.trim() !== '') return [label.trimEnd(), ...hanging('      ', text)]
  const [first = '', ...more] = wrap(text, Math.max(left, 1))
  return [label + first, ...more.map((line) => ' '.repeat(label.length) + line)]
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
