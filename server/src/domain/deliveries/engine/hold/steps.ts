/** Work on all deliveries of an endpoint, in steps that maintenance takes. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../../../db/db.ts'
import { withIndexLookups } from '../../../../db/planner-settings.ts'
import { wakeAnywhere } from '../../../../db/wake.ts'
import type { Clock } from '../../../../lib/clock.ts'
import type { Logger } from '../../../../telemetry/logger.ts'
import { planVisits } from '../visits.sql.ts'
import {
  deleteNext,
  endSteps,
  hasDeliveries,
  lockSteps,
  planSteps,
  postponeStep,
  releaseNext,
  retryNext,
  type Step,
  type Stepped,
  saveStep,
  takeStep,
} from './steps.sql.ts'

export { stepsOf as readStepsOf } from './steps.sql.ts'

/** Rows that a step looks at: a transaction of well under a tenth of a second, and little WAL at a time. */
export const stepMax = 2_000

/** The pause after a step is this many times as long as the step: other work gets the rest, and more so on a busy database. */
export const stepPause = 3

/** A transaction that has begun before an endpoint was deleted may still add deliveries. Longer than any is allowed to take. */
const deletedForMs = 60_000
/** When to look again for such deliveries, and when to repeat a step that failed. */
const againMs = 5_000

/** How long maintenance takes steps before it reports that it does. */
const turnMs = 60_000

/** Takes the steps that are due, with a pause after each. */
export async function takeSteps(db: Db, clock: Clock, log: Logger): Promise<void> {
  for (const endMs = performance.now() + turnMs; performance.now() < endMs; ) {
    const startedMs = performance.now()
    if (!(await takeNextStep(db, clock, log))) return
    await sleep(stepPause * (performance.now() - startedMs))
  }
}

/** Takes the next step that is due. False if none is. */
export async function takeNextStep(db: Db, clock: Clock, log: Logger): Promise<boolean> {
  let taken: Step | undefined
  const startedMs = performance.now()
  const afterPause = () => new Date(clock.now().getTime() + stepPause * (performance.now() - startedMs))
  try {
    return await withIndexLookups(db, async (tx) => {
      const now = clock.now()
      taken = await takeStep(tx, now)
      if (taken) await advance(tx, log, taken, now, afterPause)
      return taken !== undefined
    })
  } catch (error) {
    // The others come first.
    if (taken) await postponeStep(db, taken, new Date(clock.now().getTime() + againMs)).catch(() => {})
    throw error
  }
}

async function advance(tx: Db, log: Logger, step: Step, now: Date, afterPause: () => Date): Promise<void> {
  const { webhookId, workspaceId, work } = step
  const stepped = await stepOf(tx, step)
  const done = step.done + stepped.changed
  const isAtEnd = stepped.looked < stepMax
  if (!isAtEnd) {
    const { position, positionAt = null } = stepped
    await saveStep(tx, { ...step, position, positionAt, done }, afterPause())
  } else if (work === 'delete' && (await mayHaveMore(tx, step, now))) {
    await saveStep(tx, { ...step, position: null, done }, new Date(now.getTime() + againMs))
  } else {
    await endSteps(tx, step)
    const fields = { event: 'webhook.steps_ended', webhook_id: webhookId, work, deliveries: done } as const
    tx.afterCommit(() => log.info(fields, 'changed the deliveries of a webhook in steps'))
  }
  tx.notify(workspaceId, 'webhooks')
  if (work === 'delete' || stepped.changed === 0) return
  await planVisits(tx, workspaceId, [webhookId], now)
  tx.notify(workspaceId, 'deliveries')
  wakeAnywhere(tx, 'deliveries')
}

function stepOf(tx: Db, step: Step): Promise<Stepped> {
  switch (step.work) {
    case 'release':
      return releaseNext(tx, step, stepMax)
    case 'delete':
      return deleteNext(tx, step, stepMax)
    case 'retry':
    case 'rotate':
      return retryNext(tx, step, stepMax)
  }
}

const mayHaveMore = async (tx: Db, { webhookId, askedAt }: Step, now: Date): Promise<boolean> =>
  now.getTime() < askedAt.getTime() + deletedForMs || hasDeliveries(tx, webhookId)

/**
 * Retries what has failed at an endpoint since a time: the first step immediately, the others later. Returns how many were
 * found, and whether there may be more.
 */
export async function retryInSteps(
  db: Db,
  { since, ...endpoint }: { webhookId: string; workspaceId: string; work: 'retry' | 'rotate'; since: Date },
  now: Date,
): Promise<{ count: number; more: boolean }> {
  return withIndexLookups(db, async (tx) => {
    const start = { ...endpoint, askedAt: now, positionAt: since }
    // First, because a step that is in progress may wait for what this transaction inserts.
    await lockSteps(tx, endpoint.webhookId, endpoint.work)
    const { looked, changed } = await retryNext(tx, { ...start, position: null }, stepMax)
    const more = looked === stepMax
    if (more) await planSteps(tx, start)
    return { count: changed, more }
  })
}
