import { version } from '@parley/server/lib/version'
import type { ListedCommand } from './command.ts'
import { commands, onServer, sections } from './commands.ts'
import { groupOf, helpForCommand, helpForGroup, overview, runOnServer } from './help.ts'
import { nearest } from './nearest.ts'
import { say, sayAside } from './print.ts'
import { program } from './program.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Runs the command that was typed and returns the exit status. */
export async function runCli(typed: readonly string[], env: Environment): Promise<number> {
  if (typed[0] === '--version' || typed[0] === '-v') {
    say(version)
    return 0
  }
  const words = nameFirst(typed)
  const listed = commands.find(({ name }) => words.slice(0, name.split(' ').length).join(' ') === name)
  if (!listed) return printHelp(words)
  if (words.includes('--help') || words.includes('-h')) {
    say(await helpForCommand(listed))
    return 0
  }
  // Loaded on demand, like the commands: the help needs no database.
  const [command, { runCommand }] = await Promise.all([listed.load(), import('./run-command.ts')])
  return runCommand(command, words.slice(command.name.split(' ').length), env, commands)
}

/** Moves leading options to the end: `parley --json key list` is `parley key list --json`. */
function nameFirst(words: readonly string[]): string[] {
  const options = words.findIndex((word) => !word.startsWith('-'))
  return options > 0 ? [...words.slice(options), ...words.slice(0, options)] : [...words]
}

/** Handles everything that is not a command: help, a group without a command, and unknown names. */
async function printHelp(words: readonly string[]): Promise<number> {
  const names = words.filter((word) => !word.startsWith('-') && word !== 'help')
  const [group] = names
  if (group === undefined) {
    say(overview(sections))
    return 0
  }
  const inGroup = commands.filter(({ name }) => groupOf(name) === group)
  const command = commands.find(({ name }) => name === names.slice(0, 2).join(' ') || name === group)
  if (inGroup.length > 0 && (names.length === 1 || command)) {
    const isHelp = words.some((word) => /^(help|--help|-h)$/.test(word))
    const print = isHelp ? say : sayAside
    print(await (command ? helpForCommand(command) : helpForGroup(inGroup)))
    return isHelp ? 0 : 1
  }
  const typed = names.slice(0, 2).join(' ')
  const isOnServer = onServer.some(
    (name) => name === typed || name === group || (names.length === 1 && groupOf(name) === group),
  )
  const message = isOnServer ? `This program has no database. ${runOnServer(words)}` : unknown(names, inGroup)
  const error = { type: 'invalid_request_error', code: 'invalid_usage', message }
  sayAside(words.includes('--json') ? JSON.stringify({ error }) : message)
  return 1
}

function unknown(names: readonly string[], inGroup: readonly ListedCommand[]): string {
  const [group = ''] = names
  const typed = names.slice(0, 2).join(' ')
  const suggestion = inGroup.length > 0 ? nearestInGroup(names, inGroup) : nearestName(typed, group)
  const all = inGroup.length > 0 ? `${program.name} ${group} --help` : `${program.name} --help`
  const advice = suggestion ? `Did you mean "${suggestion}"?` : `Run "${all}" to see all commands.`
  return `Unknown command "${typed}". ${advice}`
}

function nearestInGroup([group, verb = '']: readonly string[], inGroup: readonly ListedCommand[]): string | undefined {
  const suggestion = nearest(
    verb,
    inGroup.map(({ name }) => name.slice(groupOf(name).length + 1)),
  )
  return suggestion && `${group} ${suggestion}`
}

function nearestName(typed: string, group: string): string | undefined {
  const names = commands.map(({ name }) => name)
  return nearest(typed, names) ?? nearest(group, [...new Set(names.map(groupOf))])
}
