import type { Db } from '../../db/db.ts'
import { statement } from '../../db/statement.ts'

export interface AuditRow {
  id: string
  workspace_id: string | null
  at: Date
  person_id: string | null
  actor: string
  action: string
  target: string | null
  target_name: string | null
  before: object | null
  after: object | null
  address: string | null
  user_agent: string | null
}

const insertion = statement(
  {
    entry: {
      id: 'uuid',
      workspace_id: 'uuid',
      at: 'timestamptz',
      person_id: 'uuid',
      actor: 'text',
      action: 'text',
      target: 'text',
      target_name: 'text',
      before: 'json',
      after: 'json',
      address: 'text',
      user_agent: 'text',
    },
  },
  ({ entry }) => `insert into audit_entries (${entry.columns}) select * from ${entry}`,
)

export const insertEntry = (db: Db, entry: AuditRow): Promise<number> => insertion.change(db, { entry: [entry] })

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
  statement(
    {
      workspaceId: 'uuid',
      actor: 'text',
      action: 'text',
      target: 'text',
      afterAt: 'timestamptz',
      afterId: 'uuid',
      take: 'int',
    },
    (the) => `select id, workspace_id, at, person_id, actor, action, target, target_name, before, after, address,
       user_agent
     from audit_entries
     where ${workspaceId === null ? 'workspace_id is null' : `workspace_id = ${the.workspaceId}`}
       and (${the.actor} is null or actor = ${the.actor})
       and (${the.action} is null or action = ${the.action} or action like ${the.action} || '.%')
       and (${the.target} is null or target = ${the.target})
       ${after ? `and (at, id) < (${the.afterAt}, ${the.afterId})` : ''}
     order by at desc, id desc limit ${the.take}`,
  ).rows(db, { workspaceId, ...filter, afterAt: after?.at, afterId: after?.id, take })

/** Who and what there is to filter by, as far as the newest entries go. */
export const facetsOf = (db: Db, workspaceId: string): Promise<{ actor: string; action: string }[]> =>
  db.rows(
    `select distinct actor, action from
       (select actor, action from audit_entries where workspace_id = $1 order by at desc, id desc limit 5000) as newest
     order by 1, 2`,
    [workspaceId],
  )
