import type { Attempt, DeliveryDetail } from '@parley/contract/console/deliveries'
import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { withPrefix } from '../../../lib/ids.ts'
import { refuse } from '../../../lib/refuse.ts'
import { requireEndpoint } from '../endpoint.ts'
import type { AttemptRecord } from '../engine/attempt/record-attempts.sql.ts'
import { attemptsMaxOf, upcomingAttempts } from '../engine/attempt/retry-policy.ts'
import { attemptsOfDelivery, type DetailRow, deliveryOf } from './detail.sql.ts'
import { explainFailure } from './explain-failure.ts'

/** Only this much of a response body is stored. */
const responseMax = 16 * 1024

/** A delivery with its body, its attempts and the attempts to come. */
export async function getDelivery(
  db: Db,
  clock: Clock,
  workspaceId: string,
  { event, webhook: id }: { event: string; webhook: string },
): Promise<DeliveryDetail> {
  const endpoint = await requireEndpoint(db, id, workspaceId)
  const { uuid } = endpoint
  const [row, attempts] = await Promise.all([
    deliveryOf(db, workspaceId, uuid, event),
    attemptsOfDelivery(db, workspaceId, uuid, event),
  ])
  const last = attempts.at(-1)
  const createdAt = row?.createdAt ?? last?.eventCreatedAt
  // The event may exist without a delivery to this endpoint.
  if (!row?.state || !createdAt) return refuse('not_found')
  const body = row.body?.toString() ?? null
  const underWay = row.attempts !== null && row.leased
  return {
    event_id: event,
    webhook_id: withPrefix('whk', uuid),
    webhook_name: endpoint.name,
    webhook_url: endpoint.url,
    webhook_enabled: endpoint.enabled,
    custom_headers: endpoint.headerNames,
    disabled_reason: endpoint.disabledReason,
    event_type: row.type,
    state: row.state,
    created_at: createdAt.toISOString(),
    attempts: attempts.length,
    attempt: row.attempts ?? last?.number ?? 0,
    attempts_max: attemptsMaxOf(row.type),
    last_attempt_at: last?.at.toISOString() ?? null,
    last_status: last?.status ?? null,
    last_error: last?.error ?? null,
    last_duration_ms: last ? last.durationUs / 1000 : null,
    next_attempt_at: row.leased ? null : (row.dueAt?.toISOString() ?? null),
    held_since: row.heldSince?.toISOString() ?? null,
    body,
    message_id: messageOf(body),
    under_way: underWay,
    waits_for: row.waitsFor,
    tries: attempts.map(toAttempt),
    ahead: upcomingOf(row, clock.now()),
  }
}

function upcomingOf({ type, attempts, dueAt, leased }: DetailRow, now: Date): DeliveryDetail['ahead'] {
  if (attempts === null || dueAt === null) return []
  const [current, ...rest] = upcomingAttempts(type, attempts + 1, leased || dueAt < now ? now : dueAt)
  const upcoming = leased || !current ? rest : [current, ...rest]
  return upcoming.map(({ number, at }) => ({ number, at: at.toISOString() }))
}

const toAttempt = (attempt: AttemptRecord): Attempt => ({
  at: attempt.at.toISOString(),
  number: attempt.number,
  trigger: attempt.trigger,
  state: attempt.state,
  address: attempt.address,
  status: attempt.status,
  error: attempt.error,
  trouble: explainFailure(attempt.error, attempt.status),
  response_body: attempt.answer.toString(),
  response_body_bytes: attempt.answer.length,
  response_body_cut: attempt.answer.length >= responseMax,
  response_headers: attempt.responseHeaders,
  signatures: signaturesOf(attempt),
  duration_ms: attempt.durationUs / 1000,
})

function signaturesOf({ signatures }: AttemptRecord): Attempt['signatures'] {
  const [service = '', webhook = ''] = signatures.split('\n')
  return { service_signature: service, webhook_signature: webhook }
}

/** The message that an event is about. Test events have none, or the ID of a message that does not exist. */
function messageOf(body: string | null): string | null {
  if (body === null) return null
  const { data } = JSON.parse(body) as { data?: { message_id?: unknown; test?: unknown } }
  return typeof data?.message_id === 'string' && data.test !== true ? data.message_id : null
}
