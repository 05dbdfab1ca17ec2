import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '@parley/server/db/db'
import { rotateWebhook } from '@parley/server/domain/webhooks/rotation'
import { enableWebhook } from '@parley/server/domain/webhooks/webhooks'
import { systemClock } from '@parley/server/lib/clock'
import { secretKeys } from '../../../server/testing/service.ts'
import { type CountingReceiver, openReceiver } from '../lib/counting-receiver.ts'
import { openPostgres } from '../lib/postgres.ts'
import { findLedgerProblems, findLost, findSentTwice, persistently, waitUntilDrained } from '../lib/proofs.ts'
import type { Scenario } from '../lib/scenario.ts'
import { newFaults } from '../lib/ten/faults.ts'
import { openFleet } from '../lib/ten/fleet.ts'
import { findExceeded } from '../lib/ten/rate-limits.ts'
import { limitPerMinute, openTenants, type Tenants } from '../lib/ten/tenants.ts'
import { startTraffic, type Traffic } from '../lib/ten/traffic.ts'

const trafficSeconds = Number(process.env.RELIABILITY_SECONDS ?? 300)
const faultEveryMs = 20_000
/** A call of a process that was killed is given up after 90 seconds, and an endpoint that fails is tried every two. */
const drainMs = 240_000

/**
 * Ten processes of all roles with 200 workspaces and 2,000 endpoints, five minutes of mixed traffic, and a fault every 20 seconds.
 * RELIABILITY_SECONDS makes it shorter.
 */
export const scenario: Scenario = {
  name: 'ten-processes',
  wanted: 'nothing lost or sent twice, repeats at most those in flight, limits exact, ledger right',
  limitSeconds: 1_500,
  async run(say) {
    const postgres = await openPostgres({ max_connections: '120' })
    const { db } = postgres
    const receiver = await openReceiver()
    const tenants = await openTenants(db, receiver)
    const { control } = tenants.simulator
    say(`${tenants.all.length} workspaces with ${tenants.all.length * 10} endpoints`)
    const fleet = await openFleet(postgres, say)
    await tenants.setCallback(fleet.url)
    const { all, crashes, problems } = newFaults(postgres, fleet, receiver)
    const traffic = startTraffic(db, fleet, tenants, receiver)
    const inFlight = new Set<string>()
    const strikes: Promise<void>[] = []
    const count = Math.round((trafficSeconds * 1000) / faultEveryMs)
    for (let n = 0; n < count; n++) {
      await sleep(n === 0 ? 5_000 : faultEveryMs)
      const fault = all[n % all.length]
      say(
        `${fault?.name}; ${traffic.acknowledged.size} received, ${traffic.accepted.size} sent, ${receiver.total()} delivered`,
      )
      const strike = async () => {
        await fault?.strike()
        for (const name of await leased(db)) inFlight.add(name)
      }
      // A fault may begin before the process of the last one has been replaced.
      strikes.push(strike().catch((error: unknown) => void problems.push(`${fault?.name}: ${String(error)}`)))
    }
    await sleep(faultEveryMs)
    await Promise.all(strikes)
    say(`${count} faults are over`)
    await traffic.stop()
    const forGood = traffic.disabledForGood
    const endpoints = tenants.all.flatMap((tenant) => tenant.endpoints).filter(({ path }) => !forGood.has(path))
    await control.idle()
    const retries = setInterval(() => void retryAll(db, new Set(endpoints.map(({ id }) => id))).catch(() => {}), 10_000)
    const isDrained = await waitUntilDrained(db, drainMs, say, [...forGood])
    clearInterval(retries)
    if (!isDrained) problems.push(`deliveries or messages were left after ${drainMs / 1000} seconds`)
    const { lost, expected, events } = await findLost(db, receiver, endpoints, traffic.acknowledged)
    const { twice, sent } = findSentTwice(control)
    const repeated = await unexplainedRepeats(db, receiver, endpoints)
    const repeats = [...repeated.values()].reduce((sum, count) => sum + count, 0)
    const exceeded = findExceeded(traffic.limited, limitPerMinute, crashes)
    const wrong = [
      ...traffic.problems,
      ...lost,
      ...twice,
      ...(await findLedgerProblems(db, traffic.accepted)),
      ...(await findMessageProblems(db, traffic, sent)),
      ...exceeded,
    ]
    if (repeats > inFlight.size) {
      wrong.push(`${repeats} repeats, and ${inFlight.size} were in flight`)
      wrong.push(
        ...[...repeated.keys()].map((name) => `event ${name.split(' ')[1]} arrived again at ${name.split(' ')[0]}`),
      )
    }
    problems.push(...wrong)
    for (const problem of problems.slice(0, 20)) {
      say(problem)
      const id = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(problem)?.[0]
      if (id) for (const line of fleet.logLines(id, 3)) say(`  ${line.slice(0, 400)}`)
    }
    fleet.close()
    receiver.close()
    await tenants.close()
    await postgres.close()
    const passed = traffic.limited.filter(({ status }) => status === 200).length
    return {
      figure: `${count} faults: ${lost.length} of ${expected} deliveries of ${events} events lost, ${repeats} repeats (${inFlight.size} in flight), ${twice.length} of ${sent.size} sent twice, ${exceeded.length} windows exceeded (${passed} of ${traffic.limited.length} let through), ${problems.length} problems`,
      ok: problems.length === 0 && expected > 0,
    }
  },
}

/** The deliveries that a process has leased: no others can be in flight. */
async function leased(db: Database): Promise<string[]> {
  const rows = await persistently(() =>
    db.rows<{ name: string }>(
      `select webhook_id || ' ' || event_id || ' ' || lease as name from deliveries where lease is not null`,
    ),
  )
  return rows.map(({ name }) => name)
}

/**
 * Events that arrived more than once, with how often, less the attempts that ended without a response in time: those may have
 * arrived, and were retried as they should.
 */
async function unexplainedRepeats(
  db: Database,
  receiver: CountingReceiver,
  endpoints: Tenants['all'][number]['endpoints'],
): Promise<Map<string, number>> {
  const pathOf = new Map(endpoints.map(({ id, path }) => [id, path]))
  const attempts = await db.rows<{ webhook: string; event: string; failed: number }>(
    `select 'whk_' || webhook_id as webhook, event_id as event, count(*)::int as failed from delivery_attempts
     where error is not null and status is null group by 1, 2`,
  )
  const failed = new Map(attempts.map((each) => [`${pathOf.get(each.webhook)} ${each.event}`, each.failed]))
  const repeats = [...receiver.repeated()].map(([name, count]) => [name, count - 1 - (failed.get(name) ?? 0)] as const)
  return new Map(repeats.filter(([, count]) => count > 0))
}

/** Enables endpoints that failed too often, and makes due what would be retried later. */
async function retryAll(db: Database, ids: ReadonlySet<string>): Promise<void> {
  const waiting = await db.rows<{ id: string; enabled: boolean }>(
    `select id, enabled from webhooks w where exists (
       select 1 from deliveries d
       where d.webhook_id = w.id and lease is null and (not w.enabled or due_at > now() + interval '5 seconds'))`,
  )
  for (const { id, enabled } of waiting) {
    if (!ids.has(`whk_${id}`)) continue
    if (enabled) await rotateWebhook(db, systemClock, secretKeys, `whk_${id}`)
    else await enableWebhook(db, systemClock, `whk_${id}`)
  }
}

/** Messages whose state is not what the network says, keys that were used for two messages, and forms that are missing. */
async function findMessageProblems(db: Database, traffic: Traffic, sent: ReadonlySet<string>): Promise<string[]> {
  const problems: string[] = []
  const messages = await db.rows<{ id: string; status: string; reference: string; outbox: string | null }>(
    'select m.id, m.status, m.reference, o.state as outbox from messages m left join outbox o on o.message_id = m.id',
  )
  for (const { id, status, outbox } of messages) {
    const isSent = sent.has(`msg_${id}`)
    const isRight = isSent ? status === 'read' && outbox === null : outbox === 'unknown' || status === 'failed'
    if (!isRight)
      problems.push(
        `message ${id} is ${status} (outbox: ${outbox}), and was ${isSent ? '' : 'not '}sent to the network`,
      )
  }
  const byReference = Map.groupBy(messages, ({ reference }) => reference)
  for (const [key, ids] of traffic.byIdempotencyKey) {
    const stored = byReference.get(key)?.length ?? 0
    if (stored !== 1 || ids.size !== 1)
      problems.push(`Idempotency-Key ${key} has ${stored} messages, and ${ids.size} different responses`)
  }
  const forms = await db.first<{ count: number }>('select count(*)::int as count from flow_responses')
  if (forms?.count !== traffic.formsFilled)
    problems.push(`${traffic.formsFilled} forms were filled in, ${forms?.count} are stored`)
  return problems
}
