import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { Connection, Database } from '../src/db/db.ts'
import { newDeliveryProcesses } from './delivery-processes.ts'
import { until } from './until.ts'

const preload = pathToFileURL(join(import.meta.dirname, 'suspended-clock.ts')).href

/** How many attempts a process makes at an endpoint that has not responded yet. */
const attemptsAtATime = 8

export interface FreezeOutcome {
  /** Messages that were acknowledged. */
  acknowledged: number
  lost: number
  /** Messages that had begun to be delivered when the processes were frozen. */
  inFlight: number
  /** Those of them that arrived a second time. */
  inFlightRepeats: number
  /** All other duplicate arrivals. */
  otherRepeats: number
}

/**
 * Freezes two processes while they deliver, one of them with its monotonic clock, until their leases have ended and a third
 * process has delivered everything. Then it wakes them up.
 */
export async function freezeUnderLoad(
  db: Database,
  connection: Connection,
  say: (line: string) => void = () => {},
): Promise<FreezeOutcome> {
  const { start, post, arrivals, hold, close } = await newDeliveryProcesses(db, connection)
  try {
    const stopped = await start('all')
    const suspended = await start('all', { NODE_OPTIONS: `--import ${preload}` })
    await start('all')
    const frozen = [stopped, suspended]
    const ids: string[] = []
    // The endpoint does not respond, so most deliveries wait in the memory of the processes, and no attempt is about to begin when
    // they are frozen: it would arrive when they wake up.
    const respond = hold()
    const posted = frozen.map((each) => post(each, 40))
    ids.push(...(await Promise.all(posted)).flat())
    await until('all attempts that begin have begun', () => arrivals.size >= frozen.length * attemptsAtATime)
    for (const { child } of frozen) child.kill('SIGSTOP')
    const begun = new Set(arrivals.keys())
    respond()
    say(`${ids.length} acknowledged, ${begun.size} in flight; both processes are frozen`)
    await until('the third process has delivered the rest', () => ids.every((id) => arrivals.has(id)), 60_000)
    await until('it has delivered what was in flight', async () => (await countOpen(db)) === 0, 60_000)
    for (const { child } of frozen) child.kill('SIGCONT')
    say('both are awake again')
    for (const each of frozen) ids.push(...(await post(each, 10)))
    await until('they deliver again', () => ids.every((id) => arrivals.has(id)))
    await until('nothing is open', async () => (await countOpen(db)) === 0, 60_000)
    await sleep(2_000)
    const repeatsOf = (isCounted: (id: string) => boolean) =>
      [...arrivals].reduce((sum, [id, times]) => sum + (isCounted(id) ? times.length - 1 : 0), 0)
    return {
      acknowledged: ids.length,
      lost: ids.filter((id) => !arrivals.has(id)).length,
      inFlight: begun.size,
      inFlightRepeats: repeatsOf((id) => begun.has(id)),
      otherRepeats: repeatsOf((id) => !begun.has(id)),
    }
  } finally {
    await close()
  }
}

const countOpen = async (db: Database): Promise<number> =>
  (await db.first<{ count: number }>('select count(*)::int as count from deliveries'))?.count ?? 0
