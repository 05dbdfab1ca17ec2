import type { MessageError } from '@parley/contract/events'
import type { Db } from '../../../db/db.ts'
import { type Places, statement } from '../../../db/statement.ts'
import type { MessageStatus, NetworkStatus } from '../../../whatsapp/status-rank.ts'

export interface TrackedMessage {
  id: string
  workspaceId: string
  senderId: string
  recipient: string
  status: MessageStatus
  waMessageId: string | null
  sentAt: Date | null
  /** The first of what follows the sending, where that is known already. */
  followedAt: Date | null
  /** The statuses it has had. */
  known: NetworkStatus[]
}

export interface StatusReference {
  senderId: string
  waMessageId: string | null
  /** The id we gave the message when we sent it, where the network gives it back. */
  messageId: string | null
}

const sightings = { seen: { senderId: 'uuid', waMessageId: 'text', messageId: 'uuid' } } as const

const spokenOf = ({ seen }: Places<typeof sightings>) => `m.id in (
       select m.id from ${seen} join messages m on m.sender_id = seen.sender_id and m.wa_message_id = seen.wa_message_id
       union
       select m.id from ${seen} join messages m on m.id = seen.message_id and m.sender_id = seen.sender_id)`

const locking = statement(
  sightings,
  (places) => `select m.id from messages m where ${spokenOf(places)} order by m.id for update of m`,
)

const tracking = statement(
  sightings,
  (places) => `select m.id, m.workspace_id as "workspaceId", m.sender_id as "senderId", m.recipient, m.status,
       m.wa_message_id as "waMessageId", m.sent_at as "sentAt",
       least(m.delivered_at, m.read_at, m.failed_at) as "followedAt",
       array(select s.status from message_statuses s where s.message_id = m.id) as known
     from messages m where ${spokenOf(places)} order by m.id`,
)

/**
 * The messages that these statuses speak of, locked until the transaction ends: by the network's id, or by our own, which
 * the network gives back before we know its id. Locked in order, so that two batches never wait in a circle. They are read
 * by a statement of its own: one that waits for a lock goes on to see other tables as they were before it waited, and would
 * miss a status that whoever held the lock has just written.
 */
export async function lockMessages(db: Db, seen: readonly StatusReference[]): Promise<TrackedMessage[]> {
  const [, tracked] = await Promise.all([locking.rows(db, { seen }), tracking.rows<TrackedMessage>(db, { seen })])
  return tracked
}

export interface StatusRow {
  messageId: string
  workspaceId: string
  status: NetworkStatus
  occurredAt: Date
  error: MessageError | null
}

const statusInsertion = statement(
  { statuses: { messageId: 'uuid', workspaceId: 'uuid', status: 'text', occurredAt: 'timestamptz', error: 'json' } },
  ({ statuses }) => `insert into message_statuses (${statuses.columns}) select * from ${statuses}`,
)

export const insertStatuses = (db: Db, statuses: readonly StatusRow[]): Promise<number> =>
  statusInsertion.change(db, { statuses })

export interface MessageProgress {
  id: string
  status: MessageStatus
  waMessageId: string | null
  sentAt: Date | null
  deliveredAt: Date | null
  readAt: Date | null
  failedAt: Date | null
  error: MessageError | null
}

const standingUpdate = statement(
  {
    standings: {
      id: 'uuid',
      status: 'text',
      waMessageId: 'text',
      sentAt: 'timestamptz',
      deliveredAt: 'timestamptz',
      readAt: 'timestamptz',
      failedAt: 'timestamptz',
      error: 'json',
    },
  },
  ({ standings }) => `update messages m set
       status = standings.status,
       wa_message_id = coalesce(m.wa_message_id, standings.wa_message_id),
       sent_at = coalesce(m.sent_at, standings.sent_at),
       delivered_at = coalesce(m.delivered_at, standings.delivered_at),
       read_at = coalesce(m.read_at, standings.read_at),
       failed_at = coalesce(m.failed_at, standings.failed_at),
       error = case when standings.status = 'failed' then coalesce(standings.error, m.error) end
     from ${standings} where m.id = standings.id`,
)

/** Writes where messages now stand; a time that is null is left as it is, and so is a known id of the network. */
export const updateProgress = (db: Db, standings: readonly MessageProgress[]): Promise<number> =>
  standingUpdate.change(db, { standings })

export interface EarlyStatus {
  senderId: string
  workspaceId: string
  waMessageId: string
  status: NetworkStatus
  occurredAt: Date
  error: MessageError | null
}

const earlyInsertion = statement(
  {
    early: {
      senderId: 'uuid',
      workspaceId: 'uuid',
      waMessageId: 'text',
      status: 'text',
      occurredAt: 'timestamptz',
      error: 'json',
    },
    now: 'timestamptz',
  },
  ({ early, now }) => `insert into early_statuses (${early.columns}, recorded_at)
     select early.*, ${now} from ${early}
     order by early.sender_id, early.wa_message_id, early.status
     on conflict do nothing`,
)

export const insertEarly = (db: Db, early: readonly EarlyStatus[], now: Date): Promise<number> =>
  earlyInsertion.change(db, { early, now })

/** Takes early statuses whose message is known by now. */
export const takeMatchedEarly = (db: Db, limit: number): Promise<EarlyStatus[]> =>
  db.rows(
    `delete from early_statuses e using (
       select e.sender_id, e.wa_message_id, e.status from early_statuses e
       join messages m on m.sender_id = e.sender_id and m.wa_message_id = e.wa_message_id
       limit $1 for update of e skip locked) as matched
     where (e.sender_id, e.wa_message_id, e.status) = (matched.sender_id, matched.wa_message_id, matched.status)
     returning e.sender_id as "senderId", e.workspace_id as "workspaceId", e.wa_message_id as "waMessageId", e.status,
       e.occurred_at as "occurredAt", e.error`,
    [limit],
  )

/** Those of messages that some other app sent never match. */
export const deleteEarlyBefore = (db: Db, before: Date): Promise<number> =>
  db.change('delete from early_statuses where recorded_at < $1', [before])
