import type { Logger } from '../../../lib/logger.ts'
import { type Loop, startLoop } from '../../../lib/loop.ts'
import type { Network } from '../../connections/network.ts'
import { newOutbox } from './outbox.ts'

const lookMs = 100
const busyMs = 15
const tidyMs = 1_000

/** The sending loop: looks when a message was just taken here, and ten times a second for those of other processes. */
export function startSending(network: Network, log: Logger): Pick<Loop, 'stop'> {
  const { db } = network
  const outbox = newOutbox(network, log)
  const sending = startLoop({ db, log }, 'send', lookMs, async () => {
    // Where there is much to do, a moment of patience makes a batch of it.
    const isBusy = (await outbox.turn()) > 0
    if (isBusy) await pause(busyMs)
    return { nextInMs: isBusy ? 0 : lookMs }
  })
  const tidying = startLoop({ db, log }, 'tidy the outbox', tidyMs, () => outbox.tidy())
  return {
    stop: async () => void (await Promise.all([outbox.stop(), sending.stop(), tidying.stop()])),
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
