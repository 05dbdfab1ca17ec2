import type { HealthReport, TrafficReport } from '@parley/contract/console/operator'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'

export type { HealthReport, TrafficReport }
export type Finding = HealthReport['findings'][number]

const everyMs = 30_000

export const useHealth = () =>
  useQuery({
    queryKey: ['operator/health'],
    queryFn: ({ signal }) => api<HealthReport>('operator/health', { signal }),
    refetchInterval: everyMs,
  })

export const useTraffic = () =>
  useQuery({
    queryKey: ['operator/traffic'],
    queryFn: ({ signal }) => api<TrafficReport>('operator/traffic', { signal }),
    refetchInterval: everyMs / 3,
  })
