import { type EventType, receivedEventSchemas } from '@parley/contract/events'
import { JsonView } from '../../ui/json-view.tsx'

/** An example of what a webhook gets for an event of this type. */
export function PayloadPreview({ type }: { type: EventType }) {
  // JSON Schema keywords that TypeBox's static types do not include.
  const { description, examples } = receivedEventSchemas[type] as { description?: string; examples?: unknown[] }
  return (
    <>
      <p className="quiet">{description?.replaceAll('`', '')}</p>
      <JsonView title="Example payload" value={examples?.[0]} openDepth={2} />
    </>
  )
}
