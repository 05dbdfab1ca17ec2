import type { ListedKey } from '@parley/contract/console/keys'
import { formatNumber } from '../../lib/format.ts'
import { Sparkline } from '../../ui/sparkline.tsx'

export const totalOf = (key: ListedKey): number => key.requests_by_day.reduce((sum, count) => sum + count, 0)

/** Requests per day over the last 7 days. */
export function KeySparkline({ apiKey }: { apiKey: ListedKey }) {
  const total = totalOf(apiKey)
  if (total === 0) return <span className="quiet">–</span>
  const label = `Requests in the last 7 days: ${formatNumber(total)}`
  return <Sparkline values={apiKey.requests_by_day} label={label} width={64} />
}
