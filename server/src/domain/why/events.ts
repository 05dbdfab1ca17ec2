/** The events about something, and how each endpoint got them. Decides only: nothing is read here. */
import type { TimelineEvent } from '@parley/contract/console/messages'
import { formatTime } from '../../lib/format.ts'
import { withPrefix } from '../../lib/ids.ts'
import { explainFailure } from '../deliveries/reading/explain-failure.ts'
import { count } from '../health/finding.ts'
import { dubious, fine, type Station, waiting, wrong } from '../health/station.ts'
import { describeEndpoint, failingFrom, noWorker } from '../health/traffic.ts'
import type { webhooksOf } from '../webhooks/webhooks.ts'

type Delivery = TimelineEvent['deliveries'][number]

export const eventStations = (events: readonly TimelineEvent[], now: Date): Station[] =>
  events.flatMap((event) => [
    fine('event', `${event.type} was published.`, { at: new Date(event.created_at), details: [event.id] }),
    ...event.deliveries.map((delivery) => deliveryStation(event, delivery, now)),
  ])

/** A first attempt begins within a second. */
const firstLateMs = 60_000

function deliveryStation({ id }: TimelineEvent, delivery: Delivery, now: Date): Station {
  const name = `Webhook "${delivery.webhook_name}"`
  const details = [`${delivery.webhook_id} ${delivery.url}`]
  const last = delivery.last_attempt_at ? new Date(delivery.last_attempt_at) : null
  const why = explainFailure(delivery.last_error, delivery.last_status)
  const tried = count(delivery.attempts, 'attempt')
  switch (delivery.state) {
    case 'delivered':
      return fine('delivery', `${name} got the event after ${tried}.`, { at: last, details })
    case 'held':
      return wrong('delivery', `${name} is disabled, so the event is held.`, {
        at: delivery.held_since ? new Date(delivery.held_since) : null,
        remedy: enable(delivery.webhook_id),
        consoleRemedy: 'Fix the receiver, send a test event, then enable the webhook.',
        details,
      })
    case 'failed':
      return wrong('delivery', `${name} did not get the event after ${tried}. ${why?.title ?? ''}`.trim(), {
        at: last,
        remedy: `${why?.remedy ?? ''} Then run: ./parley delivery retry ${id} --webhook ${delivery.webhook_id}`.trim(),
        consoleRemedy: `${why?.remedy ?? ''} Then retry the delivery.`.trim(),
        details,
      })
    case 'retrying': {
      const next = delivery.next_attempt_at ? ` Next attempt: ${formatTime(new Date(delivery.next_attempt_at))}.` : ''
      const text = `${name} has not accepted the event after ${tried}. ${why?.title ?? ''}${next}`
      return dubious('delivery', text, { at: last, remedy: why?.remedy ?? null, details })
    }
    case 'pending': {
      const due = delivery.next_attempt_at
      if (due === null)
        return waiting('delivery', `${name}: the event is being sent, or waits for an earlier one.`, { details })
      if (now.getTime() - Date.parse(due) < firstLateMs) {
        return waiting('delivery', `${name}: the first attempt is about to begin.`, { details })
      }
      return wrong('delivery', `${name}: the event is due, and no process sends it.`, { remedy: noWorker, details })
    }
  }
}

const enable = (id: string): string =>
  `Fix the receiver, check it with "./parley webhook test ${id}", then run "./parley webhook enable ${id}".`

export type Endpoint = Awaited<ReturnType<typeof webhooksOf>>[number]

export interface EndpointFacts {
  endpoints: readonly Endpoint[]
  /** Open deliveries by endpoint: held and waiting. */
  openOf(id: string): number
  /** Other endpoints got the event. */
  isHeard: boolean
}

/** Which endpoints get the events of a type and a sender, and why the others do not. */
export function endpointStations(type: string, senderId: string | null, facts: EndpointFacts): Station[] {
  const stations = facts.endpoints.map((endpoint) => endpointStation(type, senderId, endpoint, facts))
  if (facts.isHeard || facts.endpoints.some((endpoint) => !leavesOut(endpoint, type, senderId))) return stations
  const [one] = facts.endpoints
  const text = `No webhook gets ${type}${senderId ? ' of this sender' : ''}.`
  const remedy = one
    ? `Run: ./parley webhook change ${withPrefix('whk', one.id)} ${[...new Set([...one.events, type])].map((each) => `--event ${each}`).join(' ')}`
    : `Create one: ./parley webhook create --workspace ID --name N --url URL --event ${type}`
  const consoleRemedy = one ? 'Change the events or the senders of a webhook.' : 'Create a webhook.'
  return [...stations, dubious('webhooks', text, { remedy, consoleRemedy })]
}

/** Why an endpoint does not get events of a type and a sender; null if it does. */
function leavesOut({ events, senders }: Endpoint, type: string, senderId: string | null): string | null {
  if (!events.includes(type)) return `is not subscribed to ${type}`
  if (senderId !== null && senders !== null && !senders.includes(senderId)) return 'is limited to other senders'
  return null
}

function endpointStation(
  type: string,
  senderId: string | null,
  endpoint: Endpoint,
  { openOf }: EndpointFacts,
): Station {
  const { id, name, url, enabled, failures, last_success_at: at } = endpoint
  const webhookId = withPrefix('whk', id)
  const details = [`${webhookId} ${url}`]
  const reason = leavesOut(endpoint, type, senderId)
  if (reason !== null) return fine('webhook', `Webhook "${name}" ${reason}.`, { details })
  if (enabled && failures < failingFrom) return fine('webhook', `Webhook "${name}" gets ${type}.`, { at, details })
  const text = `Webhook "${name}": ${describeEndpoint(endpoint, openOf(id))}${enabled ? '.' : ''}`
  const remedy = enabled
    ? `Fix the receiver, and check it with "./parley webhook test ${webhookId}".`
    : enable(webhookId)
  const consoleRemedy = `Fix the receiver and send a test event${enabled ? '' : ', then enable the webhook'}.`
  return (enabled ? dubious : wrong)('webhook', text, { at, remedy, consoleRemedy, details })
}
