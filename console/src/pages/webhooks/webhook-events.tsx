import type { ConsoleWebhook } from '@parley/contract/console/webhooks'
import type { EventType } from '@parley/contract/events'
import { useSearchParam } from '../../lib/url.ts'
import { eventChoices } from '../../parts/deliveries/events.ts'
import { Select } from '../../ui/fields.tsx'
import { Section } from '../../ui/layout.tsx'
import { lazyPart } from '../../ui/lazy.tsx'
import { LoadingLines } from '../../ui/states.tsx'

/** The schemas of all events are large, and only this part needs them. */
const PayloadPreview = lazyPart(
  async () => ({ default: (await import('./payload-preview.tsx')).PayloadPreview }),
  <LoadingLines lines={8} />,
)

/** What the webhook gets for each event that it is subscribed to, by an example. */
export function WebhookEvents({ webhook }: { webhook: ConsoleWebhook }) {
  const [chosen, setChosen] = useSearchParam('event_type')
  const events = eventChoices.filter(({ value }) => webhook.events.includes(value))
  const type = events.find(({ value }) => value === chosen)?.value ?? events[0]?.value
  return (
    <Section
      title="Events"
      detail="Examples of the payloads that this webhook gets. Real ones have the values of your messages and accounts."
    >
      <Select
        label="Event type"
        data={events.map(({ value, detail }) => ({ value, label: `${value} – ${detail}` }))}
        value={type ?? null}
        onChange={setChosen}
        allowDeselect={false}
      />
      {type && <PayloadPreview type={type as EventType} />}
    </Section>
  )
}
