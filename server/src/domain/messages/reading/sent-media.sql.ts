import type { Db } from '../../../db/db.ts'

/** The uploaded files that sent messages contain, as UUIDs. None for a link, and after the content was removed. */
export const uploadsIn = (
  db: Db,
  workspaceId: string,
  messageIds: readonly string[],
): Promise<{ id: string; upload: string }[]> =>
  db.rows(
    `select id, content -> 'uploads' ->> 0 as upload from messages
     where workspace_id = $1 and id = any($2::uuid[]) and content_removed_at is null
       and content -> 'uploads' ->> 0 is not null`,
    [workspaceId, messageIds],
  )
