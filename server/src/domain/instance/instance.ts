import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { allBalances, giveCredits } from '../credits/credits.ts'
import { type Queues, readQueues } from '../health/traffic.ts'
import { countKeys } from '../keys/keys.ts'
import { countMembers } from '../people/team/members.ts'
import { type ApiErrorGroup, listApiErrors } from '../requests/requests.ts'
import { countActiveSenders } from '../senders/senders.ts'
import { countWebhooks } from '../webhooks/webhooks.ts'
import { listWorkspaces, requireWorkspace, type Workspace } from '../workspaces/workspaces.ts'

export { type Health, type HealthDeps, instanceHealth } from '../health/health.ts'
export { readHealthSeries } from '../health/samples.ts'

export interface WorkspaceSummary extends Workspace {
  balance: number
  members: number
  senders: number
  keys: number
  webhooks: number
}

/** Every workspace with its balance and counts, but without its contents. */
export async function listSummaries(db: Db): Promise<WorkspaceSummary[]> {
  const [workspaces, balances, members, senders, keys, webhooks] = await Promise.all([
    listWorkspaces(db),
    allBalances(db),
    countMembers(db),
    countActiveSenders(db, null),
    countKeys(db),
    countWebhooks(db),
  ])
  const toLookup = (rows: readonly { workspaceId: string; count: number }[]) => {
    const byWorkspace = new Map(rows.map(({ workspaceId, count }) => [workspaceId, count]))
    return (id: string) => byWorkspace.get(id) ?? 0
  }
  const balanceOf = toLookup(balances.map(({ workspaceId, balance: count }) => ({ workspaceId, count })))
  const [membersOf, sendersOf] = [toLookup(members), toLookup(senders)]
  const [keysOf, webhooksOf] = [toLookup(keys), toLookup(webhooks)]
  return workspaces.map((workspace) => ({
    ...workspace,
    balance: balanceOf(workspace.id),
    members: membersOf(workspace.id),
    senders: sendersOf(workspace.id),
    keys: keysOf(workspace.id),
    webhooks: webhooksOf(workspace.id),
  }))
}

export interface Traffic {
  at: Date
  queues: Queues
  refusals: ApiErrorGroup[]
}

const dayMs = 86_400_000

/** The queues of all workspaces, and the API errors of the last 24 hours that belong to no workspace. */
export async function readTraffic(db: Db, clock: Clock): Promise<Traffic> {
  const at = clock.now()
  const refusals = await listApiErrors(db, null, new Date(at.getTime() - dayMs))
  return { at, queues: await readQueues(db, at), refusals }
}

export async function grantCredits(db: Db, clock: Clock, workspaceId: string, amount: number, note: string) {
  const { name } = await requireWorkspace(db, workspaceId)
  const balance = await giveCredits(db, clock, workspaceId, amount, note)
  db.notify(workspaceId, 'credits')
  return { name, balance }
}
