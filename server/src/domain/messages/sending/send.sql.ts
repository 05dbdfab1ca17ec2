import type { Db } from '../../../db/db.ts'
import { statement } from '../../../db/statement.ts'
import type { Outgoing } from '../../../whatsapp/outgoing/outgoing.ts'

/** The content of a message without its template, stored as JSON until the message is sent. */
export type Content = Omit<Outgoing, 'messageId' | 'template'> & {
  /** The uploads that it names, by their UUIDs. They have to be uploaded to the network first. */
  uploads?: readonly string[]
}

export interface NewMessage {
  id: string
  workspaceId: string
  /** The API key that sent it; null if a person sent it. */
  keyId: string | null
  sentBy: string | null
  /** Its API request in the request log. */
  requestId: string | null
  senderId: string
  /** The phone number, or the user ID if the message is sent to that. */
  recipient: string
  recipientUserId: string | null
  type: string
  templateId: string | null
  reference: string | null
  credits: number
  content: Content
  createdAt: Date
  expiresAt: Date
  /** The trace that its request belongs to. */
  traceparent: string | null
}

/** A message to store, with its response if the request has an Idempotency-Key. */
export interface StorableMessage extends NewMessage {
  /** Its place in the order in which the workspace pays. */
  n: number
  /** The ID of its entry in the ledger. */
  entryId: string
  systemId: string | null
  idempotencyKey: string | null
  fingerprint: Buffer | null
  answer: string | null
}

/** The result for a message: `unpaid`: the balance did not suffice for it and those before it; `limited`: no key is left today. */
export interface StoredRow {
  n: number
  outcome: 'stored' | 'taken' | 'unpaid' | 'limited'
  /** The balance after the stored messages. */
  available: number
}

/**
 * Stores messages in one statement: the responses under their Idempotency-Keys, the messages, their rows in the outbox
 * and the debits. What cannot be stored is left out. No process waits between the locks and the commit, so locks are
 * held for a few milliseconds, even if the process freezes (but a message with a form is stored in a transaction,
 * alone). Locks are taken in this order: keys, the day's counts of keys, balances; each in the order of their IDs. A
 * key that another transaction is storing is waited for. `debitSql` and `pricedSql` are those of the ledger.
 */
export function storeMessagesStatement(
  pricedSql: (messages: string) => string,
  debitSql: (messages: string, before: string, at: string) => string,
) {
  const storing = statement(
    {
      now: 'timestamptz',
      keysMax: 'int',
      lockTimeout: 'text',
      messages: {
        n: 'int',
        id: 'uuid',
        workspaceId: 'uuid',
        keyId: 'uuid',
        sentBy: 'text',
        requestId: 'uuid',
        senderId: 'uuid',
        recipient: 'text',
        recipientUserId: 'text',
        type: 'text',
        templateId: 'uuid',
        reference: 'text',
        credits: 'int',
        content: 'json',
        createdAt: 'timestamptz',
        expiresAt: 'timestamptz',
        quotedWaMessageId: 'text',
        traceparent: 'text',
        entryId: 'uuid',
        systemId: 'uuid',
        idempotencyKey: 'text',
        fingerprint: 'bytea',
        answer: 'text',
      },
    },
    ({ messages, now, keysMax, lockTimeout }) => `with message as materialized (
       select * from ${messages}
     ), lock_limit as materialized (
       select set_config('lock_timeout', coalesce(${lockTimeout}, current_setting('lock_timeout')), true)
     ), ${pricedSql('message')}, decided as materialized (
       select m.*, p.balance, p.is_affordable,
         m.idempotency_key is null or ${keysMax} >= coalesce(d.used, 0) + count(*) filter (
           where m.idempotency_key is not null and p.is_affordable) over (partition by m.workspace_id order by m.n)
           as may_have_key
       from message m join priced p on p.n = m.n
       left join idempotency_days d on d.workspace_id = m.workspace_id and d.day = (${now} at time zone 'UTC')::date
     ), saved as (
       -- The column key_id has the first key of the calling system.
       insert into idempotency_keys (workspace_id, key_id, idempotency_key, fingerprint, answer, created_at)
       select workspace_id, system_id, idempotency_key, fingerprint, answer, ${now} from decided
       where idempotency_key is not null and is_affordable and may_have_key and (select count(*) from lock_limit) > 0
       order by workspace_id, system_id, idempotency_key
       on conflict do nothing
       returning workspace_id, key_id, idempotency_key
     ), counted_keys as (
       insert into idempotency_days as d (workspace_id, day, used)
       select workspace_id, (${now} at time zone 'UTC')::date, count(*) from saved group by workspace_id
       order by workspace_id
       on conflict (workspace_id, day) do update set used = d.used + excluded.used
       returning workspace_id
     ), accepted as materialized (
       select m.* from decided m
       where m.is_affordable and (select count(*) from lock_limit) > 0 and (m.idempotency_key is null or exists (
         select from saved s
         where (s.workspace_id, s.key_id, s.idempotency_key) = (m.workspace_id, m.system_id, m.idempotency_key)))
     ), ${debitSql('accepted', 'counted_keys', now)}, new_messages as (
       insert into messages (id, workspace_id, key_id, sent_by, request_id, sender_id, recipient, recipient_user_id, type,
         template_id, reference, credits, content, created_at, quoted_wa_message_id, traceparent)
       select id, workspace_id, key_id, sent_by, request_id, sender_id, recipient, recipient_user_id, type, template_id,
         reference, credits, content, created_at, quoted_wa_message_id, traceparent
       from accepted
     ), waiting as (
       insert into outbox (message_id, workspace_id, sender_id, recipient, due_at, expires_at)
       select id, workspace_id, sender_id, recipient, created_at, expires_at from accepted
     )
     select m.n, m.balance - coalesce(p.spent, 0) as available,
       case when a.n is not null then 'stored' when not m.is_affordable then 'unpaid'
         when not m.may_have_key then 'limited' else 'taken' end as outcome
     from decided m left join accepted a on a.n = m.n left join debited p on p.workspace_id = m.workspace_id`,
  )
  return (
    db: Db,
    messages: readonly StorableMessage[],
    { now, keysMax, lockWaitMs }: { now: Date; keysMax: number; lockWaitMs: number | null },
  ): Promise<StoredRow[]> =>
    storing.rows(db, {
      messages: messages.map((each) => ({ ...each, quotedWaMessageId: each.content.quotedWaMessageId ?? null })),
      now,
      keysMax,
      lockTimeout: lockWaitMs === null ? null : String(lockWaitMs),
    })
}

export interface ReferredMessage {
  senderId: string
  waMessageId: string | null
  /** Whether a person wrote it to the workspace. */
  received: boolean
  /** The phone number and the user ID of the person who wrote it. */
  number: string | null
  userId: string | null
  /** The group that an inbound message was written in. */
  groupId: string | null
}

const sent = `select sender_id as "senderId", wa_message_id as "waMessageId", false as received, null as number,
    null as "userId", null as "groupId" from messages where workspace_id = $1`
const received = `select sender_id, wa_message_id, source is null, sent_by, sent_by_user_id, content ->> 'groupId' from inbound_messages
    where workspace_id = $1`

/** A sent or received message of the workspace by our ID. */
export const referredById = (db: Db, workspaceId: string, id: string): Promise<ReferredMessage | undefined> =>
  db.first(`${sent} and id = $2 union all ${received} and id = $2`, [workspaceId, id])
