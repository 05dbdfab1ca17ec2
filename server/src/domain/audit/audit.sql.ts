import type { Db } from '../../db/db.ts'

export interface AuditRow {
  id: string
  workspace_id: string | null
  at: Date
  person_id: string | null
  actor: string
  action: string
  target: string | null
  target_name: string | null
  before: unknown
  after: unknown
  address: string | null
  user_agent: string | null
}

export const insertEntry = (db: Db, row: AuditRow): Promise<number> =>
  db.change(
    `insert into audit_entries
       (id, workspace_id, at, person_id, actor, action, target, target_name, before, after, address, user_agent)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      row.id,
      row.workspace_id,
      row.at,
      row.person_id,
      row.actor,
      row.action,
      row.target,
      row.target_name,
      json(row.before),
      json(row.after),
      row.address,
      row.user_agent,
    ],
  )

const json = (value: unknown): string | null => (value === undefined || value === null ? null : JSON.stringify(value))

export interface AuditFilter {
  actor: string | null
  action: string | null
  target: string | null
}

/** Newest first, after a mark; of a workspace, or (null) of the installation and its people. */
export const entriesOf = (
  db: Db,
  workspaceId: string | null,
  filter: AuditFilter,
  after: { at: Date; id: string } | null,
  take: number,
): Promise<AuditRow[]> =>
  db.rows(
    `select id, workspace_id, at, person_id, actor, action, target, target_name, before, after, address, user_agent
     from audit_entries
     where ${workspaceId === null ? '$1::uuid is null and workspace_id is null' : 'workspace_id = $1'}
       and ($2::text is null or actor = $2) and ($3::text is null or action = $3 or action like $3 || '.%')
       and ($4::text is null or target = $4)
       and ${after ? '(at, id) < ($5::timestamptz, $6::uuid)' : '$5::timestamptz is null and $6::uuid is null'}
     order by at desc, id desc limit $7`,
    [workspaceId, filter.actor, filter.action, filter.target, after?.at ?? null, after?.id ?? null, take],
  )

/** Who and what there is to filter by, as far as the newest entries go. */
export const facetsOf = (db: Db, workspaceId: string): Promise<{ actor: string; action: string }[]> =>
  db.rows(
    `select distinct actor, action from
       (select actor, action from audit_entries where workspace_id = $1 order by at desc, id desc limit 5000) as newest
     order by 1, 2`,
    [workspaceId],
  )
