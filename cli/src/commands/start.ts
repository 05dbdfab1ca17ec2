import { version } from '@parley/server/config'
import { newLogger } from '@parley/server/lib/logger'
import type { Service } from '@parley/server/start'
import type { Simulator } from '@parley/simulator/start'
import type { Command } from '../command.ts'
import { onSignals } from '../signals.ts'
import { runSimulator } from '../simulator.ts'
import { welcome } from '../welcome.ts'

export const startCommand: Command = {
  name: 'start',
  summary: 'Run the service until it is told to stop',
  untilStopped: true,
  async run({ config, flag }) {
    // With --json, standard output is for one document: where it listens. All else goes to standard error.
    const json = flag('json')
    const say = (line: string) => (json ? console.error(line) : console.log(line))
    const log = newLogger(config.logLevel, json ? process.stderr : undefined)
    say(`Parley ${version}`)
    const { signal, stopListening } = stopAsked()
    // Loaded here, for the other commands can do without an http server.
    const { startService } = await import('@parley/server/start')
    let service: Service | undefined
    let simulator: Simulator | undefined
    const beside = async () => {
      simulator = await runSimulator(config)
      return simulator
    }
    try {
      service = await startService({
        config,
        log,
        say,
        signal,
        startCompanion: config.simulatorPort === 0 ? undefined : beside,
      })
      for (const line of await welcome(service, simulator, config)) say(line)
      if (json) console.log(JSON.stringify({ url: service.url, simulator_url: simulator?.url ?? null, version }))
      await aborted(signal)
    } catch (error) {
      // Told to stop while starting: what was started is undone already.
      if (!signal.aborted) {
        await service?.stop()
        stopListening()
        throw error
      }
    }
    say('Stopping…')
    await service?.stop()
    say('Stopped.')
    process.exit(0)
  },
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })

/** Aborted when somebody wants us to end: a signal, or the npm that started us is gone and nobody could send one. */
function stopAsked(): { signal: AbortSignal; stopListening: () => void } {
  const asked = new AbortController()
  let first = 0
  const stop = () => {
    if (first !== 0) return
    first = Date.now()
    setTimeout(() => process.exit(1), 14_000).unref()
    asked.abort()
  }
  const stopListening = onSignals(() => {
    // Ctrl-C comes twice, from the terminal and passed on by npm; a person's second one comes later.
    if (first !== 0 && Date.now() - first > 1000) process.exit(130)
    stop()
  })
  if (process.env.npm_lifecycle_event !== undefined) {
    const parent = process.ppid
    setInterval(() => {
      if (process.ppid !== parent) stop()
    }, 500).unref()
  }
  return { signal: asked.signal, stopListening }
}
