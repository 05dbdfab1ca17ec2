import { useChoice } from '../lib/url.ts'
import { SegmentedControl } from '../ui/fields.tsx'

const periods = ['24h', '7d', '30d'] as const
type Period = (typeof periods)[number]

export const periodLabels = { '24h': '24 hours', '7d': '7 days', '30d': '30 days' } as const

/** The period that a page shows, in the search parameter `name`. */
export const usePeriod = (name: string) => useChoice(name, periods)

/** `value` is null if the page shows another range of time. */
export const PeriodSwitch = ({ value, onChange }: { value: Period | null; onChange: (period: Period) => void }) => (
  <SegmentedControl
    aria-label="Period"
    value={value ?? ''}
    onChange={(period) => onChange(period as Period)}
    data={periods.map((each) => ({ value: each, label: periodLabels[each] }))}
  />
)
