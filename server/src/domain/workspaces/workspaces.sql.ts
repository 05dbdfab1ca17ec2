import type { Db } from '../../db/db.ts'

export interface WorkspaceRow {
  id: string
  name: string
  created_at: Date
  suspended_at: Date | null
  suspended_reason: string | null
  low_balance: number
}

const columns = 'id, name, created_at, suspended_at, suspended_reason, low_balance'

export const insertWorkspace = (db: Db, id: string, name: string, at: Date): Promise<number> =>
  db.change('insert into workspaces (id, name, created_at) values ($1, $2, $3)', [id, name, at])

export const allWorkspaces = (db: Db): Promise<WorkspaceRow[]> =>
  db.rows(`select ${columns} from workspaces order by created_at, id`)

export const workspaceById = (db: Db, id: string): Promise<WorkspaceRow | undefined> =>
  db.first(`select ${columns} from workspaces where id = $1`, [id])

export const setSuspended = (db: Db, id: string, at: Date | null, reason: string | null): Promise<number> =>
  db.change('update workspaces set suspended_at = $2, suspended_reason = $3 where id = $1', [id, at, reason])

/** How many endpoints the workspace may have. Locks the workspace, so that endpoints are created one after another. */
export const lockEndpointsMax = async (db: Db, id: string): Promise<number | undefined> =>
  (await db.first<{ max: number }>('select endpoints_max as max from workspaces where id = $1 for no key update', [id]))
    ?.max

export const setEndpointsMax = (db: Db, id: string, max: number): Promise<number> =>
  db.change('update workspaces set endpoints_max = $2 where id = $1', [id, max])

/** The settings of a workspace, which its admins change. */
export interface Settings {
  id: string
  name: string
  requiresTwoFactor: boolean
  lowBalance: number
  requestInspector: boolean
  createdAt: Date
}

/** With `for update`, the settings are locked until the transaction ends. */
export const settingsOf = (db: Db, id: string, lock: '' | 'for update' = '') =>
  db.first<Settings>(
    `select id, name, requires_two_factor as "requiresTwoFactor", low_balance as "lowBalance",
       inspects_requests as "requestInspector", created_at as "createdAt"
     from workspaces where id = $1 ${lock}`,
    [id],
  )

export const updateSettings = (db: Db, id: string, changed: Omit<Settings, 'id' | 'createdAt'>): Promise<number> =>
  db.change(
    'update workspaces set name = $2, requires_two_factor = $3, low_balance = $4, inspects_requests = $5 where id = $1',
    [id, changed.name, changed.requiresTwoFactor, changed.lowBalance, changed.requestInspector],
  )
