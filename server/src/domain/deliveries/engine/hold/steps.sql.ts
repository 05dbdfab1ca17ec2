/** The table `endpoint_steps`, and the statement of each kind of step. */
import { testEventType } from '@parley/contract/events'
import type { Db } from '../../../../db/db.ts'

export type Work = 'release' | 'delete' | 'retry' | 'rotate'

export interface Step {
  webhookId: string
  workspaceId: string
  work: Work
  askedAt: Date
  positionAt: Date | null
  position: string | null
  done: number
}

/** Begins the work again from `positionAt` if it is in progress. */
export const planSteps = (
  db: Db,
  step: { workspaceId: string; webhookId: string; work: Work; askedAt: Date; positionAt?: Date },
): Promise<number> =>
  db.change(
    `insert into endpoint_steps as s (webhook_id, workspace_id, work, asked_at, position_at, step_at)
     values ($1, $2, $3, $4, $5, $4)
     on conflict (webhook_id, work) do update set asked_at = excluded.asked_at,
       position_at = least(s.position_at, excluded.position_at), position = null, step_at = excluded.step_at`,
    [step.webhookId, step.workspaceId, step.work, step.askedAt, step.positionAt ?? null],
  )

/** Locks the work whose step is due longest. No other process takes it until the transaction ends. */
export const takeStep = (db: Db, now: Date): Promise<Step | undefined> =>
  db.first(
    `select webhook_id as "webhookId", workspace_id as "workspaceId", work, asked_at as "askedAt",
       position_at as "positionAt", position, done
     from endpoint_steps where step_at <= $1 order by step_at limit 1 for update skip locked`,
    [now],
  )

/** Locks the work if it is in progress, and waits for its current step. */
export const lockSteps = (db: Db, webhookId: string, work: Work): Promise<unknown> =>
  db.rows('select 1 from endpoint_steps where webhook_id = $1 and work = $2 for update', [webhookId, work])

/** Takes the step later. Its position stays: another process may have moved it. */
export const postponeStep = (db: Db, { webhookId, work }: Step, stepAt: Date): Promise<number> =>
  db.change('update endpoint_steps set step_at = greatest(step_at, $3) where webhook_id = $1 and work = $2', [
    webhookId,
    work,
    stepAt,
  ])

export const saveStep = (db: Db, { webhookId, work, positionAt, position, done }: Step, stepAt: Date) =>
  db.change(
    `update endpoint_steps set position_at = $3, position = $4, done = $5, step_at = $6
     where webhook_id = $1 and work = $2`,
    [webhookId, work, positionAt, position, done, stepAt],
  )

export const endSteps = (db: Db, { webhookId, work }: Step): Promise<number> =>
  db.change('delete from endpoint_steps where webhook_id = $1 and work = $2', [webhookId, work])

/** Ends all work on the deliveries of an endpoint, after its current step. */
export const endAllSteps = (db: Db, webhookId: string): Promise<number> =>
  db.change('delete from endpoint_steps where webhook_id = $1', [webhookId])

/** The work in progress at these endpoints, or at all (null), and how many deliveries it has changed so far. */
export const stepsOf = (db: Db, webhookIds: readonly string[] | null) =>
  db.rows<{ webhookId: string; work: Work; done: number }>(
    `select webhook_id as "webhookId", work, done from endpoint_steps
     where $1::uuid[] is null or webhook_id = any($1) order by asked_at, webhook_id`,
    [webhookIds],
  )

export const hasDeliveries = async (db: Db, webhookId: string): Promise<boolean> =>
  (await db.first('select 1 as one from deliveries where webhook_id = $1 limit 1', [webhookId])) !== undefined

/** How many rows a step looked at and changed, and its position. */
export interface Stepped {
  looked: number
  changed: number
  /** The last attempt that was read. */
  position: string | null
  positionAt?: Date | null
}

const first = '00000000-0000-0000-0000-000000000000'
const last = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The statement of a step has one row. */
const stepped = async (db: Db, text: string, values: readonly unknown[]): Promise<Stepped> =>
  (await db.first(text, values)) as Stepped

/**
 * Looks at the next deliveries of an endpoint. Makes retries due that were planned before it was enabled and, if the endpoint
 * has no order, deliveries that wait for others of their conversation. Locked rows are skipped: they are being attempted or
 * claimed. A delivery without an attempt is due at the time at which it was published or requested: a manual delivery must
 * not become older than the time at which its endpoint was disabled again. `is true` keeps PostgreSQL from using
 * an index by due time.
 */
export const releaseNext = (db: Db, { webhookId, position, askedAt }: Step, limit: number): Promise<Stepped> =>
  stepped(
    db,
    `with looked as materialized (
         select event_id, due_at from deliveries where webhook_id = $1 and event_id > $2 order by event_id limit $4
       ), later as materialized (
         select d.event_id from looked l
         cross join lateral (
           select event_id from deliveries d
           where d.webhook_id = $1 and d.event_id = l.event_id and (d.due_at > $3) is true
             and ((d.lease is null and d.trigger = 'retry') or ((d.due_at = 'infinity') is true
               and (select ordering from webhooks where id = $1) = 'none'))
             and not exists (select 1 from delivery_attempts a
               where a.event_id = l.event_id and (a.webhook_id = $1) is true and a.at >= $3)
           for update skip locked) as d
         where l.due_at > $3
       ), released as (
         update deliveries set due_at = $3, lease = null
         where webhook_id = $1 and event_id = any(array(select event_id from later))
       )
       select count(*)::int as looked, (select count(*)::int from later) as changed,
         (select event_id from looked order by event_id desc limit 1) as position
       from looked`,
    [webhookId, position ?? first, askedAt, limit],
  )

export const deleteNext = (
  db: Db,
  { webhookId, position }: Pick<Step, 'webhookId' | 'position'>,
  limit: number,
): Promise<Stepped> =>
  stepped(
    db,
    `with looked as materialized (
         select event_id from deliveries where webhook_id = $1 and event_id > $2
         order by event_id limit $3 for update skip locked
       ), deleted as (
         delete from deliveries where webhook_id = $1 and event_id = any(array(select event_id from looked))
       )
       select count(*)::int as looked, count(*)::int as changed,
         (select event_id from looked order by event_id desc limit 1) as position
       from looked`,
    [webhookId, position ?? first, limit],
  )

/**
 * Looks at the next attempts of an endpoint, oldest first. A delivery that failed permanently and is not open gets a
 * new schedule; test events are sent only once. After a rotation, retries that are planned for later are due as well.
 * Deliveries that are in progress, locked or at infinity stay, and so do retries that an attempt with the new secret
 * has planned. One statement reads whether a delivery is open and whether it was delivered. With two, a
 * delivery that is recorded in between would seem to be neither, and be sent again.
 */
export const retryNext = (
  db: Db,
  { webhookId, workspaceId, work, askedAt, positionAt, position }: Omit<Step, 'done'>,
  limit: number,
): Promise<Stepped> =>
  stepped(
    db,
    `with looked as materialized (
         select at, event_id, event_created_at, state from delivery_attempts
         where webhook_id = $1 and workspace_id = $2 and at >= $3 and at <= $5 and (at > $3 or event_id < $4)
           ${work === 'retry' ? `and state = 'failed'` : ''}
         order by at, event_id desc limit $6
       ), later as materialized (
         select d.event_id from (select distinct event_id from looked where state <> 'delivered') as l
         cross join lateral (
           select event_id from deliveries d
           where ${work === 'rotate'} and d.webhook_id = $1 and d.event_id = l.event_id and d.lease is null
             and (d.due_at > $5 and d.due_at < 'infinity') is true
             and not exists (select 1 from delivery_attempts a
               where a.event_id = l.event_id and (a.webhook_id = $1) is true and a.at > $5)
           for update skip locked) as d
       ), made_due as (
         update deliveries set due_at = $5
         where webhook_id = $1 and event_id = any(array(select event_id from later))
       ), inserted as (
         insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, trigger, due_at)
         select distinct a.event_id, $1::uuid, $2::uuid, a.event_created_at, $7, $5::timestamptz
         from looked a
         cross join lateral (select from events e
           where e.id = a.event_id and e.created_at = a.event_created_at and e.type <> $8 limit 1) as e
         where a.state = 'failed'
           and not exists (select 1 from deliveries d where d.webhook_id = $1 and d.event_id = a.event_id)
           and not exists (select 1 from delivery_attempts l
           where l.event_id = a.event_id and (l.webhook_id = $1) is true and l.at >= a.at and l.state = 'delivered')
         order by 1
         on conflict (webhook_id, event_id) do nothing
         returning 1
       )
       select count(*)::int as looked,
         (select count(*)::int from later) + (select count(*)::int from inserted) as changed,
         (select event_id from looked order by at desc, event_id limit 1) as position,
         (select max(at) from looked) as "positionAt"
       from looked`,
    [
      webhookId,
      workspaceId,
      positionAt,
      position ?? last,
      askedAt,
      limit,
      work === 'retry' ? 'manual' : 'retry',
      testEventType,
    ],
  )
