import type { Logger } from '../../../lib/logger.ts'
import { type Loop, startLoop } from '../../../lib/loop.ts'
import type { Network } from '../../connections/network.ts'
import { newOutbox } from './outbox.ts'

const pollMs = 100
const busyMs = 15
const cleanUpMs = 1_000

/** The sending loop. It runs when this process accepts a message, and polls ten times a second for other processes. */
export function startSending(network: Network, log: Logger): Pick<Loop, 'stop'> {
  const { db } = network
  const outbox = newOutbox(network, log)
  const sending = startLoop({ db, log }, 'send', pollMs, async () => {
    // Under load, a short pause lets messages accumulate into a batch.
    const isBusy = (await outbox.sendDue()) > 0
    if (isBusy) await pause(busyMs)
    return { nextInMs: isBusy ? 0 : pollMs }
  })
  const cleaningUp = startLoop({ db, log }, 'tidy the outbox', cleanUpMs, () => outbox.cleanUp())
  return {
    stop: async () => void (await Promise.all([outbox.stop(), sending.stop(), cleaningUp.stop()])),
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
