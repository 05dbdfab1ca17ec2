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

/** Null: no filter. */
export interface AuditFilter {
  /** One of these. */
  actors: readonly string[] | null
  /** One of these actions, or an action of one of these nouns. */
  actions: readonly string[] | null
  target: string | null
  from: Date | null
  to: Date | null
}

/** Newest first, after a cursor; of a workspace, or (null) of the installation and its people. */
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
      actors: 'text[]',
      actions: 'text[]',
      target: 'text',
      from: 'timestamptz',
      to: 'timestamptz',
      afterAt: 'timestamptz',
      afterId: 'uuid',
      take: 'int',
    },
    (values) => `select id, workspace_id, at, person_id, actor, action, target, target_name, before, after, address,
       user_agent
     from audit_entries
     where ${workspaceId === null ? 'workspace_id is null' : `workspace_id = ${values.workspaceId}`}
       and at >= ${values.from} and at < ${values.to}
       ${filter.actors ? `and actor = any(${values.actors})` : ''}
       ${filter.actions ? `and (action = any(${values.actions}) or split_part(action, '.', 1) = any(${values.actions}))` : ''}
       and (${values.target} is null or target = ${values.target})
       ${after ? `and (at, id) < (${values.afterAt}, ${values.afterId})` : ''}
     order by at desc, id desc limit ${values.take}`,
  ).rows(db, {
    workspaceId,
    actors: filter.actors ?? [],
    actions: filter.actions ?? [],
    target: filter.target,
    from: filter.from ?? '-infinity',
    to: filter.to ?? 'infinity',
    afterAt: after?.at,
    afterId: after?.id,
    take,
  })

/** The actors and actions to filter by, from the newest 5000 entries. */
export const facetsOf = (db: Db, workspaceId: string | null): Promise<{ actor: string; action: string }[]> =>
  db.rows(
    `select distinct actor, action from
       (select actor, action from audit_entries where ${workspaceId === null ? '$1::uuid is null and workspace_id is null' : 'workspace_id = $1'}
        order by at desc, id desc limit 5000) as newest
     order by 1, 2`,
    [workspaceId],
  )
