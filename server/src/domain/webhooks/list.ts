import type { ConsoleWebhook, WebhookFilters } from '@parley/contract/console/webhooks'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { exportAll } from '../../lib/csv-export.ts'
import { hasText, isBetween, isOneOf } from '../../lib/list-filters.ts'
import { listEndpoints } from './endpoints.ts'

/** The endpoints that match. The URL may contain a secret path, but everyone who reads the list sees it there too. */
export const filterEndpoints = async (
  db: Db,
  clock: Clock,
  workspaceId: string,
  { q, state, from, to }: WebhookFilters,
): Promise<ConsoleWebhook[]> =>
  (await listEndpoints(db, clock, workspaceId)).filter(
    (webhook) =>
      hasText(q, webhook.name, webhook.url, webhook.id) &&
      isOneOf(state, webhook.state) &&
      isBetween(webhook.created_at, from, to),
  )

export const exportEndpoints = (
  db: Db,
  clock: Clock,
  workspaceId: string,
  filters: WebhookFilters,
): AsyncIterable<string> =>
  exportAll({
    head: [
      ...['id', 'name', 'url', 'state', 'events', 'created_at', 'attempts_24h', 'succeeded_24h', 'p95_ms', 'held'],
      'last_attempt_at',
    ],
    rows: () => filterEndpoints(db, clock, workspaceId, filters),
    toLine: ({ id, name, url, state, events, created_at, recent, held, last_attempt_at }) => [
      ...[id, name, url, state, events.join(' '), created_at, recent.attempts, recent.succeeded, recent.p95_ms],
      ...[held.count, last_attempt_at],
    ],
  })
