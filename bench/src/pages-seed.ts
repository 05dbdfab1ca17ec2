import type { Config } from '@parley/server/config'
import type { Db } from '@parley/server/db/db'
import type { Store } from '@parley/server/db/store'
import { createApp } from '@parley/server/domain/connections/apps'
import { stepsMs } from '@parley/server/domain/deliveries/durations'
import { createKey } from '@parley/server/domain/keys/keys'
import { newSetupLink } from '@parley/server/domain/people/links'
import { createWebhook } from '@parley/server/domain/webhooks/webhooks'
import { createWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { systemClock } from '@parley/server/lib/clock'
import { newUuid } from '@parley/server/lib/ids'

const requests = Number(process.env.BENCH_REQUESTS ?? 10_000_000)
const sent = Math.round(requests * 0.06)
const received = Math.round(requests * 0.04)
const days = 30
const dayMs = 86_400_000

export interface Seeded {
  workspaceId: string
  /** Sets the console up, and signs in. */
  setupToken: string
}

/**
 * One workspace as a busy one is after a month: ten million logged requests, 600,000 messages sent and 400,000 received,
 * what was told of them to three endpoints, forms, orders, a ledger and a log of deeds.
 */
export async function seed(store: Store, config: Config, say: (line: string) => void): Promise<Seeded> {
  const { db } = store
  const { id: workspaceId } = await createWorkspace(db, systemClock, 'Busy')
  const own = await seedFew(db, config, workspaceId)
  const startMs = Math.floor(Date.now() / 60_000) * 60_000 - (days - 1) * dayMs
  // Partitions from the day of the first row on; those of today and later are there already, or will be.
  const first = new Date(startMs).toISOString().slice(0, 10)
  for (const table of partitioned) await db.rows('select ensure_days($1, $2::date, $3)', [table, first, days + 1])
  const stepMs = ((days - 1) * dayMs) / requests
  const place: Place = { workspaceId, startMs, stepMs, ...own }
  for (const [what, work] of [
    ['requests', seedRequests],
    ['messages sent', seedSent],
    ['messages received, forms and orders', seedReceived],
    ['events and attempts', seedEvents],
    ['credits and deeds', seedLedger],
  ] as const) {
    const began = performance.now()
    await work(db, place)
    say(`  ${what}: ${((performance.now() - began) / 1000).toFixed(0)} s`)
  }
  const began = performance.now()
  // What autovacuum would have done in the course of the month.
  for (const table of grown) await db.script(`vacuum (analyze) ${table}`)
  say(`  vacuum and analyze: ${((performance.now() - began) / 1000).toFixed(0)} s`)
  return { workspaceId, setupToken: await newSetupLink(db, systemClock, workspaceId, 'bench') }
}

const hours = ['traffic_hours', 'refusal_hours', 'delivery_hours']
const partitioned = ['request_log', 'events', 'delivery_attempts', ...hours]
const grown = [
  ...partitioned,
  ...['messages', 'message_statuses', 'inbound_messages', 'flow_responses', 'orders', 'deliveries', 'templates'],
  ...['credit_entries', 'credit_days', 'audit_entries', 'senders', 'api_keys', 'key_usage', 'webhooks'],
]

interface Place extends Few {
  workspaceId: string
  startMs: number
  stepMs: number
}

interface Few {
  keys: string[]
  senders: string[]
  templates: string[]
  webhooks: string[]
}

/** What a workspace has a few of. */
async function seedFew(db: Db, config: Config, workspaceId: string): Promise<Few> {
  const now = systemClock.now()
  const app = await createApp(db, systemClock, config.secretKeys(), {
    name: 'bench',
    appSecret: 'bench',
    verifyToken: 'bench',
    graphUrl: 'http://127.0.0.1:9',
  })
  const connectionId = newUuid()
  await db.change(
    `insert into connections (id, workspace_id, app_id, waba_id, access_token_sealed, created_at, sync_due_at)
     values ($1, $2, $3, '1', 'none', $4, $4 + interval '1 year')`,
    [connectionId, workspaceId, app.id, now],
  )
  const ids = (count: number) => Array.from({ length: count }, () => newUuid())
  const [senders, templates, keys] = [ids(10), ids(200), [] as string[]]
  await db.change(
    `insert into senders (id, workspace_id, connection_id, app_id, phone_number_id, phone_number, display_name, status,
       quality_rating, created_at, updated_at)
     select id, $2, $3, $4, 1000 + n, 15550780000 + n, 'Sender ' || n, 'CONNECTED', 'GREEN', $5, $5
     from unnest($1::uuid[]) with ordinality as s(id, n)`,
    [senders, workspaceId, connectionId, app.id, now],
  )
  await db.change(
    `insert into templates (id, workspace_id, connection_id, network_template_id, name, language, category, status,
       components, content_digest, variables, created_at, updated_at)
     select id, $2, $3, n, 'template_' || n, case when n % 2 = 0 then 'en_US' else 'es' end,
       case when n % 3 = 0 then 'MARKETING' else 'UTILITY' end, case when n % 20 = 0 then 'REJECTED' else 'APPROVED' end,
       '[{"type":"BODY","text":"Hello {{1}}, your order {{2}} is on its way."}]', n, '[]', $4, $4
     from unnest($1::uuid[]) with ordinality as t(id, n)`,
    [templates, workspaceId, connectionId, now],
  )
  for (let index = 0; index < 50; index++) {
    const scopes = ['messages:send', 'messages:read']
    const { key } = await createKey(db, systemClock, { workspaceId, name: `Key ${index}`, scopes, createdBy: 'bench' })
    keys.push(key.id)
  }
  await db.change(
    `insert into key_usage (key_id, workspace_id, last_used_at, last_used_address)
     select id, $2, $3, '203.0.113.1' from unnest($1::uuid[]) as id`,
    [keys, workspaceId, now],
  )
  const webhooks: string[] = []
  const statuses = ['message.sent', 'message.delivered', 'message.failed']
  for (const [name, events] of [
    ['Inbox', ['message.received']],
    ['Statuses', statuses],
    ['Forms', ['flow.completed', 'message.failed']],
  ] as const) {
    const wish = { workspaceId, name, url: 'http://127.0.0.1:9/', events: [...events] }
    const rules = { allowHttp: config.webhookAllowHttp, allowRanges: config.webhookAllowRanges }
    const { webhook } = await createWebhook(db, systemClock, config.secretKeys(), rules, wish)
    webhooks.push(webhook.id.replace('whk_', ''))
  }
  await db.change(
    `update webhooks set last_success_at = $2, enabled = name <> 'Forms',
       disabled_reason = case when name = 'Forms' then 'by hand' end where workspace_id = $1`,
    [workspaceId, now],
  )
  return { keys, senders, templates, webhooks }
}

/** An id that begins with a time, as those that are made do. */
const idAt = (at: string, salt: string): string =>
  `(lpad(to_hex(floor(extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '7' || substr(md5(${salt}), 1, 3)
    || '8' || substr(md5(${salt}), 4, 15))::uuid`

/** When the request of a number was made: $1 is when the first was, $2 what lies between two. */
const timeOf = (n: string): string => `to_timestamp(($1::float8 + floor(${n} * $2::float8)) / 1000)`

/** Every so many requests, one sent a message; the last of all did. */
const each = Math.floor(requests / sent)
const requestOf = (n: string): string => `(${requests - 1}::bigint - (${sent - 1} - ${n}) * ${each})`

async function seedRequests(db: Db, { workspaceId, startMs, stepMs, keys }: Place): Promise<void> {
  const slice = Math.ceil(requests / days)
  for (let from = 0; from < requests; from += slice) {
    await db.change(
      `insert into request_log (at, id, workspace_id, key_id, method, route, status, code, duration_us, address, user_agent)
       select at, ${idAt('at', `'r' || n`)}, $3::uuid, ($4::uuid[])[key], case when sends then 'POST' else 'GET' end,
         case when sends or n % 3 = 0 then '/v1/messages' when n % 3 = 1 then '/v1/messages/:id' else '/v1/templates' end,
         case when sends then 202 when code is null then 200 else status end, code, 900 + n % 5000,
         '203.0.' || key || '.' || n % 4, 'shop/1.0'
       from (
         select n, ${timeOf('n')} as at, (${requests - 1} - n) % ${each} = 0 and (${requests - 1} - n) / ${each} < ${sent} as sends,
           1 + (n * 7919 % 97 % 50)::int as key,
           case when n % 100000 = 14 then 500 else ($6::int[])[1 + n / 20 % 7] end as status,
           case when (${requests - 1} - n) % ${each} = 0 and (${requests - 1} - n) / ${each} < ${sent} then null
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

const person = (n: string): string => `(52155000000::bigint + ${n} * 7919 % 50000)::text`

async function seedSent(db: Db, { workspaceId, startMs, stepMs, keys, senders, templates }: Place): Promise<void> {
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
         case when n >= ${sent - 300} then 'queued' when n % 50 = 7 then 'failed' when n % 10 < 5 then 'read'
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
}

async function seedReceived(db: Db, { workspaceId, startMs, stepMs, senders }: Place): Promise<void> {
  await db.change(
    `insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, type, received_at, recorded_at,
       profile_name, content)
     select ${idAt('at', `'i' || n`)}, $3::uuid, ($4::uuid[])[1 + n % 10], 'wamid.i' || n, ${person('n')},
       case when n % 20 = 0 then 'interactive' when n % 20 = 1 then 'order' when n % 20 = 2 then 'image' else 'text' end,
       at, at, 'Ana', json_build_object('text', 'When does number ' || n || ' arrive?')
     from (select n, ${timeOf(`n * ${Math.floor(requests / received)}`)} as at
       from generate_series(0::bigint, ${received - 1}) as n) as made`,
    [startMs, stepMs, workspaceId, senders],
  )
  await db.change(
    `insert into flow_responses (id, workspace_id, message_id, sender_id, sent_by, name, flow_token, flow_id, response,
       received_at, created_at)
     select id, workspace_id, id, sender_id, sent_by, 'flow', 'flow_' || wa_message_id,
       'form ' || ascii(right(wa_message_id, 2)) % 8, '{"name":"Ana","colour":"blue"}', received_at, recorded_at
     from inbound_messages where workspace_id = $1 and type = 'interactive'`,
    [workspaceId],
  )
  await db.change(
    `insert into orders (id, workspace_id, message_id, sender_id, sent_by, profile_name, catalog_id, items, total, currency,
       status, received_at, created_at, updated_at)
     select id, workspace_id, id, sender_id, sent_by, profile_name, '77',
       '[{"product_id":"sku-1","quantity":2,"unit_price":"10.00","currency":"EUR"}]', 20, 'EUR',
       (array['done', 'done', 'done', 'shipped', 'confirmed', 'cancelled', 'new'])[1 + ${lotOf('id', 7)}],
       received_at, recorded_at, recorded_at
     from inbound_messages where workspace_id = $1 and type = 'order'`,
    [workspaceId],
  )
}

/** A number below so many that an id always gives. */
const lotOf = (id: string, below: number): string => `(('x' || right(${id}::text, 6))::bit(24)::int % ${below})`

async function seedEvents(db: Db, { workspaceId, webhooks }: Place): Promise<void> {
  const body = (type: string, id: string) =>
    `convert_to(json_build_object('type', ${type}, 'data', json_build_object('message_id', 'msg_' || ${id}))::text, 'UTF8')`
  await db.change(
    `insert into events (id, workspace_id, type, body, created_at, message_id)
     select ${idAt('at', `told || m.id`)}, $1::uuid, told, ${body('told', 'm.id')}, at, m.id
     from messages m cross join lateral (values ('message.sent', m.sent_at), ('message.delivered', m.delivered_at),
       ('message.failed', m.failed_at)) as t(told, at)
     where m.workspace_id = $1 and at is not null and (told <> 'message.sent' or ${lotOf('m.id', 100)} < 12)`,
    [workspaceId],
  )
  await db.change(
    `insert into events (id, workspace_id, type, body, created_at, message_id)
     select ${idAt('recorded_at', `told || id`)}, $1::uuid, told, ${body('told', 'id')}, recorded_at, id
     from (select *, case when type = 'interactive' then 'flow.completed' else 'message.received' end as told
       from inbound_messages where workspace_id = $1) as m`,
    [workspaceId],
  )
  // The newest of the forms are held for an endpoint that is disabled; one in three hundred status is to be tried again.
  await db.change(
    `insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, attempts, trigger, due_at)
     (select id, ($2::uuid[])[3], $1::uuid, created_at, 0, 'first', 'infinity'::timestamptz from events
      where workspace_id = $1 and type = 'flow.completed' order by created_at desc limit 5000)
     union all
     (select id, ($2::uuid[])[2], $1::uuid, created_at, 1, 'retry', now() + interval '2 hours' from events
      where workspace_id = $1 and type in ('message.sent', 'message.delivered') and ${lotOf('id', 300)} = 5
      order by created_at desc limit 3000)`,
    [workspaceId, webhooks],
  )
  await db.change(
    `insert into delivery_attempts (at, event_id, webhook_id, workspace_id, event_created_at, number, trigger, state,
       address, status, error, answer, duration_us)
     select e.created_at + number * interval '10 s' + interval '20 ms', e.id, w.id, $1::uuid, e.created_at, number,
       case when number = 1 then 'first' else 'retry' end,
       case when d.event_id is not null then 'retrying' when lot < 10 and number = 1 then 'retrying'
         when lot < 3 then 'failed' else 'delivered' end,
       '192.0.2.1', case when d.event_id is not null or lot < 3 or lot < 10 and number = 1 then 500 else 200 end,
       case when d.event_id is not null or lot < 3 or lot < 10 and number = 1 then 'http' end, '', 4000 + lot * 200
     from (select *, ${lotOf('id', 1000)} as lot from events where workspace_id = $1) as e
     join webhooks w on w.workspace_id = $1 and e.type = any (w.events)
     left join deliveries d on d.webhook_id = w.id and d.event_id = e.id
     cross join generate_series(1, case when lot < 10 and d.event_id is null then 2 else 1 end) as number
     where d.due_at is distinct from 'infinity'`,
    [workspaceId],
  )
  const steps = ['null', ...stepsMs.map((ms) => ms * 1000), 'null'].flatMap((above, step, all) =>
    step + 1 === all.length
      ? []
      : [`count(*) filter (where duration_us <@ int4range(${above}, ${all[step + 1]}, '(]'))::int`],
  )
  await db.change(
    `insert into delivery_hours (hour, workspace_id, webhook_id, succeeded, failed, durations)
     select date_trunc('hour', at, 'UTC'), workspace_id, webhook_id, count(*) filter (where state = 'delivered'),
       count(*) filter (where state <> 'delivered'), array[${steps.join(', ')}]
     from delivery_attempts where workspace_id = $1 group by 1, 2, 3`,
    [workspaceId],
  )
}

async function seedLedger(db: Db, { workspaceId, startMs }: Place): Promise<void> {
  await db.change(
    `insert into credit_entries (id, workspace_id, kind, amount, balance_after, message_id, note, created_at)
     select ${idAt('created_at', `'c' || id`)}, workspace_id, 'debit', -1,
       2 * ${sent} - row_number() over (order by created_at, id), id, null, created_at
     from messages where workspace_id = $1`,
    [workspaceId],
  )
  await db.change(
    `insert into credit_entries (id, workspace_id, kind, amount, balance_after, message_id, note, created_at)
     select ${idAt('failed_at', `'b' || id`)}, workspace_id, 'refund', 1, ${sent}, id, null, failed_at
     from messages where workspace_id = $1 and failed_at is not null
     union all
     select ${idAt('at', `'g' || n`)}, $1::uuid, 'grant', 50000, ${2 * sent}, null, 'Invoice ' || n, at
     from (select n, to_timestamp($2::float8 / 1000) + n * interval '1 day' as at from generate_series(0, 23) as n) as g`,
    [workspaceId, startMs],
  )
  await db.change(
    `insert into credit_days (workspace_id, day, spent, refunded)
     select workspace_id, (created_at at time zone 'UTC')::date, coalesce(-sum(amount) filter (where kind = 'debit'), 0),
       coalesce(sum(amount) filter (where kind = 'refund'), 0)
     from credit_entries where workspace_id = $1 group by 1, 2
     on conflict (workspace_id, day) do update set spent = excluded.spent, refunded = excluded.refunded`,
    [workspaceId],
  )
  await db.change(
    `insert into credit_balances (workspace_id, balance) values ($1, ${sent})
     on conflict (workspace_id) do update set balance = excluded.balance`,
    [workspaceId],
  )
  await db.change(
    `insert into audit_entries (id, workspace_id, at, actor, action, target, target_name, before, after, address)
     select ${idAt('at', `'a' || n`)}, $1::uuid, at, 'person' || n % 12 || '@example.com',
       (array['key.create', 'key.revoke', 'webhook.test', 'message.send', 'delivery.retry'])[1 + n % 5], 'thing-' || n % 400,
       'Thing ' || n % 400, '{"enabled":true}', '{"enabled":false}', '203.0.113.7'
     from (select n, to_timestamp($2::float8 / 1000) + n * interval '50 s' as at
       from generate_series(0, ${Math.min(50_000, requests / 200) - 1}) as n) as made`,
    [workspaceId, startMs],
  )
}
