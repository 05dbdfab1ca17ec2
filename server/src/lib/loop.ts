import type { Logger } from './logger.ts'
import type { LoopName, ProcessState } from './process.ts'

export interface Loop {
  stop(): Promise<void>
}

export interface WakingLoop extends Loop {
  /** The next turn begins now, or as soon as the one under way has ended. */
  wake(): void
}

interface LoopDeps {
  db: { readonly process: ProcessState }
  log: Logger
}

/** When the next turn is due, if sooner than usual. A number alone would be taken from a turn that counts something. */
export interface EarlierWake {
  nextInMs: number
}

/**
 * Runs `turn` again and again, `everyMs` apart or sooner if the turn says so, until stopped. A turn that fails is logged
 * and the loop goes on, so a database that is away for a minute costs that minute and no more.
 */
export function startLoop(
  { db: { process }, log }: LoopDeps,
  name: LoopName,
  everyMs: number,
  // biome-ignore lint/suspicious/noConfusingVoidType: a turn that has nothing to say returns nothing.
  turn: () => Promise<EarlierWake | void>,
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
        const sooner = await turn()
        if (sooner) waitMs = Math.min(everyMs, sooner.nextInMs)
      } catch (error) {
        process.metrics.add('loop failures', name)
        log.warn({ event: 'loop.failed', err: error, loop: name }, 'a background loop failed; it runs again')
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
      if (process.loops.get(name) === loop) process.loops.delete(name)
      wake()
      await running
    },
  }
  process.loops.set(name, loop)
  return loop
}
