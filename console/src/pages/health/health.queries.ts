import type { HealthReport, TrafficReport } from '@parley/contract/console/operator'
import { useData } from '../../lib/query.ts'

export type { HealthReport, TrafficReport }
export type Finding = HealthReport['findings'][number]

const everyMs = 30_000

export const useHealth = () => useData<HealthReport>('operator/health', { refetchInterval: everyMs })
export const useTraffic = () => useData<TrafficReport>('operator/traffic', { refetchInterval: everyMs / 3 })
