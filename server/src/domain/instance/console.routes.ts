import { HealthReport, HealthSeries, TrafficReport } from '@parley/contract/console/operator'
import { OverviewQuery } from '@parley/contract/console/overview'
import { OperatedWorkspace } from '@parley/contract/console/workspace'
import { List } from '@parley/contract/page'
import { Type } from 'typebox'
import { type ConsoleRoute, personRoute } from '../../http/console/route.ts'
import { ById } from '../../http/console/shapes.ts'
import { unpagedList } from '../../http/page.ts'
import type { SecretKeys } from '../../lib/seal.ts'
import {
  grantCredits,
  type Health,
  type HealthDeps,
  instanceHealth,
  listSummaries,
  readHealthSeries,
  readTraffic,
  type Traffic,
  type WorkspaceSummary,
} from './instance.ts'

export interface InstanceDeps extends Omit<HealthDeps, 'secretKeys'> {
  secretKeys(): SecretKeys
}

export const instanceRoutes = (deps: InstanceDeps): ConsoleRoute[] => [
  personRoute({
    method: 'GET',
    path: '/operator/workspaces',
    who: 'operator',
    mayLag: true,
    reply: List(OperatedWorkspace),
    handle: async ({ db }) => unpagedList((await listSummaries(db)).map(toWorkspace)),
  }),
  personRoute({
    method: 'POST',
    path: '/operator/workspaces/:id/credits',
    who: 'operator',
    confirmed: true,
    params: ById,
    body: Type.Object({ amount: Type.Integer(), note: Type.String() }, { additionalProperties: false }),
    reply: Type.Object({ balance: Type.Integer() }),
    async handle({ db, clock, audit }, { params, body }) {
      const { name, balance } = await grantCredits(db, clock, params.id, body.amount, body.note)
      const after = { amount: body.amount, note: body.note, balance }
      await audit({ action: 'workspace.credit', target: params.id, targetName: name, after, workspaceId: params.id })
      return { balance }
    },
  }),
  personRoute({
    method: 'GET',
    path: '/operator/health',
    who: 'operator',
    reply: HealthReport,
    async handle({ db, clock }) {
      return toReport(await instanceHealth(db, clock, { ...deps, secretKeys: deps.secretKeys() }))
    },
  }),
  personRoute({
    method: 'GET',
    path: '/operator/traffic',
    who: 'operator',
    mayLag: true,
    reply: TrafficReport,
    handle: async ({ db, clock }) => toTraffic(await readTraffic(db, clock)),
  }),
  personRoute({
    method: 'GET',
    path: '/operator/health/series',
    who: 'operator',
    mayLag: true,
    query: OverviewQuery,
    reply: HealthSeries,
    handle: ({ db, clock }, { query }) => readHealthSeries(db, clock, query.period ?? '24h'),
  }),
]

const toWorkspace = ({ createdAt, suspended, ...rest }: WorkspaceSummary): OperatedWorkspace => ({
  ...rest,
  created_at: createdAt.toISOString(),
  suspended_at: suspended?.at.toISOString() ?? null,
  suspended_reason: suspended?.reason ?? null,
})

const toReport = ({ at, verdict, findings }: Health): HealthReport => ({
  at: at.toISOString(),
  verdict,
  findings: findings.map(({ check, verdict: each, message, effect, consoleRemedy, details, actions }) => ({
    check,
    verdict: each,
    message,
    effect,
    remedy: consoleRemedy,
    details,
    actions,
  })),
})

const toTraffic = ({ at, queues: { deliveries, outbox }, refusals }: Traffic): TrafficReport => ({
  at: at.toISOString(),
  deliveries: {
    waiting: deliveries.waiting,
    held: deliveries.held,
    overdue: deliveries.overdue,
    oldest_overdue_ms: Math.round(deliveries.oldestOverdueMs),
  },
  outbox: {
    waiting: outbox.waiting,
    sending: outbox.claimed + outbox.calling,
    unknown: outbox.unknown,
    oldest_overdue_ms: Math.round(outbox.oldestOverdueMs),
  },
  refusals: refusals.map(({ firstAt, lastAt, keys: _keys, keyCount: _keyCount, addressCount, ...group }) => ({
    ...group,
    first_at: firstAt.toISOString(),
    last_at: lastAt.toISOString(),
    address_count: addressCount,
  })),
})
