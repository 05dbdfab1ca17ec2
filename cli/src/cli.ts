import { constants } from 'node:os'
import { type Config, type Environment, readConfig, version } from '@parley/server/config'
import { DatabaseClock } from '@parley/server/db/database-clock'
import { ensureToday } from '@parley/server/db/partitions'
import { openStore, type Store, type StoreOptions } from '@parley/server/db/store'
import { newLogger } from '@parley/server/lib/logger'
import { Refusal, StartupError } from '@parley/server/lib/refuse'
import { type Call, type Command, UsageError } from './command.ts'
import { commands, sections } from './commands.ts'
import { groupOf, helpForCommand, helpForGroup, overview, usageLine } from './help.ts'
import { nearest } from './nearest.ts'
import { type Parsed, parseArguments } from './parse.ts'
import { onSignals } from './signals.ts'

/** Runs the command that was typed and returns the exit status. */
export async function runCli(typed: readonly string[], env: Environment): Promise<number> {
  if (typed[0] === '--version') {
    console.log(version)
    return 0
  }
  const words = nameFirst(typed)
  const command = commands.find(({ name }) => words.slice(0, name.split(' ').length).join(' ') === name)
  if (!command) return printHelp(words)
  if (words.includes('--help') || words.includes('-h')) {
    console.log(helpForCommand(command))
    return 0
  }
  try {
    const parsed = parseArguments(command, words.slice(command.name.split(' ').length))
    return await runCommand(command, parsed, env)
  } catch (error) {
    // Stopped by a signal: nothing to report.
    if (error instanceof Error && error.name === 'AbortError') return 130
    console.error(explain(error, command))
    return 1
  }
}

/** Moves leading options to the end: `parley --json key list` is `parley key list --json`. */
function nameFirst(words: readonly string[]): string[] {
  const options = words.findIndex((word) => !word.startsWith('-'))
  return options > 0 ? [...words.slice(options), ...words.slice(0, options)] : [...words]
}

async function runCommand(command: Command, parsed: Parsed, env: Environment): Promise<number> {
  const config = readConfig(env)
  const clock = new DatabaseClock()
  let opening: Promise<Store> | undefined
  const stop = new AbortController()
  let closing: Promise<void> | undefined
  // Closes only once: the end of the command and a signal can both call this, and both wait for the same promise.
  const close = () => {
    closing ??= (async () => (await opening?.catch(() => undefined))?.close())()
    return closing
  }
  const stopListening = command.untilStopped ? () => {} : onSignal(stop, close)
  const call: Call = {
    args: parsed.args,
    option: (name) => parsed.values[name]?.at(-1),
    options: (name) => parsed.values[name] ?? [],
    flag: (name) => parsed.flags.has(name),
    env,
    config,
    clock,
    store(schema) {
      opening ??= openWith(config, clock, schema, stop.signal)
      return opening
    },
    db: async () => (await call.store('require')).db,
  }
  try {
    const result = await command.run(call)
    if (result) console.log(call.flag('json') ? JSON.stringify(result.json, null, 2) : result.lines.join('\n'))
    return result?.failed ? 1 : 0
  } catch (error) {
    // After a signal, errors are those of the database that was closed.
    stop.signal.throwIfAborted()
    throw error
  } finally {
    await close().finally(stopListening)
  }
}

/** Opens the database for the command and sets the clock by it. */
async function openWith(
  config: Config,
  clock: DatabaseClock,
  schema: StoreOptions['schema'],
  signal: AbortSignal,
): Promise<Store> {
  const log = newLogger('silent')
  const say = (line: string) => console.error(line)
  const store = await openStore(config, { purpose: 'visitor', log, say, schema, signal })
  try {
    await clock.sync(store.db)
    // Today's partitions may not exist yet: the service creates them, and it may not have run for a while.
    if (schema === 'require') await ensureToday(store.db, clock)
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}

/** On a signal, stops a PostgreSQL that the command started before exiting. Returns a function that removes the listener. */
function onSignal(stop: AbortController, close: () => Promise<void>): () => void {
  return onSignals((signal) => {
    if (stop.signal.aborted) return
    stop.abort()
    const exit = () => process.exit(128 + constants.signals[signal])
    setTimeout(exit, 10_000)
    close().then(exit, exit)
  })
}

/** Handles everything that is not a command: help, a group without a command, and unknown names. */
function printHelp(words: readonly string[]): number {
  const names = words.filter((word) => !word.startsWith('-') && word !== 'help')
  const [group] = names
  if (group === undefined) {
    console.log(overview(sections))
    return 0
  }
  const inGroup = commands.filter(({ name }) => groupOf(name) === group)
  const command = commands.find(({ name }) => name === names.slice(0, 2).join(' ') || name === group)
  if (inGroup.length > 0 && (names.length === 1 || command)) {
    const isHelp = words.some((word) => /^(help|--help|-h)$/.test(word))
    const print = isHelp ? console.log : console.error
    print(command ? helpForCommand(command) : helpForGroup(inGroup))
    return isHelp ? 0 : 1
  }
  const typed = names.slice(0, 2).join(' ')
  const suggestion = inGroup.length > 0 ? nearestInGroup(names, inGroup) : nearestName(typed, group)
  console.error(`Unknown command "${typed}".${suggestion ? ` Did you mean "${suggestion}"?` : ''}\n`)
  console.error(inGroup.length > 0 ? helpForGroup(inGroup) : 'Run "npx parley --help" to see all commands.')
  return 1
}

function nearestInGroup([group, verb = '']: readonly string[], inGroup: readonly Command[]): string | undefined {
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

function explain(error: unknown, command: Command): string {
  if (error instanceof UsageError) {
    return `${error.message}\n\n${usageLine(command)}\n\nRun "npx parley ${command.name} --help" for options and examples.`
  }
  if (error instanceof StartupError) return error.message
  if (error instanceof Refusal) {
    const faults = error.parts.errors?.map(({ message }) => message) ?? []
    return faults.length > 0 ? faults.join('\n') : error.message
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
