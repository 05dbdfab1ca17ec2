import { type Alert, type AlertKind, alertEvents, alertKinds, alertPermission } from '@parley/contract/console/alerts'
import { can, type Role } from '@parley/contract/console/permissions'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { lastEvents } from '../deliveries/reading/events.ts'
import { timesOf } from '../mail/notifications.ts'
import { readMailChoices } from '../people/account/mail-choices.ts'
import { listEndpoints } from '../webhooks/endpoints.ts'

interface Viewer {
  db: Db
  clock: Clock
  workspaceId: string
  role: Role
  person: { personId: string; operator: boolean }
}

/** The kinds of alerts that the viewer's role may see: how each is sent, to whom, and when it was last sent. */
export async function listAlerts({ db, clock, workspaceId, role, person }: Viewer): Promise<Alert[]> {
  const kinds = alertKinds.filter((kind) => can(role, alertPermission(kind)))
  const types = Object.values(alertEvents).filter((type) => type !== null)
  const [choices, times, events, webhooks] = await Promise.all([
    readMailChoices(db, person, role),
    timesOf(db, workspaceId),
    lastEvents(db, workspaceId, types),
    can(role, 'webhooks:read') ? listEndpoints(db, clock, workspaceId) : null,
  ])
  return kinds.map((kind) => {
    const event = alertEvents[kind]
    return {
      kind,
      email: choices.find((each) => each.kind === kind)?.wanted ?? null,
      event,
      webhooks: webhooks?.filter(isSubscribedTo(event)).map(({ id, name, state }) => ({ id, name, state })) ?? null,
      ...lastOf(kind, times, events),
    }
  })
}

const isSubscribedTo =
  (event: string | null) =>
  ({ events }: { events: readonly string[] }): boolean =>
    event !== null && events.includes(event)

/** From the notification, or from the event if that is later: not each event has a notification. */
function lastOf(
  kind: AlertKind,
  times: Awaited<ReturnType<typeof timesOf>>,
  events: Awaited<ReturnType<typeof lastEvents>>,
): Pick<Alert, 'last_at' | 'last_subject'> {
  const noticed = times.find((each) => each.kind === kind)
  const published = events.find(({ type }) => type === alertEvents[kind])
  // An event is published moments after its notification was added.
  const isSame = noticed && (!published || published.at.getTime() - noticed.lastAt.getTime() < 60_000)
  const lastAt = isSame ? noticed.lastAt : published?.at
  return { last_at: lastAt?.toISOString() ?? null, last_subject: isSame ? noticed.subject : null }
}
