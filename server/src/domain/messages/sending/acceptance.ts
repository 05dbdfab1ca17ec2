/**
 * The batches of send requests: concurrent requests of a process are read with the same statements and stored by the
 * same statement. Each gets its response after the commit, with its own outcome. Where a message is stored:
 *
 *   together   with up to 100 others of all workspaces, which take turns. The message is stored, refused, or
 *              checked again because another request came first
 *    → alone   another transaction held a lock for half a second, or the statement failed: nothing was stored
 *    → failed  the connection was lost. The message may have been stored: only the caller may repeat the request, with
 *              its Idempotency-Key
 *   alone      on a connection of its workspace, within the workspace's share of connections. While a message is stored
 *              alone, further messages of its workspace are too, so that a lock that no one releases delays other
 *              workspaces once. A message with a form is always stored alone: its token takes a second statement, and
 *              the locks of all others would be held until then
 *
 * If others spend the credits in the same moment, the statement stores nothing and runs again.
 */
import { isLockTimeout } from '../../../db/connect/brief-transaction.ts'
import { isDatabaseAway } from '../../../db/connect/pool.ts'
import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { batched } from '../../../sharing/batch.ts'
import { isOverdrawn, lockBalance } from '../../credits/credits.ts'
import { type Addressed, type Choice, findChoices } from '../../senders/preferences.ts'
import {
  findStoredResponses,
  type IdempotentRequest,
  keyWaitMs,
  notStoredYet,
  type StoredResponse,
} from './idempotency.ts'
import { type LookUp, lookUpAll, type Wanted } from './look-up.ts'
import { type AcceptedMessage, announce, type StoreOutcome, storeMessages } from './store-messages.ts'

export interface Acceptance {
  lookUp: LookUp
  findStored(request: IdempotentRequest): Promise<StoredResponse | undefined>
  /** Whether the recipient wants marketing messages. */
  findChoice(addressed: Addressed): Promise<Choice | undefined>
  store(accepted: AcceptedMessage): Promise<StoreOutcome>
}

/** For a request with several messages of one workspace. */
export interface BatchAcceptance extends Acceptance {
  /** At most `maxTogether`. They are paid for in their order. */
  storeInOrder(all: readonly AcceptedMessage[]): Promise<StoreOutcome[]>
}

/** The most messages of a statement. It holds the locks of all their workspaces, so it must be short. */
export const maxTogether = 100
/** How far apart two statements begin under load, so that more messages share one. */
const gapMs = 5
/** How long a statement with the messages of several workspaces waits for a lock: the others need another one. */
const togetherWaitMs = 500
/** How often messages are stored again because others spent the credits. */
const maxTries = 100

/** `db` must see all workspaces. */
export function newAcceptance({ db, clock }: { db: Db; clock: Clock }): BatchAcceptance {
  /** How many messages of a workspace are being stored alone, if any. */
  const alone = new Map<string, number>()

  const storeTogether = batched(
    async (all: AcceptedMessage[]): Promise<(StoreOutcome | undefined)[]> => {
      // Another message of a workspace may have begun alone since this one began to wait.
      const together = all.filter(({ message }) => !alone.has(message.workspaceId))
      const outcomes = await store(db, clock, together, togetherWaitMs).catch((error: unknown) => {
        if (isDatabaseAway(error)) throw error
        return []
      })
      announce(db, together, outcomes)
      const byMessage = new Map(together.map((each, index) => [each, outcomes[index]]))
      return all.map((each) => byMessage.get(each))
    },
    // One at a time: two would wait for each other's balances, and each would be half as large.
    { maxItems: maxTogether, gapMs, ownerOf: ({ message }) => message.workspaceId },
  )

  async function storeAlone(accepted: AcceptedMessage): Promise<StoreOutcome> {
    const { workspaceId } = accepted.message
    const count = (change: number) => (alone.get(workspaceId) ?? 0) + change
    alone.set(workspaceId, count(1))
    try {
      return await storeOne(db.within(workspaceId), clock, accepted)
    } finally {
      if (count(-1) > 0) alone.set(workspaceId, count(-1))
      else alone.delete(workspaceId)
    }
  }

  return {
    ...readsOf((find, ownerOf) => batched((all) => find(db, all), { ownerOf })),
    async store(accepted) {
      const { workspaceId } = accepted.message
      if (accepted.form !== null) return storeOne(db.within(workspaceId), clock, accepted)
      const outcome = alone.has(workspaceId) ? undefined : await storeTogether(accepted)
      return outcome ?? storeAlone(accepted)
    },
    async storeInOrder(all) {
      const [first] = all
      if (!first) return []
      const own = db.within(first.message.workspaceId)
      try {
        const outcomes = await store(own, clock, all, keyWaitMs, 'in order')
        announce(own, all, outcomes)
        return outcomes
      } catch (error) {
        if (!isLockTimeout(error)) throw error
        return all.map(({ idempotent }) => ({ kind: 'refused', refusal: notStoredYet(idempotent) }))
      }
    },
  }
}

/** For a request without an Idempotency-Key that has its own transaction. */
export const acceptanceIn = (tx: Db, clock: Clock): Acceptance => ({
  ...readsOf((find) => async (one) => (await find(tx, [one]))[0] as never),
  async store(accepted) {
    // The transaction could not continue after an error. With the lock, no other transaction spends the credits.
    await lockBalance(tx, accepted.message.workspaceId)
    return storeOne(tx, clock, accepted)
  },
})

type Share = <Item, Found>(
  find: (db: Db, all: readonly Item[]) => Promise<Found[]>,
  ownerOf: (item: Item) => string,
) => (item: Item) => Promise<Found>

const readsOf = (share: Share): Omit<Acceptance, 'store'> => ({
  lookUp: share(lookUpAll, ({ workspaceId }: Wanted) => workspaceId),
  findStored: share(findStoredResponses, ({ scope }: IdempotentRequest) => scope.workspaceId),
  findChoice: share(findChoices, ({ workspaceId }: Addressed) => workspaceId),
})

async function storeOne(db: Db, clock: Clock, accepted: AcceptedMessage): Promise<StoreOutcome> {
  try {
    const outcomes = await store(db, clock, [accepted], accepted.idempotent ? keyWaitMs : null)
    announce(db, [accepted], outcomes)
    return outcomes[0] as StoreOutcome
  } catch (error) {
    // Another request with this key, or with a lock that this one needs, is in progress.
    if (accepted.idempotent && isLockTimeout(error)) throw notStoredYet(accepted.idempotent)
    throw error
  }
}

async function store(
  db: Db,
  clock: Clock,
  all: readonly AcceptedMessage[],
  lockWaitMs: number | null,
  payFor?: 'in order',
): Promise<StoreOutcome[]> {
  const hasForms = all.some(({ form }) => form !== null)
  for (let tries = 1; ; tries++) {
    const run = (on: Db) => storeMessages(on, clock.now(), all, lockWaitMs, payFor)
    try {
      return await (hasForms ? db.transaction(run) : run(db))
    } catch (error) {
      if (tries === maxTries || !isOverdrawn(error)) throw error
    }
  }
}
