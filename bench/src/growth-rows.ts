/** The rows of a message and its four events, as statements that insert them for a range of messages of one day. */
import { stepsMs } from '@parley/server/domain/deliveries/engine/attempt/durations'
import { grantedCredits } from './lib/prepare.ts'

/** Messages `from` to `until` (exclusive) have been sent within `seconds` from `start`, an ISO time. */
export interface Slice {
  from: number
  until: number
  start: string
  seconds: number
}

/** The IDs of each workspace, and of its sender, endpoint and key. The messages belong to them in turn. */
export interface Owners {
  workspaces: readonly string[]
  senders: readonly string[]
  webhooks: readonly string[]
  keys: readonly string[]
}

/** A slice must end this long before its day does, so that all events are of the same day. */
export const lifecycleSeconds = 100

/** A UUID that starts with a time, like UUIDv7. */
const idAt = (at: string, salt: string): string =>
  `(lpad(to_hex(floor(extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '7000' || right(md5(${salt}), 16))::uuid`

/** As in the network's IDs, the person comes first and the rest is random. */
const waId = (salt: string): string =>
  `'wamid.HBgL' || encode(person::bytea, 'base64') || 'FQIAERgS' || upper(left(md5(${salt}), 18)) || 'AA=='`

/**
 * The messages of a slice, with the IDs of what belongs to them. `offset 0` makes PostgreSQL compute each column once, and
 * only those that are used.
 */
function messagesIn({ from, until, start, seconds }: Slice, { workspaces, senders, webhooks, keys }: Owners): string {
  const idIn = (ids: readonly string[]) => `('{${ids.join()}}'::uuid[])[1 + (n % ${ids.length})::int]`
  return `(
    select n, at, person, reply_at, ${idIn(workspaces)} as workspace_id, ${idIn(senders)} as sender_id,
      ${idIn(webhooks)} as webhook_id, ${idIn(keys)} as key_id, ${idAt('at', `'message' || n`)} as id,
      ${idAt('reply_at', `'reply' || n`)} as reply_id, ${idAt('at', `'request' || n`)} as request_id,
      ${waId(`'sent' || n`)} as wa_id, ${waId(`'received' || n`)} as reply_wa_id
    from (
      select n, at, at + interval '90 s' as reply_at, '1650' || lpad((n * 7919 % 400000)::text, 7, '0') as person
      from (
        select n, '${start}'::timestamptz + make_interval(secs => ${seconds}::float8 * (n - ${from}) / ${until - from}) as at
        from generate_series(${from}::bigint, ${until - 1}::bigint) as n offset 0
      ) as sent offset 0
    ) as replied offset 0) as m`
}

/** The events of each message. The fourth is of the reply. */
const events = `lateral (
    select step, type, status, at, ${idAt('at', `'event' || step || ' ' || m.n`)} as id
    from (
      select step, type, status, m.at + make_interval(secs => seconds) as at
      from (values (1, 'message.sent', 'sent', 1.0), (2, 'message.delivered', 'delivered', 2.0),
        (3, 'message.read', 'read', 60.0), (4, 'message.received', null, 90.0)) as v(step, type, status, seconds) offset 0
    ) as timed offset 0) as e`

const eventTime = `to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** As long as the bodies of real events. */
const eventBody = `convert_to('{"id":"' || e.id || '","type":"' || e.type || '","created_at":"' || ${eventTime}
  || case when e.step < 4
    then '","data":{"message_id":"msg_' || m.id || '","wa_message_id":"' || m.wa_id || '","to":"' || m.person
      || '","to_user_id":null,"status":"' || e.status || '","occurred_at":"' || ${eventTime}
      || '","error":null,"pricing":{"category":"utility","type":"regular","model":"PMP"}}}'
    else '","data":{"message_id":"msg_' || m.reply_id || '","wa_message_id":"' || m.reply_wa_id || '","from":"' || m.person
      || '","from_user_id":null,"profile_name":"Ana","sender_id":"snd_' || m.sender_id
      || '","type":"text","text":"Thank you! It arrived this morning.","received_at":"' || ${eventTime}
      || '","in_reply_to":{"wa_message_id":"' || m.wa_id || '","message_id":"msg_' || m.id
      || '"},"reply":null,"media":null,"location":null,"username":null,"group_id":null,"forwarded":false,"contacts":null,'
      || '"order":null,"reaction":null,"referral":null,"unsupported":null}}' end, 'UTF8')`

/** The tables with daily partitions that get rows. */
export const partitionedTables = ['events', 'delivery_attempts', 'request_log', 'delivery_hours', 'traffic_hours']

export function insertPartitioned(slice: Slice, owners: Owners): string[] {
  const messages = messagesIn(slice, owners)
  return [
    `insert into events (id, workspace_id, type, body, created_at, message_id)
     select e.id, m.workspace_id, e.type, ${eventBody}, e.at, case when e.step < 4 then m.id else m.reply_id end
     from ${messages} cross join ${events}`,
    `insert into delivery_attempts (at, event_id, webhook_id, workspace_id, event_created_at, number, trigger, state,
       address, status, error, answer, duration_us)
     select e.at + interval '20 ms', e.id, m.webhook_id, m.workspace_id, e.at, 1, 'first', 'delivered', '127.0.0.1', 200, null,
       'ok', 3000 + m.n % 1000
     from ${messages} cross join ${events}`,
    `insert into request_log (at, id, workspace_id, key_id, method, route, status, code, duration_us, address, user_agent)
     select m.at, m.request_id, m.workspace_id, m.key_id, 'POST', '/v1/messages', 202, null, 2500 + m.n % 1000, '127.0.0.1',
       'shop/1.0'
     from ${messages}`,
    `insert into delivery_hours (hour, workspace_id, webhook_id, succeeded, failed, durations)
     select date_trunc('hour', e.at, 'UTC'), m.workspace_id, m.webhook_id, count(*), 0,
       array[count(*)::int] || array_fill(0, array[${stepsMs.length}])
     from ${messages} cross join ${events} group by 1, 2, 3`,
    `insert into traffic_hours (hour, workspace_id, key_id, code, count)
     select date_trunc('hour', m.at, 'UTC'), m.workspace_id, m.key_id, null, count(*) from ${messages} group by 1, 2, 3`,
  ]
}

/** `inbound` is the table of recent or of older inbound messages. */
export function insertOthers(slice: Slice, owners: Owners, inbound: string): string[] {
  const messages = messagesIn(slice, owners)
  return [
    `insert into messages (id, workspace_id, sender_id, recipient, status, wa_message_id, created_at, sent_at, delivered_at,
       read_at, key_id, type, credits, content, request_id)
     select m.id, m.workspace_id, m.sender_id, m.person, 'read', m.wa_id, m.at, m.at + interval '1 s',
       m.at + interval '2 s', m.at + interval '60 s', m.key_id, 'text', 1,
       ('{"request":{"type":"text","text":{"body":"Your parcel has arrived, number:' || m.n || ';"},"to":"' || m.person
         || '"}}')::json, m.request_id
     from ${messages}`,
    `insert into message_statuses (message_id, workspace_id, status, occurred_at)
     select m.id, m.workspace_id, e.status, e.at from ${messages} cross join ${events} where e.status is not null`,
    `insert into ${inbound} (id, workspace_id, sender_id, wa_message_id, sent_by, type, received_at, recorded_at,
       profile_name, content, quoted_wa_message_id)
     select m.reply_id, m.workspace_id, m.sender_id, m.reply_wa_id, m.person, 'text', m.reply_at, m.reply_at, 'Ana',
       '{"text":"Thank you! It arrived this morning."}'::json, m.wa_id
     from ${messages}`,
    `insert into credit_entries (id, workspace_id, kind, amount, balance_after, message_id, created_at)
     select ${idAt('m.at', `'debit' || m.n`)}, m.workspace_id, 'debit', -1,
       ${grantedCredits} - 1 - m.n / ${owners.workspaces.length}, m.id, m.at
     from ${messages}`,
    `insert into credit_days as d (workspace_id, day, spent, refunded)
     select m.workspace_id, ('${slice.start}'::timestamptz at time zone 'UTC')::date, count(*), 0
     from ${messages} group by 1
     on conflict (workspace_id, day) do update set spent = d.spent + excluded.spent`,
    `update credit_balances b set balance = b.balance - spent.count
     from (select m.workspace_id, count(*) from ${messages} group by 1) as spent
     where b.workspace_id = spent.workspace_id`,
  ]
}
