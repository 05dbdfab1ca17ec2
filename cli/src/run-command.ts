import { constants } from 'node:os'
import { type Config, type Environment, readConfig } from '@parley/server/config'
import { DatabaseClock } from '@parley/server/db/database-clock'
import { ensureToday } from '@parley/server/db/partitions'
import { openStore, type Store, type StoreOptions } from '@parley/server/db/store'
import { newLogger } from '@parley/server/lib/logger'
import { Refusal, StartupError } from '@parley/server/lib/refuse'
import { type Call, type Command, type ListedCommand, UsageError } from './command.ts'
import { usageLine } from './help.ts'
import { type Parsed, parseArguments } from './parse.ts'
import { completeIds } from './short-ids.ts'
import { onSignals } from './signals.ts'

/** Runs a command with the words after its name. Prints its result or its error, and returns the exit status. */
export async function runCommand(
  command: Command,
  words: readonly string[],
  env: Environment,
  commands: readonly ListedCommand[],
): Promise<number> {
  try {
    return await run(command, parseArguments(command, words), env, commands)
  } catch (error) {
    // Stopped by a signal: nothing to report.
    if (error instanceof Error && error.name === 'AbortError') return 130
    console.error(explain(error, command))
    return 1
  }
}

async function run(
  command: Command,
  parsed: Parsed,
  env: Environment,
  commands: readonly ListedCommand[],
): Promise<number> {
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
  const handlesSignals = command.untilStopped === 'follow' ? parsed.flags.has('follow') : command.untilStopped === true
  const stopListening = handlesSignals ? () => {} : onSignal(stop, close)
  const call: Call = {
    args: parsed.args,
    option: (name) => parsed.values[name]?.at(-1),
    options: (name) => parsed.values[name] ?? [],
    flag: (name) => parsed.flags.has(name),
    env,
    config,
    clock,
    commands,
    store(schema) {
      opening ??= openWith(config, clock, schema, stop.signal)
      return opening
    },
    db: async () => (await call.store('require')).db,
  }
  try {
    await completeIds(command, parsed, call.db)
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
