import type { Db } from '@parley/server/db/db'
import { stepsMs } from '@parley/server/domain/deliveries/engine/attempt/durations'
import { bucketOf, idAt, requests, type SeedTarget, sent } from './pages-scale.ts'

export async function seedEvents(db: Db, { workspaceId, webhooks }: SeedTarget): Promise<void> {
  const body = (type: string, id: string) =>
    `convert_to(json_build_object('type', ${type}, 'data', json_build_object('message_id', 'msg_' || ${id}))::text, 'UTF8')`
  await db.change(
    `insert into events (id, workspace_id, type, body, created_at, message_id)
     select ${idAt('at', `event_type || m.id`)}, $1::uuid, event_type, ${body('event_type', 'm.id')}, at, m.id
     from messages m cross join lateral (values ('message.sent', m.sent_at), ('message.delivered', m.delivered_at),
       ('message.failed', m.failed_at)) as t(event_type, at)
     where m.workspace_id = $1 and at is not null and (event_type <> 'message.sent' or ${bucketOf('m.id', 100)} < 12)`,
    [workspaceId],
  )
  await db.change(
    `insert into events (id, workspace_id, type, body, created_at, message_id)
     select ${idAt('recorded_at', `event_type || id`)}, $1::uuid, event_type, ${body('event_type', 'id')}, recorded_at, id
     from (select *, case when type = 'interactive' then 'flow.completed' else 'message.received' end as event_type
       from inbound_messages where workspace_id = $1) as m`,
    [workspaceId],
  )
  // The newest form events are held for a disabled endpoint; one in three hundred status events waits for a retry.
  await db.change(
    `insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, attempts, trigger, due_at)
     (select id, ($2::uuid[])[3], $1::uuid, created_at, 0, 'first', 'infinity'::timestamptz from events
      where workspace_id = $1 and type = 'flow.completed' order by created_at desc limit 5000)
     union all
     (select id, ($2::uuid[])[2], $1::uuid, created_at, 1, 'retry', now() + interval '2 hours' from events
      where workspace_id = $1 and type in ('message.sent', 'message.delivered') and ${bucketOf('id', 300)} = 5
      order by created_at desc limit 3000)`,
    [workspaceId, webhooks],
  )
  await db.change(
    `insert into delivery_attempts (at, event_id, webhook_id, workspace_id, event_created_at, number, trigger, state,
       address, status, error, answer, duration_us)
     select e.created_at + number * interval '10 s' + interval '20 ms', e.id, w.id, $1::uuid, e.created_at, number,
       case when number = 1 then 'first' else 'retry' end,
       case when d.event_id is not null then 'retrying' when bucket < 10 and number = 1 then 'retrying'
         when bucket < 3 then 'failed' else 'delivered' end,
       '192.0.2.1', case when d.event_id is not null or bucket < 3 or bucket < 10 and number = 1 then 500 else 200 end,
       case when d.event_id is not null or bucket < 3 or bucket < 10 and number = 1 then 'http' end, '', 4000 + bucket * 200
     from (select *, ${bucketOf('id', 1000)} as bucket from events where workspace_id = $1) as e
     join webhooks w on w.workspace_id = $1 and e.type = any (w.events)
     left join deliveries d on d.webhook_id = w.id and d.event_id = e.id
     cross join generate_series(1, case when bucket < 10 and d.event_id is null then 2 else 1 end) as number
     where d.due_at is distinct from 'infinity'`,
    [workspaceId],
  )
  const steps = ['null', ...stepsMs.map((ms) => ms * 1000), 'null'].flatMap((lower, step, all) =>
    step + 1 === all.length
      ? []
      : [`count(*) filter (where duration_us <@ int4range(${lower}, ${all[step + 1]}, '(]'))::int`],
  )
  await db.change(
    `insert into delivery_hours (hour, workspace_id, webhook_id, succeeded, failed, durations)
     select date_trunc('hour', at, 'UTC'), workspace_id, webhook_id, count(*) filter (where state = 'delivered'),
       count(*) filter (where state <> 'delivered'), array[${steps.join(', ')}]
     from delivery_attempts where workspace_id = $1 group by 1, 2, 3`,
    [workspaceId],
  )
}

export async function seedLedger(db: Db, { workspaceId, startMs }: SeedTarget): Promise<void> {
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
    `insert into credit_balances (workspace_id, balance)
     select workspace_id, sum(amount) from credit_entries where workspace_id = $1 group by 1
     on conflict (workspace_id) do update set balance = excluded.balance`,
    [workspaceId],
  )
  await db.change(
    `insert into audit_entries (id, workspace_id, at, actor, action, target, target_name, before, after, address)
     select ${idAt('at', `'a' || n`)}, $1::uuid, at, 'person' || n % 12 || '@example.com',
       (array['key.create', 'key.revoke', 'webhook.test', 'message.send', 'delivery.retry'])[1 + n % 5], 'target-' || n % 400,
       'Target ' || n % 400, '{"enabled":true}', '{"enabled":false}', '203.0.113.7'
     from (select n, to_timestamp($2::float8 / 1000) + n * interval '50 s' as at
       from generate_series(0, ${Math.min(50_000, requests / 200) - 1}) as n) as made`,
    [workspaceId, startMs],
  )
}
