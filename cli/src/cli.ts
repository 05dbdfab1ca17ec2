import { constants } from 'node:os'
import { type Config, type Environment, readConfig, version } from '@parley/server/config'
import { DatabaseClock } from '@parley/server/db/database-clock'
import { ensureToday } from '@parley/server/db/partitions'
import { openStore, type Store, type StoreOptions } from '@parley/server/db/store'
import { newLogger } from '@parley/server/lib/logger'
import { Refusal, StartupError } from '@parley/server/lib/refuse'
import { type Call, type Command, UsageError } from './command.ts'
import { commands } from './commands.ts'
import { helpForNoun, helpForOne, nounOf, overview } from './help.ts'
import { nearest } from './nearest.ts'
import { type Parsed, parseCall } from './parse.ts'
import { onSignals } from './signals.ts'

/** Does what was typed, and says how it ended: 0, or 1. */
export async function runCli(typed: readonly string[], env: Environment): Promise<number> {
  if (typed[0] === '--version') {
    console.log(version)
    return 0
  }
  const words = nameFirst(typed)
  const command = commands.find(({ name }) => words.slice(0, name.split(' ').length).join(' ') === name)
  if (!command) return sayHelp(words)
  if (words.includes('--help') || words.includes('-h')) {
    console.log(helpForOne(command))
    return 0
  }
  try {
    const parsed = parseCall(command, words.slice(command.name.split(' ').length))
    return await runCommand(command, parsed, env)
  } catch (error) {
    // Told to stop: whoever did that knows.
    if (error instanceof Error && error.name === 'AbortError') return 130
    console.error(explain(error, command))
    return 1
  }
}

/** `parley --json key list` is `parley key list --json`. */
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
  // Once, for the end of the command and a signal may come together and have to wait for the same.
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
    const response = await command.run(call)
    if (response) console.log(call.flag('json') ? JSON.stringify(response.json, null, 2) : response.lines.join('\n'))
    return response?.failed ? 1 : 0
  } finally {
    await close().finally(stopListening)
  }
}

/** Opens the database once for the whole command, and the clock with it. */
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
    // The service may not have run for a while, or never.
    if (schema === 'require') await ensureToday(store.db, clock)
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}

/** A command that is told to stop leaves no PostgreSQL behind that it has started. Returns how to stop listening. */
function onSignal(stop: AbortController, close: () => Promise<void>): () => void {
  return onSignals((signal) => {
    if (stop.signal.aborted) return
    stop.abort()
    const exit = () => process.exit(128 + constants.signals[signal])
    setTimeout(exit, 10_000)
    close().then(exit, exit)
  })
}

function sayHelp(words: readonly string[]): number {
  const asked = words.filter((word) => !word.startsWith('-') && word !== 'help')
  const [noun] = asked
  if (noun === undefined) {
    console.log(overview(commands))
    return 0
  }
  const own = commands.filter(({ name }) => nounOf(name) === noun)
  const named = commands.find(({ name }) => name === asked.slice(0, 2).join(' ') || name === noun)
  if (own.length > 0 && (asked.length === 1 || named)) {
    const isWanted = words.some((word) => /^(help|--help|-h)$/.test(word))
    const say = isWanted ? console.log : console.error
    say(named ? helpForOne(named) : helpForNoun(own))
    return isWanted ? 0 : 1
  }
  const typed = asked.slice(0, 2).join(' ')
  const meant = own.length > 0 ? nearestVerb(asked, own) : nearestName(typed, noun)
  console.error(`There is no command "${typed}".${meant ? ` Did you mean "${meant}"?` : ''}\n`)
  console.error(own.length > 0 ? helpForNoun(own) : overview(commands))
  return 1
}

function nearestVerb([noun, verb = '']: readonly string[], own: readonly Command[]): string | undefined {
  const meant = nearest(
    verb,
    own.map(({ name }) => name.slice(nounOf(name).length + 1)),
  )
  return meant && `${noun} ${meant}`
}

function nearestName(typed: string, noun: string): string | undefined {
  const names = commands.map(({ name }) => name)
  return nearest(typed, names) ?? nearest(noun, [...new Set(names.map(nounOf))])
}

function explain(error: unknown, command: Command): string {
  if (error instanceof UsageError) return `${error.message}\n\n${helpForOne(command)}`
  if (error instanceof StartupError) return error.message
  if (error instanceof Refusal) {
    const faults = error.parts.errors?.map(({ message }) => message) ?? []
    return faults.length > 0 ? faults.join('\n') : error.message
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
