import type { Config } from '@parley/server/config'
import { version } from '@parley/server/lib/version'
import type { Service } from '@parley/server/start'
import { newLogger } from '@parley/server/telemetry/logger'
import type { Simulator } from '@parley/simulator/start'
import type { Command } from '../command.ts'
import { localUrl } from '../demo.ts'
import { printJson, say, sayAside } from '../print.ts'
import { writeRunning } from '../running.ts'
import { onSignals } from '../signals.ts'
import { runSimulator } from '../simulator.ts'
import { addressOf, welcome } from '../welcome.ts'

export const commands: readonly Command[] = [
  {
    name: 'start',
    details:
      'Runs until you press Ctrl+C. Without DATABASE_URL, it also runs PostgreSQL and a simulated WhatsApp network. With --json, it prints its URLs as JSON once it is ready.',
    examples: ['start', 'start --json'],
    untilStopped: 'itself',
    async run({ config, flag }) {
      // With --json, only the JSON document goes to standard output; everything else goes to standard error.
      const json = flag('json')
      const print = json ? sayAside : say
      const log = newLogger(config.logLevel, json ? process.stderr : undefined)
      print(`Parley ${version}`)
      if (config.targetNotice !== null) print(config.targetNotice)
      const { signal, stopListening, cancelLimit } = stopSignal()
      // Loaded on demand: the other commands do not need the HTTP server.
      const { startService } = await import('@parley/server/start')
      let service: Service | undefined
      let simulator: Simulator | undefined
      let removeRunning = () => {}
      const startCompanion = async (opened: Config) => {
        simulator = await runSimulator(opened)
        return { ...simulator, phone: simulator.control.phones.list()[0]?.waId ?? null }
      }
      try {
        service = await startService({
          config,
          log,
          say: print,
          signal,
          startCompanion: config.simulatorPort === 0 ? undefined : startCompanion,
        })
        // With DATABASE_URL, several services may share a machine and no data directory belongs to one of them.
        if (config.databaseUrl === null)
          removeRunning = writeRunning(config.dataDir, runningOf(service, simulator, config))
        for (const line of await welcome(service, simulator, config)) print(line)
        if (json) printJson({ url: service.url, simulator_url: simulator?.url ?? null, version })
        await aborted(signal)
      } catch (error) {
        // If it was stopped while starting, startService has already undone everything.
        if (!signal.aborted) {
          removeRunning()
          await service?.stop()
          stopListening()
          throw error
        }
      }
      print('Stopping…')
      removeRunning()
      await service?.stop()
      print('Stopped.')
      cancelLimit()
      process.exit(0)
    },
  },
]

const runningOf = (service: Service, simulator: Simulator | undefined, config: Config) => ({
  url: localUrl(service.url),
  public_url: addressOf(service, config),
  simulator_port: simulator ? Number(new URL(simulator.url).port) : null,
  phone: simulator?.control.phones.list()[0]?.waId ?? null,
})

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })

/** Aborted on a signal, or when the npm process that started us is gone and can no longer pass one on. */
function stopSignal(): { signal: AbortSignal; stopListening: () => void; cancelLimit: () => void } {
  const controller = new AbortController()
  let stoppedAt = 0
  let limit: NodeJS.Timeout | undefined
  const stop = () => {
    if (stoppedAt !== 0) return
    stoppedAt = Date.now()
    limit = setTimeout(() => process.exit(1), 14_000).unref()
    controller.abort()
  }
  const stopListening = onSignals((name) => {
    // The service runs on without anyone who reads what it prints.
    if (name === 'SIGPIPE') return
    // One Ctrl+C arrives twice, from the terminal and from npm. One that comes later is a person's second Ctrl+C. Other signals
    // may be repeated by whatever manages the process: they do not interrupt the stop.
    if (name === 'SIGINT' && stoppedAt !== 0 && Date.now() - stoppedAt > 1000) process.exit(130)
    stop()
  })
  if (process.env.npm_lifecycle_event !== undefined) {
    const parent = process.ppid
    setInterval(() => {
      if (process.ppid !== parent) stop()
    }, 500).unref()
  }
  return { signal: controller.signal, stopListening, cancelLimit: () => clearTimeout(limit) }
}
