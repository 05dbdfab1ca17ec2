import type { Logger } from '../../../lib/logger.ts'
import { type Loop, startLoop } from '../../../lib/loop.ts'
import type { Network } from '../../connections/network.ts'
import { newOutbox } from './outbox.ts'
import { onWake } from './wakes.ts'

const lookMs = 100
const busyMs = 15
const tidyMs = 1_000

/** The sending loop: looks when a message was just taken here, and ten times a second for those of other processes. */
export function startSending(network: Network, log: Logger): Pick<Loop, 'stop'> {
  const outbox = newOutbox(network, log)
  const sending = startLoop('send', log, lookMs, async () => {
    // Where there is much to do, a moment of patience makes a batch of it.
    const isBusy = (await outbox.turn()) > 0
    if (isBusy) await pause(busyMs)
    return { nextInMs: isBusy ? 0 : lookMs }
  })
  const tidying = startLoop('tidy the outbox', log, tidyMs, () => outbox.tidy())
  const forget = onWake(network.db, () => sending.wake())
  return {
    async stop() {
      forget()
      await Promise.all([outbox.stop(), sending.stop(), tidying.stop()])
    },
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
