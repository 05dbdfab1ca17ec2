import { HealthReport, HealthSeries, TrafficReport } from '@parley/contract/console/operator'
import { OverviewQuery } from '@parley/contract/console/overview'
import { OperatedWorkspace } from '@parley/contract/console/workspace'
import { List } from '@parley/contract/page'
import { Type } from 'typebox'
import { type ConsoleRoute, operatorRoute } from '../../http/console/route.ts'
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
  operatorRoute({
    method: 'GET',
    path: '/operator/workspaces',
    mayLag: true,
    reply: List(OperatedWorkspace),
    handle: async ({ db }) => unpagedList((await listSummaries(db)).map(toWorkspace)),
  }),
  operatorRoute({
    method: 'POST',
    path: '/operator/workspaces/:id/credits',
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
  operatorRoute({
    method: 'GET',
    path: '/operator/health',
    reply: HealthReport,
    async handle({ db, clock }) {
      return toReport(await instanceHealth(db, clock, { ...deps, secretKeys: deps.secretKeys() }))
    },
  }),
  operatorRoute({
    method: 'GET',
    path: '/operator/traffic',
    mayLag: true,
    reply: TrafficReport,
    handle: async ({ db, clock }) => toTraffic(await readTraffic(db, clock)),
  }),
  operatorRoute({
    method: 'GET',
    path: '/operator/health/series',
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
  findings: findings.map(({ consoleRemedy: remedy, ...finding }) => ({ ...finding, remedy })),
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
