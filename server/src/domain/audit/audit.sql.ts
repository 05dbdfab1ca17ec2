import type { Db } from '../../db/db.ts'
import { oneWithOrderedLookups } from '../../db/planner-settings.ts'
import { insertion, statement } from '../../db/statement.ts'

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

export const insertEntry = insertion('audit_entries', {
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
})

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

/**
 * Newest first, after a cursor; of a workspace, or (null) of the installation and its people. Each filter has an index
 * that ends with the time, so at most one page is read for each value of a filter.
 */
export const auditPage = (
  db: Db,
  workspaceId: string | null,
  filter: AuditFilter,
  { after, take }: { after: { at: Date; id: string } | null; take: number },
): Promise<AuditRow[]> => {
  const entries = statement(
    {
      workspaceId: 'uuid',
      actors: 'text[]',
      actions: 'text[]',
      nouns: 'text[]',
      target: 'text',
      from: 'timestamptz',
      to: 'timestamptz',
      afterAt: 'timestamptz',
      afterId: 'uuid',
      take: 'int',
    },
    (values) => {
      const ofWorkspace = workspaceId === null ? 'workspace_id is null' : `workspace_id = ${values.workspaceId}`
      const conditions = [
        ofWorkspace,
        `at >= ${values.from} and at < ${values.to}`,
        after && `(at, id) < (${values.afterAt}, ${values.afterId})`,
        filter.target !== null && `target = ${values.target}`,
      ]
      const page = (...more: string[]) => `select ${columns} from audit_entries
        where ${[...conditions, ...more].filter(Boolean).join(' and ')} order by at desc, id desc limit ${values.take}`
      if (filter.actions) {
        return `${namedActions(ofWorkspace, values)}
          select entry.* from named cross join lateral (
            ${page('action = named.action', ...(filter.actors ? [`actor = any(${values.actors})`] : []))}
          ) as entry order by at desc, id desc limit ${values.take}`
      }
      if (filter.actors) {
        return `select entry.* from unnest(${values.actors}) as wanted (actor)
          cross join lateral (${page('actor = wanted.actor')}) as entry order by at desc, id desc limit ${values.take}`
      }
      return page()
    },
  )
  const values = {
    workspaceId,
    actors: [...new Set(filter.actors)],
    actions: filter.actions?.filter((action) => action.includes('.')) ?? [],
    nouns: filter.actions?.filter((action) => !action.includes('.')) ?? [],
    target: filter.target,
    from: filter.from ?? '-infinity',
    to: filter.to ?? 'infinity',
    afterAt: after?.at,
    afterId: after?.id,
    take,
  }
  return oneWithOrderedLookups(db, (tx) => entries.rows(tx, values))
}

const columns = `id, workspace_id, at, person_id, actor, action, target, target_name, before, after, address, user_agent`

/**
 * A CTE `named` with the actions to read: the given actions, and all actions of the given nouns. These are found one
 * after the other in the index, without reading their entries. `/` is the character after the dot.
 */
const namedActions = (ofWorkspace: string, { actions, nouns }: { actions: string; nouns: string }): string => {
  const next = (above: string) => `(select e.action from audit_entries e where e.${ofWorkspace} and ${above}
    and e.action ~<~ (noun || '/') order by e.action using ~<~ limit 1)`
  return `with recursive found (noun, action) as (
      select noun, ${next("e.action ~>=~ (noun || '.')")} from unnest(${nouns}) as wanted (noun)
      union
      select noun, ${next('e.action ~>~ found.action')} from found where found.action is not null
    ), named as (select unnest(${actions}) as action union select action from found where action is not null)`
}

/** The actors and actions to filter by, from the newest 5000 entries. */
export const facetsOf = (db: Db, workspaceId: string | null): Promise<{ actor: string; action: string }[]> =>
  db.rows(
    `select distinct actor, action from
       (select actor, action from audit_entries where ${workspaceId === null ? '$1::uuid is null and workspace_id is null' : 'workspace_id = $1'}
        order by at desc, id desc limit 5000) as newest
     order by 1, 2`,
    [workspaceId],
  )
