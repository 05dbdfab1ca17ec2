import type { Db } from '../../../db/db.ts'
import { statement } from '../../../db/statement.ts'
import type { AttemptRecord } from '../engine/attempt/record-attempts.sql.ts'

export const attemptColumns = `at, event_id as "eventId", number, trigger, state, address, status, error, answer,
  response_headers as "responseHeaders", signatures, duration_us as "durationUs"`

/** The position of the last attempt of a page. */
export type Cursor = Pick<AttemptRecord, 'at' | 'eventId' | 'number'>

const page = statement(
  {
    workspaceId: 'uuid',
    webhookId: 'uuid',
    beforeAt: 'timestamptz',
    beforeEvent: 'uuid',
    beforeNumber: 'smallint',
    limit: 'int',
  },
  ({ workspaceId, webhookId, beforeAt, beforeEvent, beforeNumber, limit }) =>
    `select ${attemptColumns} from delivery_attempts
     where webhook_id = ${webhookId} and workspace_id = ${workspaceId} and at <= ${beforeAt}
       and (at < ${beforeAt} or (event_id, number) > (${beforeEvent}, ${beforeNumber}))
     order by at desc, event_id, number limit ${limit}`,
)

/** A page of an endpoint's attempts, newest first, by one scan of the index on (webhook_id, at, event_id). */
export const attemptsPage = (
  db: Db,
  { before, ...input }: { workspaceId: string; webhookId: string; before: Cursor | null; limit: number },
): Promise<AttemptRecord[]> =>
  page.rows(db, {
    ...input,
    beforeAt: before?.at ?? 'infinity',
    beforeEvent: before?.eventId ?? '00000000-0000-0000-0000-000000000000',
    beforeNumber: before?.number ?? 0,
  })
