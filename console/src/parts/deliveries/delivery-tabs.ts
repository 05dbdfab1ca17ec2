import type { ListTotal } from '@parley/contract/console/list'
import { formatNumber } from '../../lib/format.ts'
import { useTotal } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { useSearchParam } from '../../lib/url.ts'

/** Retrying has every delivery that waits for an attempt, including its first one. */
const tabs = [
  { name: 'failed', title: 'Failed' },
  { name: 'held', title: 'Held' },
  { name: 'waiting', title: 'Retrying' },
  { name: 'all', title: 'All' },
] as const

type TabName = (typeof tabs)[number]['name']

/** The tabs above the deliveries. The parameter `state` has the open one; each has the number of rows that match. */
export function useDeliveryTabs({ state, ...query }: Readonly<Record<string, string>>) {
  const [, setState] = useSearchParam('state')
  const counts: Record<TabName, string | undefined> = {
    failed: useCount({ ...query, state: 'failed' }),
    held: useCount({ ...query, state: 'held' }),
    waiting: useCount({ ...query, state: 'waiting' }),
    all: useCount(query),
  }
  return {
    tabs: tabs.map((tab) => ({ ...tab, count: counts[tab.name] })),
    value: tabs.find(({ name }) => name === state)?.name ?? 'all',
    onChange: (name: TabName) => setState(name === 'all' ? null : name),
  }
}

/** The same request as for the total of the list. */
function useCount(query: Readonly<Record<string, string>>): string | undefined {
  const { data, error } = useTotal(useHere().api('deliveries'), query, ['deliveries'])
  return data ? countOf(data) : error ? undefined : ''
}

/** No number if counting took too long. */
export const countOf = ({ total, total_is_exact }: ListTotal): string | undefined =>
  total === null ? undefined : `${formatNumber(total)}${total_is_exact ? '' : '+'}`
