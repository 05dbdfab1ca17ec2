/**
 * Order within conversations, for endpoints that want it. A conversation is a sender and a person. All of its deliveries wait,
 * due at infinity, except the first: that one is in progress, which includes its retries. Every delivery is stored as waiting,
 * because a statement cannot know which others are about to be committed. After the commit, and whenever a delivery has ended,
 * the next one is started, by one transaction at a time for each conversation. Triggers note in `conversation_looks` that this
 * has to be done, so it is not forgotten if the process dies.
 */
import type { Db } from '../../../db/db.ts'
import { wakeAnywhere, wakeOther } from '../../../db/wake.ts'
import type { Clock } from '../../../lib/clock.ts'
import { batched } from '../../../sharing/batch.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import { dropLeases } from './claim/claim.sql.ts'
import type { Conversation, FirstAttempts, Lease, LeasedDelivery } from './first-attempts.ts'
import { addMissingLooks, type ConversationKey, type StartedRow, startWaiting } from './order.sql.ts'

/** Conversations per statement: each needs a lock, and PostgreSQL holds some thousands in all. */
export const startMax = 200

interface StarterDeps {
  db: Db
  clock: Clock
  log: Logger
  /** Gets the deliveries that are started. */
  worker: Pick<FirstAttempts, 'newLease' | 'take'>
}

/** Returns a function that starts the next delivery of a conversation. Calls at the same time share a statement. */
export function newStarter(deps: StarterDeps): (conversation: Conversation) => Promise<void> {
  const start = batched(
    async (conversations: Conversation[]) => {
      const expired = new Set((await startAll(deps, conversations)).map(keyOf))
      return conversations.map((each) => expired.has(keyOf(each)))
    },
    { maxItems: startMax, ownerOf: ({ workspaceId }) => workspaceId },
  )
  return async (conversation) => {
    // Then the one after it is next. Other conversations take their turns in between: there may be thousands.
    for (let isExpired = true; isExpired; ) isExpired = await start(conversation)
  }
}

export const keyOf = ({ webhookId, conversation }: ConversationKey): string => webhookId + conversation

/** The conversation of a delivery, if it has one. */
export const conversationOf = ({
  workspaceId,
  webhookId,
  conversation,
}: Omit<Conversation, 'conversation'> & { conversation: string | null }): Conversation[] =>
  conversation === null ? [] : [{ workspaceId, webhookId, conversation }]

/** Returns the conversations whose next delivery was dropped, because its event is past retention. */
async function startAll(
  { db, clock, log, worker }: StarterDeps,
  conversations: readonly Conversation[],
): Promise<Conversation[]> {
  const now = clock.now()
  const lease = worker.newLease(now) ?? { token: null, until: now, except: [] }
  const started = await startWaiting(db, conversations, now, lease)
  const { token, until } = lease
  const leased = token === null ? [] : started.filter((row) => row.leased)
  const expired = leased.filter(({ body }) => body === null)
  const items = leased.flatMap((row) => toLeased(row, token as string, until))
  if (items.length > 0) worker.take(items)
  wakeOthers(db, started, lease)
  if (expired.length === 0) return []
  await dropLeases(
    db,
    expired.map((row) => ({ ...row, lease: token as string })),
    now,
  )
  const fields = { event: 'delivery.expired', deliveries: expired.length } as const
  log.warn(fields, 'deliveries expired with their events')
  return expired.flatMap(conversationOf)
}

/** Due deliveries that are not leased to this worker. A delivery of a failing or disabled endpoint is claimed later. */
function wakeOthers(db: Db, started: readonly StartedRow[], { token, except }: Lease): void {
  const due = started.filter(({ leased }) => !leased)
  if (token !== null && due.some(({ webhookId }) => except.includes(webhookId))) wakeOther(db, 'deliveries')
  if (token === null && due.length > 0) wakeAnywhere(db, 'deliveries')
}

function toLeased({ leased: _, type, body, ...row }: StartedRow, lease: string, until: Date): LeasedDelivery[] {
  if (type === null || body === null) return []
  return [{ ...row, type, body, lease, leaseUntilMs: until.getTime() }]
}

/** Conversations that a sweep looks at: three index lookups each, some hundredths of a second in all. */
const sweepMax = 1_000

/**
 * Finds conversations in which deliveries wait although none is in progress, some at a time and all in turn. There are none,
 * unless someone has changed deliveries in SQL.
 */
export function newConversationSweep(): (db: Db, now: Date) => Promise<void> {
  let last: ConversationKey | null = null
  return async (db, now) => {
    const found = await addMissingLooks(db, last, now, sweepMax)
    last = found && found.count === sweepMax ? found : null
  }
}
