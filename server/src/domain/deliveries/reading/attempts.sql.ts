import type { Db } from '../../../db/db.ts'
import type { Trigger } from '../../../lib/first-attempts.ts'

export interface KeptAttempt {
  at: Date
  eventId: string
  number: number
  trigger: Trigger
  state: 'delivered' | 'failed' | 'retrying'
  address: string | null
  status: number | null
  error: string | null
  answer: Buffer
  durationUs: number
}

const columns = `at, event_id as "eventId", number, trigger, state, address, status, error, answer, duration_us as "durationUs"`

/** Where a page ended. */
export type Place = Pick<KeptAttempt, 'at' | 'eventId' | 'number'>

/** A page of an endpoint's attempts, the newest first: one read of the index on (webhook_id, at, event_id). */
export const attemptsPage = (
  db: Db,
  wish: { workspaceId: string; webhookId: string; before: Place | null; limit: number },
): Promise<KeptAttempt[]> =>
  db.rows(
    `select ${columns} from delivery_attempts
     where webhook_id = $1 and workspace_id = $2 and at <= $3 and (at < $3 or (event_id, number) > ($4, $5))
     order by at desc, event_id, number limit $6`,
    [
      wish.webhookId,
      wish.workspaceId,
      wish.before?.at ?? 'infinity',
      wish.before?.eventId ?? '00000000-0000-0000-0000-000000000000',
      wish.before?.number ?? 0,
      wish.limit,
    ],
  )
