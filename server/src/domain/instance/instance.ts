import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { giveCredits } from '../credits/credits.ts'
import { type Health, type HealthDeps, instanceHealth } from '../health/health.ts'
import { type Queues, readQueues } from '../health/traffic.ts'
import { listRefusals, type RefusalGroup } from '../requests/requests.ts'
import { requireWorkspace } from '../workspaces/workspaces.ts'
import { type SummaryRow, summaries } from './instance.sql.ts'

export type { Health, SummaryRow as WorkspaceSummary }

/** Every workspace of the installation, and how much is in it: not what. */
export const listSummaries = (db: Db): Promise<SummaryRow[]> => summaries(db)

/** How the installation is, without asking others. */
export const readHealth = (db: Db, clock: Clock, deps: HealthDeps): Promise<Health> => instanceHealth(db, clock, deps)

export interface Traffic {
  at: Date
  queues: Queues
  refusals: RefusalGroup[]
}

const dayMs = 86_400_000

/** What waits over all workspaces, and what was refused without one in the last 24 hours. */
export async function readTraffic(db: Db, clock: Clock): Promise<Traffic> {
  const at = clock.now()
  const refusals = await listRefusals(db, null, new Date(at.getTime() - dayMs))
  return { at, queues: await readQueues(db, at), refusals }
}

export async function grant(db: Db, clock: Clock, workspaceId: string, amount: number, note: string) {
  const { name } = await requireWorkspace(db, workspaceId)
  const balance = await giveCredits(db, clock, workspaceId, amount, note)
  db.tell(workspaceId, 'credits')
  return { name, balance }
}
