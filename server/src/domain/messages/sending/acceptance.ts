/**
 * What the send requests of a process share: requests that are in progress at the same time are read with the same statements
 * and stored by the same statement. Each gets its response after the commit, with its own outcome.
 */
import { isLockTimeout } from '../../../db/connect/brief-transaction.ts'
import { isDatabaseAway } from '../../../db/connect/pool.ts'
import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { refuse } from '../../../lib/refuse.ts'
import { batched } from '../../../sharing/batch.ts'
import { isOverdrawn, lockBalance } from '../../credits/credits.ts'
import { type Addressed, type Choice, findChoices } from '../../senders/preferences.ts'
import { findStoredResponses, type IdempotentRequest, keyWaitMs, type StoredResponse } from './idempotency.ts'
import { type LookUp, lookUpAll, type Wanted } from './look-up.ts'
import { type AcceptedMessage, announce, type StoreOutcome, storeMessages } from './store-messages.ts'

export interface Acceptance {
  lookUp: LookUp
  findStored(request: IdempotentRequest): Promise<StoredResponse | undefined>
  /** Whether the recipient wants marketing messages. */
  findChoice(addressed: Addressed): Promise<Choice | undefined>
  store(accepted: AcceptedMessage): Promise<StoreOutcome>
}

/** The most messages of a statement. It holds the locks of all their workspaces, so it must be short. */
const maxTogether = 100

/**
 * How long a statement with the messages of several workspaces waits for a lock. Another transaction may hold the balance of
 * one of them for seconds, and the others must not wait for that. Then each message is stored alone.
 */
const togetherWaitMs = 500

/** How often messages are stored again because others spent the credits in the same moment. */
const maxTries = 100

/** `db` must see all workspaces. */
export function newAcceptance({ db, clock }: { db: Db; clock: Clock }): Acceptance {
  /** How many messages of a workspace are being stored alone. */
  const alone = new Map<string, number>()

  const storeTogether = batched(
    async (all: AcceptedMessage[]): Promise<(StoreOutcome | 'alone')[]> => {
      // A workspace may have got a lock that no one releases since its message began to wait here.
      const together = all.filter(({ message }) => !alone.has(message.workspaceId))
      let outcomes: StoreOutcome[]
      try {
        outcomes = await storeIn(db, clock, together, togetherWaitMs)
      } catch (error) {
        // They may have been stored, and the callers must know that this is unknown.
        if (isDatabaseAway(error)) throw error
        return all.map(() => 'alone')
      }
      announce(db, together, outcomes)
      const byMessage = new Map(together.map((each, index) => [each, outcomes[index]]))
      return all.map((each) => byMessage.get(each) ?? 'alone')
    },
    // One at a time: two would wait for each other's balances, and each would be half as large.
    { maxItems: maxTogether, ownerOf: ({ message }) => message.workspaceId },
  )

  /** As others of the same workspace are: on a connection of that workspace, within its share of them. */
  async function storeAlone(accepted: AcceptedMessage): Promise<StoreOutcome> {
    const { workspaceId } = accepted.message
    alone.set(workspaceId, (alone.get(workspaceId) ?? 0) + 1)
    try {
      return await storeOne(db.within(workspaceId), clock, accepted)
    } finally {
      const left = (alone.get(workspaceId) ?? 1) - 1
      if (left > 0) alone.set(workspaceId, left)
      else alone.delete(workspaceId)
    }
  }

  return {
    lookUp: batched((all: Wanted[]) => lookUpAll(db, all), { ownerOf: ({ workspaceId }) => workspaceId }),
    findStored: batched((all: IdempotentRequest[]) => findStoredResponses(db, all), {
      ownerOf: ({ scope }) => scope.workspaceId,
    }),
    findChoice: batched((all: Addressed[]) => findChoices(db, all), { ownerOf: ({ workspaceId }) => workspaceId }),
    async store(accepted) {
      // The token of a form takes a second statement, and the locks of all others would be held until then.
      if (accepted.form !== null) return storeOne(db.within(accepted.message.workspaceId), clock, accepted)
      // Its workspace may have a lock that no one releases. It would delay all workspaces again.
      if (alone.has(accepted.message.workspaceId)) return storeAlone(accepted)
      const outcome = await storeTogether(accepted)
      return outcome === 'alone' ? storeAlone(accepted) : outcome
    },
  }
}

/** For a request without an Idempotency-Key that has its own transaction. */
export const acceptanceIn = (tx: Db, clock: Clock): Acceptance => ({
  lookUp: async (wanted) => only(await lookUpAll(tx, [wanted])),
  findStored: async (request) => only(await findStoredResponses(tx, [request])),
  findChoice: async (addressed) => only(await findChoices(tx, [addressed])),
  async store(accepted) {
    // The transaction could not go on after an error. With the lock, no other transaction spends the credits.
    await lockBalance(tx, accepted.message.workspaceId)
    return storeOne(tx, clock, accepted)
  },
})

async function storeOne(db: Db, clock: Clock, accepted: AcceptedMessage): Promise<StoreOutcome> {
  try {
    const outcomes = await storeIn(db, clock, [accepted], accepted.idempotent ? keyWaitMs : null)
    announce(db, [accepted], outcomes)
    return outcomes[0] ?? { kind: 'again' }
  } catch (error) {
    // Another request with this key, or one that holds a lock this one needs, is still in progress.
    if (accepted.idempotent && isLockTimeout(error)) refuse('idempotency_in_progress')
    throw error
  }
}

/** Each further try means that others have spent credits meanwhile. */
async function storeIn(
  db: Db,
  clock: Clock,
  all: readonly AcceptedMessage[],
  lockWaitMs: number | null,
): Promise<StoreOutcome[]> {
  const hasForms = all.some(({ form }) => form !== null)
  for (let tries = 1; ; tries++) {
    const store = (on: Db) => storeMessages(on, clock.now(), all, lockWaitMs)
    try {
      return await (hasForms ? db.transaction(store) : store(db))
    } catch (error) {
      if (tries === maxTries || !isOverdrawn(error)) throw error
    }
  }
}

const only = <T>(results: readonly T[]): T => results[0] as T
