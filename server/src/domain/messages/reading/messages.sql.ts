import type { MessageError, MessagePricing } from '@parley/contract/events'
import type { MessageFilters, MessageStatus } from '@parley/contract/message'
import type { SendType } from '@parley/contract/send'
import type { Db } from '../../../db/db.ts'
import { type Places, pagedStatement } from '../../../db/statement.ts'
import type { Caller } from '../../../http/access-check.ts'
import type { KeySet } from '../../../lib/key-set.ts'

export interface MessageRow {
  id: string
  sender_id: string
  recipient: string
  recipient_user_id: string | null
  type: SendType
  template_id: string | null
  reference: string | null
  status: MessageStatus
  wa_message_id: string | null
  credits: number
  error: MessageError | null
  pricing: MessagePricing | null
  created_at: Date
  sent_at: Date | null
  delivered_at: Date | null
  read_at: Date | null
  failed_at: Date | null
}

const columns = `id, sender_id, recipient, recipient_user_id, type, template_id, reference, status, wa_message_id, credits,
  error, pricing, created_at, sent_at, delivered_at, read_at, failed_at`

const parameters = {
  workspaceId: 'uuid',
  systemKeyIds: 'uuid[]',
  status: 'text',
  to: 'text',
  toUserId: 'text',
  reference: 'text',
  createdAfter: 'timestamptz',
  createdBefore: 'timestamptz',
} as const

const matches = ({ workspaceId, status, to, toUserId, createdAfter, createdBefore }: Places<typeof parameters>) =>
  `workspace_id = ${workspaceId} and (${status} is null or status = ${status})
   and (${to} is null or recipient = ${to})
   and (${toUserId} is null or recipient_user_id = ${toUserId}) and (${createdAfter} is null or created_at > ${createdAfter})
   and (${createdBefore} is null or created_at < ${createdBefore})`

/** A calling system: its API key, and the keys that it was rotated from or to. It reads only its own messages. */
export type Author = Pick<Caller, 'workspaceId' | 'systemKeyIds'>

const filterValues = ({ workspaceId, systemKeyIds }: Author, filters: MessageFilters) => ({
  workspaceId,
  systemKeyIds,
  status: filters.status,
  to: filters.to?.replace(/^\+/, ''),
  toUserId: filters.to_user_id,
  reference: filters.reference,
  createdAfter: filters.created_after,
  createdBefore: filters.created_before,
})

// A page of each key: with all keys in one condition, PostgreSQL would read and sort every message of the system.
const listingWith = (condition: (places: Places<typeof parameters>) => string) =>
  pagedStatement(
    parameters,
    (places) =>
      `select ${columns} from messages where messages.key_id = author.key_id and ${matches(places)}${condition(places)}`,
    ({ systemKeyIds }) => `unnest(${systemKeyIds}) as author(key_id)`,
  )

const listing = listingWith(() => '')
// A statement of its own: with a condition that may be null, the plan would read all messages of the key.
const listingOfReference = listingWith(({ reference }) => ` and reference = ${reference}`)

export const listMessages = (db: Db, author: Author, filters: MessageFilters, page: KeySet) =>
  (filters.reference === undefined ? listing : listingOfReference).page<MessageRow>(
    db,
    filterValues(author, filters),
    page,
  )

export const messageById = (db: Db, { workspaceId, systemKeyIds }: Author, id: string) =>
  db.first<MessageRow>(
    `select ${columns} from messages where workspace_id = $1 and key_id = any($2::uuid[]) and id = $3`,
    [workspaceId, systemKeyIds, id],
  )

export interface StepRow {
  status: Exclude<MessageStatus, 'queued'>
  occurred_at: Date
  error: MessageError | null
}

export const stepsOf = (db: Db, workspaceId: string, id: string): Promise<StepRow[]> =>
  db.rows(
    `select status, occurred_at, error from message_statuses where workspace_id = $1 and message_id = $2
     order by occurred_at, array_position(array['sent', 'failed', 'delivered', 'read'], status)`,
    [workspaceId, id],
  )

export const findTraceparents = (db: Db, messageIds: readonly string[]) =>
  db.rows<{ id: string; traceparent: string }>(
    'select id, traceparent from messages where id = any($1::uuid[]) and traceparent is not null',
    [messageIds],
  )

/**
 * The message that a request created. Null if it created none, for example because it was replayed. There is no index on request_id.
 * The API key and the time range leave only a few rows to check.
 */
export const messageMadeBy = async (
  db: Db,
  workspaceId: string,
  { requestId, keyId, at, until }: { requestId: string; keyId: string; at: Date; until: Date },
): Promise<{ id: string; status: string; createdAt: Date } | null> =>
  (await db.first(
    `select id, status, created_at as "createdAt" from messages
     where workspace_id = $1 and key_id = $2 and created_at between $3 and $4 and request_id = $5`,
    [workspaceId, keyId, at, until, requestId],
  )) ?? null
