import type { Db } from '@parley/server/db/db'
import {
  bucketOf,
  days,
  idAt,
  people,
  received,
  requestOf,
  requests,
  type SeedTarget,
  sendInterval,
  sent,
  timeOf,
} from './pages-scale.ts'

export async function seedRequests(db: Db, { workspaceId, startMs, stepMs, keys }: SeedTarget): Promise<void> {
  const slice = Math.ceil(requests / days)
  for (let from = 0; from < requests; from += slice) {
    await db.change(
      `insert into request_log (at, id, workspace_id, key_id, method, route, status, code, duration_us, address, user_agent)
       select at, ${idAt('at', `'r' || n`)}, $3::uuid, ($4::uuid[])[key], case when sends then 'POST' else 'GET' end,
         case when sends or n % 3 = 0 then '/v1/messages' when n % 3 = 1 then '/v1/messages/:id' else '/v1/templates' end,
         case when sends then 202 when code is null then 200 else status end, code, 900 + n % 5000,
         '203.0.' || key || '.' || n % 4, 'shop/1.0'
       from (
         select n, ${timeOf('n')} as at, (${requests - 1} - n) % ${sendInterval} = 0 and (${requests - 1} - n) / ${sendInterval} < ${sent} as sends,
           1 + (n * 7919 % 97 % 50)::int as key,
           case when n % 100000 = 14 then 500 else ($6::int[])[1 + n / 20 % 7] end as status,
           case when (${requests - 1} - n) % ${sendInterval} = 0 and (${requests - 1} - n) / ${sendInterval} < ${sent} then null
             when n % 100000 = 14 then 'internal_error' when n % 20 = 13 then ($5::text[])[1 + n / 20 % 7] end as code
         from generate_series($7::bigint, $8::bigint) as n
       ) as made`,
      [
        ...[startMs, stepMs, workspaceId, keys],
        [
          'insufficient_scope',
          'rate_limited',
          'not_found',
          'ip_not_allowed',
          'validation_failed',
          'key_expired',
        ].concat('insufficient_credits'),
        [403, 429, 404, 403, 400, 401, 402],
        ...[from, Math.min(from + slice, requests) - 1],
      ],
    )
  }
  await db.change(
    `insert into traffic_hours (hour, workspace_id, key_id, code, count)
     select date_trunc('hour', at, 'UTC'), workspace_id, key_id, code, count(*) from request_log group by 1, 2, 3, 4`,
  )
  await db.change(
    `insert into refusal_hours (hour, workspace_id, code, key_id, address, count, first_at, last_at)
     select date_trunc('hour', at, 'UTC'), workspace_id, code, key_id, address, count(*), min(at), max(at)
     from request_log where code is not null group by 1, 2, 3, 4, 5`,
  )
}

const personNumber = (n: string): string => `(${n} * 7919 % ${people})::int`
const person = (n: string): string => `(52155000000::bigint + ${personNumber(n)})::text`

const firstNames = ['Ana', 'Jörg', 'Mei', 'Omar', 'Zoë', 'Luis', 'Priya', 'Tomasz', 'Ingrid', 'Kwame', 'Sofía', 'Noor']
const lastNames = ['Prueba', 'Müller', 'Chen', 'Haddad', 'Quintero', 'Pereira', 'Nair', 'Kowalski', 'Berg', 'Mensah']
const pick = (texts: readonly string[], place: string): string =>
  `(array[${texts.map((text) => `'${text}'`).join(', ')}])[1 + ${place} % ${texts.length}]`
const nameOf = (n: string): string =>
  `${pick(firstNames, personNumber(n))} || ' ' || ${pick(lastNames, `${personNumber(n)} / ${firstNames.length}`)}`

/** Half of the messages of an hour or two fail, twice a month. */
const isIncident = (n: string): string => `(${n} * 500 / ${sent} in (210, 430) and ${n} % 2 = 0)`

export async function seedSent(
  db: Db,
  { workspaceId, startMs, stepMs, keys, senders, templates }: SeedTarget,
): Promise<void> {
  await db.change(
    `insert into messages (id, workspace_id, sender_id, recipient, status, wa_message_id, error, created_at, sent_at,
       delivered_at, read_at, failed_at, key_id, type, template_id, reference, credits, content, request_id)
     select ${idAt('at', `'m' || n`)}, $3::uuid, ($4::uuid[])[1 + n % 10], recipient, status,
       case when status <> 'queued' then 'wamid.s' || n end,
       case when status = 'failed' then '{"code":131026,"title":"Message undeliverable","message":"","details":null}'::json end,
       at, case when status not in ('queued', 'failed') then at + interval '1 s' end,
       case when status in ('delivered', 'read') then at + interval '2 s' end,
       case when status = 'read' then at + interval '1 min' end,
       case when status = 'failed' then at + interval '2 s' end,
       ($5::uuid[])[1 + (k * 7919 % 97 % 50)::int], type, case when type = 'template' then ($6::uuid[])[1 + n / 7 % 200] end,
       case when n % 3 = 0 then 'order-' || n end, 1,
       json_build_object('request', json_build_object('to', recipient, 'type', type,
         type, case when type = 'text' then json_build_object('body', 'Your parcel number ' || n || ' is on its way.')
           when type = 'image' then json_build_object('link', 'https://example.com/a.jpg', 'caption', 'Look')
           else json_build_object('variables', json_build_object('1', 'Ana', '2', n)) end)),
       ${idAt('at', `'r' || k`)}
     from (
       select n, ${requestOf('n')} as k, ${timeOf(requestOf('n'))} as at, ${person('n')} as recipient,
         case when n >= ${sent - 300} then 'queued' when n % 50 = 7 or ${isIncident('n')} then 'failed' when n % 10 < 5 then 'read'
           when n % 10 < 9 then 'delivered' else 'sent' end as status,
         case when n % 100 = 99 then 'image' when n % 5 < 3 then 'template' else 'text' end as type
       from generate_series(0::bigint, ${sent - 1}) as n
     ) as made`,
    [startMs, stepMs, workspaceId, senders, keys, templates],
  )
  await db.change(
    `insert into message_statuses (message_id, workspace_id, status, occurred_at)
     select id, workspace_id, s, created_at + interval '1 s' from messages, unnest(array['sent', 'delivered']) as s
     where workspace_id = $1 and status in ('delivered', 'read') and wa_message_id like '%4'`,
    [workspaceId],
  )
  // As if the service had counted them when they changed.
  await db.change(
    `insert into message_hours (workspace_id, hour, sent, delivered, read, failed)
     select workspace_id, date_trunc('hour', created_at, 'UTC'), count(*) filter (where status = 'sent'),
       count(*) filter (where status = 'delivered'), count(*) filter (where status = 'read'),
       count(*) filter (where status = 'failed')
     from messages where workspace_id = $1 group by 1, 2`,
    [workspaceId],
  )
}

export async function seedReceived(db: Db, { workspaceId, startMs, stepMs, senders }: SeedTarget): Promise<void> {
  await db.change(
    `insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, type, received_at, recorded_at,
       profile_name, content)
     select ${idAt('at', `'i' || n`)}, $3::uuid, ($4::uuid[])[1 + n % 10], 'wamid.i' || n, ${person('n')},
       case when n % 20 = 0 then 'interactive' when n % 20 = 1 then 'order' when n % 20 = 2 then 'image' else 'text' end,
       at, at, ${nameOf('n')}, json_build_object('text', 'When does number ' || n || ' arrive?')
     from (select n, ${timeOf(`n * ${Math.floor(requests / received)}`)} as at
       from generate_series(0::bigint, ${received - 1}) as n) as made`,
    [startMs, stepMs, workspaceId, senders],
  )
  await db.change(
    `insert into flow_responses (id, workspace_id, message_id, sender_id, sent_by, name, flow_token, flow_id, response,
       received_at, created_at)
     select id, workspace_id, id, sender_id, sent_by, 'flow', 'flow_' || wa_message_id,
       'form ' || ascii(right(wa_message_id, 2)) % 8, '{"name":"Ana","color":"blue"}', received_at, recorded_at
     from inbound_messages where workspace_id = $1 and type = 'interactive'`,
    [workspaceId],
  )
  await db.change(
    `insert into orders (id, workspace_id, message_id, sender_id, sent_by, profile_name, catalog_id, items, total, currency,
       status, received_at, created_at, updated_at)
     select id, workspace_id, id, sender_id, sent_by, profile_name, '77',
       '[{"product_id":"sku-1","quantity":2,"unit_price":"10.00","currency":"EUR"}]', 20, 'EUR',
       (array['done', 'done', 'done', 'shipped', 'confirmed', 'cancelled', 'new'])[1 + ${bucketOf('id', 7)}],
       received_at, recorded_at, recorded_at
     from inbound_messages where workspace_id = $1 and type = 'order'`,
    [workspaceId],
  )
}
