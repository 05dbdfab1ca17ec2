import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '@parley/server/db/db'
import { type BatchResult, Parley } from '../../../sdk/src/sdk.ts'
import { openPostgres } from '../lib/postgres.ts'
import { findLedgerProblems, findSentTwice } from '../lib/proofs.ts'
import type { Scenario } from '../lib/scenario.ts'
import { openShop } from '../lib/shop.ts'

const count = 5_000
const wantedSeconds = 120

/**
 * A program sends 5,000 messages with `sendBatch` and one idempotency key. The service is killed with SIGKILL while it stores the
 * second half, and the program makes the same call again when the service is back.
 */
export const scenario: Scenario = {
  name: 'batch-killed',
  wanted: `5,000 messages of one call are sent within ${wantedSeconds} s, each once; the ledger is exact`,
  async run(say) {
    const postgres = await openPostgres()
    const shop = await openShop(postgres.connection)
    const { db, control, secret } = shop
    const began = performance.now()
    const seconds = () => (performance.now() - began) / 1000
    let service = await shop.start()
    const [sender] = await new Parley({ baseUrl: service.url, key: secret }).senders.list({ limit: 1 }).all()
    const messages = Array.from({ length: count }, (_, n) => ({
      sender_id: sender?.id ?? '',
      to: String(16_505_000_000 + n),
      type: 'text' as const,
      text: { body: `Number ${n}` },
    }))
    const send = (onProgress?: (progress: { done: number }) => void): Promise<BatchResult[]> =>
      new Parley({ baseUrl: service.url, key: secret, maxRetries: 0 }).messages.sendBatch(messages, {
        idempotencyKey: 'campaign',
        onProgress,
      })
    let killing: Promise<void> | undefined
    const first = send(({ done }) => {
      if (done >= count / 2) killing ??= killWithin(db, done, service.child)
    })
    const failed = await first.then(
      () => null,
      (error: Error) => error,
    )
    await killing
    const before = await storedIn(db)
    say(`killed after ${seconds().toFixed(1)} s, with ${before} stored: ${failed?.message}`)
    service = await shop.start()
    const results = await send()
    const accepted = new Set(results.flatMap(({ message }) => (message ? [message.id] : [])))
    say(`${accepted.size} accepted after ${seconds().toFixed(1)} s`)
    while ((await waitingIn(db)) > 0 && seconds() < 3 * wantedSeconds) await sleep(250)
    const time = seconds()
    await control.idle()
    const unknown = await unknownIn(db)
    const { sent, twice } = findSentTwice(control)
    const ledger = await findLedgerProblems(db, accepted)
    for (const problem of [...twice, ...ledger].slice(0, 20)) say(problem)
    service.child.kill('SIGKILL')
    await shop.close()
    await postgres.close()
    const isInTheMiddle = failed !== null && before > count / 2 && before < count
    const isComplete = accepted.size === count && sent.size + unknown === count && twice.length === 0
    return {
      figure: `killed with ${before} stored; ${sent.size} sent in ${time.toFixed(0)} s, ${twice.length} repeated, ${unknown} cut off; ${ledger.length} problems in the ledger`,
      ok: isInTheMiddle && isComplete && ledger.length === 0 && time <= wantedSeconds,
    }
  },
}

/** Kills the service as soon as it has stored more than these. */
async function killWithin(db: Database, done: number, child: { kill(signal: 'SIGKILL'): boolean }): Promise<void> {
  while ((await storedIn(db)) <= done) await new Promise(setImmediate)
  child.kill('SIGKILL')
}

const storedIn = async (db: Database): Promise<number> =>
  (await db.first<{ count: number }>('select count(*)::int as count from messages'))?.count ?? 0

const waitingIn = async (db: Database): Promise<number> =>
  (await db.first<{ count: number }>("select count(*)::int as count from outbox where state <> 'unknown'"))?.count ?? 0

/** Calls that the kill cut off before they reached the network. They are never made again: after an hour they fail and are refunded. */
const unknownIn = async (db: Database): Promise<number> =>
  (await db.first<{ count: number }>("select count(*)::int as count from outbox where state = 'unknown'"))?.count ?? 0
