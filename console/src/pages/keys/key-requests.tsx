import type { ListedKey } from '@parley/contract/console/keys'
import { useNavigate } from '@tanstack/react-router'
import { serviceNow } from '../../lib/clock.ts'
import { formatNumber, formatShortUtcDay, formatUtcDay } from '../../lib/format.ts'
import { useHere } from '../../lib/session.ts'
import { type Bar, BarChart } from '../../ui/bar-chart.tsx'
import type { Series } from '../../ui/chart-frame.tsx'
import { Row, Stack } from '../../ui/layout.tsx'
import { PageLink } from '../../ui/link.tsx'
import { MiniBars } from '../../ui/mini-bars.tsx'

type Result = keyof ListedKey['requests_by_day']

const results: readonly (Series & { key: Result; status: string })[] = [
  { key: 'ok', title: 'OK', tone: 'accent', status: '2xx' },
  { key: 'refused', title: '4xx', tone: 'warn', status: '4xx' },
  { key: 'rate_limited', title: '429', tone: 'note', status: '429' },
  { key: 'failed', title: '5xx', tone: 'bad', status: '5xx' },
]

const dayMs = 86_400_000

const totalOf = ({ requests_by_day }: ListedKey, result: Result): number =>
  requests_by_day[result].reduce((sum, count) => sum + count, 0)

/** Results that no key is expected to have are only shown if there are any. */
const resultsOf = (key: ListedKey) =>
  results.filter(({ key: result }) => result !== 'failed' || totalOf(key, result) > 0)

const isUnused = (key: ListedKey) => results.every(({ key: result }) => totalOf(key, result) === 0)

/** A bar for each of the last seven days in UTC, today last. */
function barsOf({ requests_by_day }: ListedKey): Bar[] {
  const today = Math.floor(serviceNow() / dayMs)
  return requests_by_day.ok.map((_, index) => {
    const day = new Date((today - requests_by_day.ok.length + 1 + index) * dayMs).toISOString()
    return {
      key: day,
      label: formatShortUtcDay(day),
      title: `${formatUtcDay(day)} (UTC)`,
      values: Object.fromEntries(results.map(({ key }) => [key, requests_by_day[key][index] ?? 0])),
    }
  })
}

/** The requests of the last seven days in a row of the list. */
export function KeyBars({ apiKey }: { apiKey: ListedKey }) {
  if (isUnused(apiKey)) return <span className="quiet">None</span>
  const shown = resultsOf(apiKey)
  const counts = shown.map(({ key, title }) => `${title} ${formatNumber(totalOf(apiKey, key))}`)
  return <MiniBars label={`Last 7 days: ${counts.join(', ')}`} bars={barsOf(apiKey)} series={shown} />
}

/** The same, larger. A bar, and the count of a result, open the request log. */
export function KeyChart({ apiKey }: { apiKey: ListedKey }) {
  const here = useHere()
  const navigate = useNavigate()
  if (isUnused(apiKey)) return <p className="quiet">No requests in the last 7 days.</p>
  const shown = resultsOf(apiKey)
  const bars = barsOf(apiKey)
  const path = (result: string | null, from: string, to?: string) => {
    const status = results.find(({ key }) => key === result)?.status
    return here.path(
      `requests?key=${apiKey.id}${status ? `&status=${status}` : ''}&from=${from}${to ? `&to=${to}` : ''}`,
    )
  }
  return (
    <Stack gap={3}>
      <BarChart
        label="Requests by result, last 7 days"
        bars={bars}
        series={shown}
        height={150}
        onOpen={({ key: from }, result) => {
          const to = new Date(Date.parse(from) + dayMs).toISOString()
          void navigate({ href: path(result, from, to) })
        }}
      />
      <Row gap={4}>
        {shown.map(({ key, title }) => (
          <PageLink key={key} to={path(key, bars[0]?.key ?? '')} className="link alone">
            {title}: {formatNumber(totalOf(apiKey, key))}
          </PageLink>
        ))}
      </Row>
    </Stack>
  )
}
