/** Claims visit endpoints in turn, the longest wait first. Each workspace has the same share of a claim. */
import type { Db } from '../../../db/db.ts'
import { withOrderedLookups } from '../../../db/planner-settings.ts'
import { type ClaimedRow, claimDue, takeVisits, type Visit } from './claim/claim.sql.ts'

export { planVisits } from './visits.sql.ts'

/** Endpoints per claim: as many as a workspace has by default, so that it takes one claim to come to the next workspace. */
export const visitMax = 100

/** Deliveries per claim: each costs about 30 µs of PostgreSQL, and a claim should take less than 20 ms. */
const claimMax = 300

/** Claims due deliveries of the endpoints whose visits are due. */
export async function claimInTurn(
  db: Db,
  input: {
    now: Date
    lease: string
    leaseUntil: Date
    /** Endpoints to leave to other processes. */
    except: readonly string[]
    capacityOf: (webhookId: string, workspaceId: string) => number
  },
): Promise<{ visited: number; rows: ClaimedRow[] }> {
  const { except, capacityOf, ...claim } = input
  return withOrderedLookups(db, async (tx) => {
    const visits = await takeVisits(tx, { now: claim.now, except, limit: visitMax })
    if (visits.length === 0) return { visited: 0, rows: [] }
    const shares = shareClaim(oncePerEndpoint(visits), claimMax, capacityOf)
    return { visited: visits.length, rows: await claimDue(tx, { ...claim, visits: shares }) }
  })
}

/** One visit per endpoint: the earliest step of several. */
function oncePerEndpoint(visits: readonly Visit[]): Visit[] {
  const byEndpoint = new Map<string, Visit>()
  for (const visit of visits) {
    const other = byEndpoint.get(visit.webhookId)
    if (!other || visit.step < other.step) byEndpoint.set(visit.webhookId, visit)
  }
  return [...byEndpoint.values()]
}

/**
 * How many deliveries a claim takes of each endpoint: every workspace has the same share of `limit`, and within it every
 * endpoint, up to its capacity.
 */
export function shareClaim(
  visits: readonly Visit[],
  limit: number,
  capacityOf: (webhookId: string, workspaceId: string) => number,
): (Visit & { take: number })[] {
  const byWorkspace = Map.groupBy(visits, ({ workspaceId }) => workspaceId)
  const ofWorkspace = limit / byWorkspace.size
  return visits.map((visit) => {
    const endpoints = byWorkspace.get(visit.workspaceId)?.length ?? 1
    const capacity = capacityOf(visit.webhookId, visit.workspaceId)
    return { ...visit, take: Math.min(capacity, Math.max(1, Math.floor(ofWorkspace / endpoints))) }
  })
}
