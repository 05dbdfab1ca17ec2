import { useNow } from '../../lib/clock.ts'
import { formatTime } from '../../lib/format.ts'
import { useSession } from '../../lib/session.ts'
import { browserZone } from '../../lib/time-zone.ts'
import { Select } from '../../ui/fields.tsx'
import { Section } from '../../ui/layout.tsx'
import { useChangeTimeZone } from './account.queries.ts'

/** Chosen when there is no zone. */
const browser = 'browser'

/** The time zone of every time on the console. Stored with the person. */
export function TimeZoneSection() {
  const { time_zone: chosen } = useSession().person
  const change = useChangeTimeZone()
  const now = useNow()
  const zones = [...new Set([...(chosen ? [chosen] : []), 'UTC', ...Intl.supportedValuesOf('timeZone')])]
  return (
    <Section
      title="Time zone"
      detail="Every time on the console is in this zone, also the times that you enter. Hover over a time to see it in UTC."
    >
      <Select
        label="Time zone"
        description={`It is now ${formatTime(new Date(now))}.`}
        searchable
        data={[
          { value: browser, label: `Of the browser (${browserZone()})` },
          ...zones.map((zone) => ({ value: zone, label: zone.replaceAll('_', ' ') })),
        ]}
        value={chosen ?? browser}
        onChange={(zone) => zone && change.run(zone === browser ? null : zone)}
        allowDeselect={false}
        nothingFoundMessage="No results"
        disabled={change.isPending}
      />
    </Section>
  )
}
