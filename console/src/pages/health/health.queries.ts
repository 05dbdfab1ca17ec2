import type {
  HealthReport,
  HealthSeries,
  OperatorTestResult,
  SyncReport,
  TrafficReport,
} from '@parley/contract/console/operator'
import type { Period } from '@parley/contract/console/overview'
import type { TestSent } from '@parley/contract/console/webhooks'
import { useData } from '../../lib/query.ts'
import { useAction } from '../../lib/use-action.ts'

export type { HealthReport, TrafficReport }
export type Finding = HealthReport['findings'][number]

const everyMs = 30_000
const health = 'operator/health'
const webhooks = 'operator/webhooks'

export const useHealth = () => useData<HealthReport>(health, { refetchInterval: everyMs })
export const useTraffic = () => useData<TrafficReport>('operator/traffic', { refetchInterval: everyMs / 3 })

/** A sample is taken every five minutes. */
export const useHealthSeries = (period: Period) =>
  useData<HealthSeries>('operator/health/series', {
    query: { period },
    placeholderData: (before) => before,
    refetchInterval: 60_000,
  })

export const useTestWebhook = (id: string) => useAction((send) => send<TestSent>('POST', `${webhooks}/${id}/test`))

/** The first attempt of a test event. Asks again until it was made. */
export const useTestResult = (id: string, eventId: string) =>
  useData<OperatorTestResult>(`${webhooks}/${id}/tests/${eventId}`, {
    refetchInterval: ({ state }) => (state.data?.attempt || state.error ? false : 500),
  })

export const useEnableWebhook = (id: string, name: string) =>
  useAction((send) => send('POST', `${webhooks}/${id}/enable`), { refetch: [health], done: `${name} enabled` })

export const useSyncAccount = (id: string, account: string) =>
  useAction((send) => send<SyncReport>('POST', `operator/connections/${id}/sync`), {
    refetch: [health],
    done: ({ ok }) => (ok ? `Account ${account} synced` : undefined),
  })
