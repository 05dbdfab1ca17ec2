import { type Loop, startLoop } from '../../../db/loop.ts'
import { subscribe } from '../../../db/topic.ts'
import { startTimer } from '../../../lib/clock.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import type { Network } from '../../connections/network.ts'
import { type DueNumber, newlyDue } from './due-numbers.ts'
import { newOutbox } from './outbox.ts'

const pollMs = 100
/** The pause after a claim, which lets messages accumulate for the next one. After a pause, one is claimed at once. */
const gapMs = 5

/**
 * The sending loop. It runs when this process accepts a message, and then looks only at the numbers of such messages. Ten times
 * a second it looks for all: those of other processes, and retries.
 */
export function startSending(network: Network, log: Logger): Pick<Loop, 'stop'> {
  const { db } = network
  const outbox = newOutbox(network, log)
  const newNumbers = new Map<string, DueNumber>()
  const unsubscribe = subscribe(db, newlyDue, newNumbers)
  let looked: (() => number) | null = null
  const sending = startLoop({ db, log }, 'send', pollMs, async () => {
    const numbers = [...newNumbers.values()]
    newNumbers.clear()
    const mayLookAtFew = numbers.length > 0 && looked !== null && looked() < pollMs
    if (!mayLookAtFew) looked = startTimer(network.clock)
    const hasClaimed = (await outbox.sendDue(mayLookAtFew ? numbers : undefined)) > 0
    if (hasClaimed) await pause(gapMs)
    // There may be more than the pace allowed.
    return { nextInMs: hasClaimed ? gapMs : pollMs }
  })
  return {
    async stop() {
      unsubscribe()
      await Promise.all([outbox.stop(), sending.stop()])
    },
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
