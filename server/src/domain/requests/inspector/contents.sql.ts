import type { Db } from '../../../db/db.ts'

export interface ContentsRow {
  target: string
  request: string | null
  request_state: string | null
  response: string | null
  response_state: string | null
}

/** The error response, if one is stored. The time of the request names the partition. */
export const errorOf = (db: Db, workspaceId: string, requestId: string, at: Date) =>
  db.first<Pick<ContentsRow, 'target' | 'response' | 'response_state'>>(
    `select target, response, response_state from request_errors
     where workspace_id = $1 and request_id = $2 and at = $3 limit 1`,
    [workspaceId, requestId, at],
  )

/** The field errors of requests of a time, as far as their responses are stored. */
export const fieldErrorsOf = (
  db: Db,
  workspaceId: string,
  requestIds: readonly string[],
  { from, to }: { from: Date; to: Date },
) =>
  db.rows<{ requestId: string; param: string; code: string }>(
    `select e.request_id as "requestId", f.error ->> 'param' as param, f.error ->> 'code' as code
     from request_errors e, jsonb_array_elements(e.response::jsonb #> '{error,errors}') as f(error)
     where e.workspace_id = $1 and e.request_id = any($2::uuid[]) and e.at >= $3 and e.at < $4`,
    [workspaceId, requestIds, from, to],
  )

/** The bodies of requests since a time, if they are stored and not about to be deleted. */
export const bodiesOfRequests = (db: Db, workspaceId: string, requestIds: readonly string[], since: Date) =>
  db.rows<ContentsRow & { requestId: string }>(
    `select request_id as "requestId", target, request, request_state, response, response_state from request_bodies b
     where workspace_id = $1 and request_id = any($2::uuid[]) and at >= $3 and not exists (
       select from request_body_removals r where r.workspace_id = b.workspace_id and b.at <= r.until)`,
    [workspaceId, requestIds, since],
  )

export const deleteBodiesOfRequests = (db: Db, workspaceId: string, requestIds: readonly string[], since: Date) =>
  db.change('delete from request_bodies where workspace_id = $1 and request_id = any($2::uuid[]) and at >= $3', [
    workspaceId,
    requestIds,
    since,
  ])

/** From now on the bodies up to this time are not shown. */
export const insertRemoval = (db: Db, workspaceId: string, until: Date): Promise<number> =>
  db.change(
    `insert into request_body_removals (workspace_id, until) values ($1, $2)
     on conflict (workspace_id) do update set until = greatest(request_body_removals.until, excluded.until)`,
    [workspaceId, until],
  )

export interface Removal {
  workspaceId: string
  until: Date
}

export const removalsDue = (db: Db): Promise<Removal[]> =>
  db.rows('select workspace_id as "workspaceId", until from request_body_removals order by until limit 100')

/** Deletes some of the bodies up to that time, and returns how many. */
export const deleteBodies = (db: Db, { workspaceId, until }: Removal, take: number): Promise<number> =>
  db.change(
    `delete from request_bodies where workspace_id = $1 and at <= $2 and request_id = any(array(
       select request_id from request_bodies where workspace_id = $1 and at <= $2 limit $3))`,
    [workspaceId, until, take],
  )

export const deleteRemoval = (db: Db, { workspaceId, until }: Removal): Promise<number> =>
  db.change('delete from request_body_removals where workspace_id = $1 and until = $2', [workspaceId, until])
