import type { Logger } from './logger.ts'

export interface Loop {
  stop(): Promise<void>
}

export interface WakingLoop extends Loop {
  /** The next turn begins now, or as soon as the one under way has ended. */
  wake(): void
}

/**
 * Runs `turn` again and again, `everyMs` apart or after as many ms as the turn says, if that is sooner, until stopped. A turn that fails is logged and
 * the loop goes on, so a database that is away for a minute costs that minute and no more.
 */
export function startLoop(name: string, log: Logger, everyMs: number, turn: () => Promise<unknown>): WakingLoop {
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
        if (typeof sooner === 'number') waitMs = Math.min(everyMs, sooner)
      } catch (error) {
        log.warn({ err: error, loop: name }, 'a loop failed and will try again')
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
  return {
    wake: () => wake(),
    async stop() {
      stopped = true
      wake()
      await running
    },
  }
}
