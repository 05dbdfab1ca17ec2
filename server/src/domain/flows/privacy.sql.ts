import type { Db } from '../../db/db.ts'

/** Removes the answers of the submissions in these messages. Returns the submissions that had some. */
export const removeResponses = (db: Db, messageIds: readonly string[], now: Date): Promise<{ id: string }[]> =>
  db.rows(
    `update flow_responses set response = '{}', content_removed_at = $2
     where message_id = any($1::uuid[]) and content_removed_at is null returning id`,
    [messageIds, now],
  )

/** They also lose who submitted them, and the token, which may identify the person. */
export const eraseResponses = (
  db: Db,
  workspaceId: string,
  messageIds: readonly string[],
  now: Date,
): Promise<{ id: string }[]> =>
  db.rows(
    `update flow_responses set response = '{}', content_removed_at = coalesce(content_removed_at, $3), sent_by = null,
       sent_by_user_id = null, flow_token = null
     where workspace_id = $1 and message_id = any($2::uuid[]) returning id`,
    [workspaceId, messageIds, now],
  )

/** The tokens of the forms in these sent messages, with their recipients. */
export const deleteTokens = (db: Db, workspaceId: string, messageIds: readonly string[]): Promise<number> =>
  db.change('delete from flow_tokens where workspace_id = $1 and message_id = any($2::uuid[])', [
    workspaceId,
    messageIds,
  ])
