import type { Config } from '@parley/server/config'
import { listSenders, toSender } from '@parley/server/domain/senders/senders'
import { version } from '@parley/server/lib/version'
import type { Service } from '@parley/server/start'
import { newLogger } from '@parley/server/telemetry/logger'
import type { Simulator } from '@parley/simulator/start'
import { type Command, UsageError } from '../command.ts'
import { type Demo, localUrl } from '../demo.ts'
import { printJson, say, sayAside } from '../print.ts'
import { writeRunning } from '../running.ts'
import { onSignals } from '../signals.ts'
import { runSimulator } from '../simulator.ts'
import { addressOf, welcome } from '../welcome.ts'

export const commands: readonly Command[] = [
  {
    name: 'start',
    details:
      'Runs until you press Ctrl+C. Without DATABASE_URL, it also runs PostgreSQL and a simulated WhatsApp network. With --json, it prints one line of JSON once it is ready: its URLs and, on the first start, the API key and the senders of the demo workspace.',
    options: {
      'movable-clock': {
        help: 'Let tests move the clock forward: POST /control/clock/advance of the simulator; not with DATABASE_URL',
      },
    },
    examples: ['start', 'start --json'],
    untilStopped: 'itself',
    async run({ config, flag }) {
      const movable = flag('movable-clock')
      if (movable && config.databaseUrl !== null) {
        throw new UsageError('--movable-clock is for tests with the embedded database. Unset DATABASE_URL.')
      }
      // With --json, only the JSON document goes to standard output; everything else goes to standard error.
      const json = flag('json')
      const print = json ? sayAside : say
      const log = newLogger(config.logLevel, json ? process.stderr : undefined)
      print(`Parley ${version}`)
      if (config.targetNotice !== null) print(config.targetNotice)
      const { signal, release } = stopSignal()
      // Loaded on demand: the other commands do not need the HTTP server.
      const { startService } = await import('@parley/server/start')
      let service: Service | undefined
      let simulator: Simulator | undefined
      let removeRunning = () => {}
      const startCompanion = async (opened: Config) => {
        simulator = await runSimulator(opened, movable ? movedWith(() => service) : null)
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
        const { lines, demo } = await welcome(service, simulator, config)
        for (const line of lines) print(line)
        if (json) printJson(await jsonOf(service, simulator, demo))
        await aborted(signal)
      } catch (error) {
        // If it was stopped while starting, startService has already undone everything.
        if (!signal.aborted) {
          removeRunning()
          await service?.stop()
          release()
          throw error
        }
      }
      print('Stopping…')
      removeRunning()
      await service?.stop()
      print('Stopped.')
      release()
      process.exit(0)
    },
  },
]

/** The service starts after the simulator. */
const movedWith = (service: () => Service | undefined) => ({
  advance: async (ms: number) => service()?.advance(ms),
  isIdle: async () => (await service()?.isIdle()) ?? true,
})

/** The secrets are null except on the first start. */
async function jsonOf({ url, runtime: { db } }: Service, simulator: Simulator | undefined, demo: Demo | null) {
  const page = { take: 100, after: null, order: 'asc' } as const
  const senders = demo && (await listSenders(db.within(demo.workspaceId), demo.workspaceId, page)).rows.map(toSender)
  return {
    url: localUrl(url),
    simulator_url: simulator?.url ?? null,
    version,
    key: demo?.secret ?? null,
    setup_url: demo?.setupUrl ?? null,
    senders: senders?.map(({ id, phone_number, display_name }) => ({ id, phone_number, display_name })) ?? null,
  }
}

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
function stopSignal(): { signal: AbortSignal; release: () => void } {
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
    // One Ctrl+C arrives twice, from the terminal and from npm. A later one is a second Ctrl+C. Other signals
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
  const release = () => {
    clearTimeout(limit)
    stopListening()
  }
  return { signal: controller.signal, release }
}
