import { constants } from 'node:os'
import type { Environment } from '@parley/server/config'
import type { Call, Command, ListedCommand } from './command.ts'
import { errorJson, explain } from './explain.ts'
import { openInstallation } from './installation.ts'
import { type Parsed, parseArguments } from './parse.ts'
import { printJson, say, sayAside } from './print.ts'
import { completeIds } from './short-ids.ts'
import { onSignals } from './signals.ts'

/** Runs a command with the words after its name. Prints its result or its error, and returns the exit status. */
export async function runCommand(
  command: Command,
  words: readonly string[],
  env: Environment,
  commands: readonly ListedCommand[],
): Promise<number> {
  let args: readonly string[] = []
  try {
    const parsed = parseArguments(command, words)
    args = parsed.args
    return await run(command, parsed, env, commands)
  } catch (error) {
    // Stopped by a signal: nothing to report.
    if (error instanceof Error && error.name === 'AbortError') return 130
    if (words.includes('--json')) sayAside(JSON.stringify(errorJson(error, command, args)))
    else sayAside(explain(error, command, args))
    return 1
  }
}

async function run(
  command: Command,
  parsed: Parsed,
  env: Environment,
  commands: readonly ListedCommand[],
): Promise<number> {
  const stop = new AbortController()
  const installation = openInstallation(env, stop.signal)
  const { store, running, close } = installation
  const { untilStopped } = command
  const runsOn = untilStopped === 'follow' ? parsed.flags.has('follow') : untilStopped === true
  const stopListening = untilStopped === 'itself' ? () => {} : onSignal(stop, runsOn ? null : close)
  const call: Call = {
    args: parsed.args,
    option: (name) => parsed.values[name]?.at(-1),
    options: (name) => parsed.values[name] ?? [],
    flag: (name) => parsed.flags.has(name),
    env,
    get config() {
      return installation.config
    },
    get clock() {
      return installation.clock
    },
    running,
    stopped: stop.signal,
    commands,
    store,
    db: async () => (await call.store('require')).db,
  }
  try {
    await completeIds(command, parsed, call.db)
    const result = await command.run(call)
    if (result && call.flag('json')) printJson(result.json, 2)
    else if (result) say(result.lines.join('\n'))
    return result?.failed ? 1 : 0
  } catch (error) {
    // After a signal, errors are those of the database that was closed.
    stop.signal.throwIfAborted()
    throw error
  } finally {
    await close().finally(stopListening)
  }
}

/**
 * On a signal, stops a PostgreSQL that the command started, and exits. A command that runs until it is stopped has no `close`: it
 * ends by itself. Returns a function that removes the listener.
 */
function onSignal(stop: AbortController, close: (() => Promise<void>) | null): () => void {
  let timer: NodeJS.Timeout | undefined
  const stopListening = onSignals((signal) => {
    if (stop.signal.aborted) return
    stop.abort()
    const exit = () => process.exit(128 + constants.signals[signal])
    timer = setTimeout(exit, 10_000).unref()
    close?.().then(exit, exit)
  })
  return () => {
    clearTimeout(timer)
    stopListening()
  }
}
