import { isDiskError } from '../lib/disk.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { LoopName, Telemetry } from '../telemetry/telemetry.ts'
import { type Subscribers, subscribe } from './topic.ts'
import { loopTopic } from './wake.ts'

export interface Loop {
  stop(): Promise<void>
}

export interface WakingLoop extends Loop {
  /** Starts the next run now, or as soon as the current one has ended. */
  wake(): void
}

interface LoopDeps {
  db: { readonly subscribers: Subscribers; readonly telemetry: Telemetry }
  log: Logger
}

/** Returned by a run whose next run is due earlier. An object, because some runs already return a count. */
export interface EarlierWake {
  nextInMs: number
}

/**
 * Calls `run` every `everyMs`, or earlier if `run` returns that, until stopped. A failed run is logged and the loop
 * continues, so it recovers by itself when the database is back.
 */
export function startLoop(
  deps: LoopDeps,
  name: LoopName,
  everyMs: number,
  // biome-ignore lint/suspicious/noConfusingVoidType: most runs return nothing.
  run: () => Promise<EarlierWake | void>,
): WakingLoop {
  let stopped = false
  let woken = false
  let wake = () => {
    woken = true
  }
  const running = (async () => {
    while (!stopped) {
      let waitMs = everyMs
      woken = false
      try {
        const earlier = await run()
        if (earlier) waitMs = Math.min(everyMs, earlier.nextInMs)
      } catch (error) {
        reportFailure(deps, { loop: name }, error)
      }
      if (stopped) return
      if (woken) continue
      await new Promise<void>((resolve) => {
        wake = resolve
        setTimeout(resolve, waitMs).unref()
      })
      wake = () => {
        woken = true
      }
    }
  })()
  const loop: WakingLoop = {
    wake: () => wake(),
    async stop() {
      stopped = true
      unsubscribe()
      wake()
      await running
    },
  }
  const unsubscribe = subscribe(deps.db, loopTopic(name), loop)
  return loop
}

/** Counts and logs the failure of a loop or of one of its steps, which runs again. */
export function reportFailure(
  { db: { telemetry }, log }: LoopDeps,
  failed: { loop: LoopName; step?: string },
  error: unknown,
): void {
  telemetry.metrics.add('loop failures', failed.loop)
  // A full disk fails most loops, often. The database logs it.
  if (!isDiskError(error))
    log.warn({ event: 'loop.failed', err: error, ...failed }, 'a background loop failed; it runs again')
}
