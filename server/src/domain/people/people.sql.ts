import type { Db } from '../../db/db.ts'
import { insertion } from '../../db/statement.ts'

export interface PersonRow {
  id: string
  email: string
  name: string
  password_hash: string | null
  operator: boolean
  totp_sealed: string | null
  totp_confirmed_at: Date | null
  totp_last_step: number | null
  created_at: Date
  /** Null: someone else may have set the password, because the link was not sent to the address. */
  email_verified_at: Date | null
  /** Set by an operator: the person cannot sign in. */
  disabled_at: Date | null
}

const columns =
  'id, email, name, password_hash, operator, totp_sealed, totp_confirmed_at, totp_last_step, created_at, email_verified_at, disabled_at' as const

export const insertPerson = insertion(
  'people',
  {
    id: 'uuid',
    email: 'text',
    name: 'text',
    password_hash: 'text',
    operator: 'bool',
    created_at: 'timestamptz',
    email_verified_at: 'timestamptz',
  },
  'on conflict (email) do nothing',
)

export const personById = (db: Db, id: string, lock: '' | 'for key share' | 'for update' = '') =>
  db.first<PersonRow>(`select ${columns} from people where id = $1 ${lock}`, [id])

export const personByEmail = (db: Db, email: string): Promise<PersonRow | undefined> =>
  db.first(`select ${columns} from people where email = $1`, [email])

export const namesById = (db: Db, ids: readonly string[]): Promise<{ id: string; name: string }[]> =>
  db.rows('select id, name from people where id = any($1::uuid[])', [ids])

/** Whether there is at least one account. */
export const hasPeople = async (db: Db): Promise<boolean> =>
  (await db.first('select 1 as one from people limit 1')) !== undefined

export interface ListedPerson extends PersonRow {
  passkeys: { id: string; name: string; created_at: string }[]
  memberships: { workspace_id: string; workspace: string; role: string }[]
  last_seen_at: Date | null
}

export const allPeople = (db: Db): Promise<ListedPerson[]> =>
  db.rows(
    `select ${columns},
       (select max(last_seen_at) from sessions where person_id = people.id) as last_seen_at,
       coalesce((select json_agg(json_build_object('id', k.id, 'name', k.name, 'created_at', k.created_at)
           order by k.created_at, k.id)
         from passkeys k where k.person_id = people.id), '[]') as passkeys,
       coalesce((select json_agg(json_build_object('workspace_id', m.workspace_id, 'workspace', w.name, 'role', m.role)
           order by m.created_at)
         from memberships m join workspaces w on w.id = m.workspace_id where m.person_id = people.id), '[]') as memberships
     from people order by created_at, id`,
  )

export const timeZoneOf = async (db: Db, id: string): Promise<string | null> =>
  (await db.first<{ time_zone: string | null }>('select time_zone from people where id = $1', [id]))?.time_zone ?? null

interface Changeable
  extends Pick<PersonRow, 'name' | 'password_hash' | 'operator' | 'email_verified_at' | 'disabled_at'> {
  /** Null: the zone of the browser. */
  time_zone: string | null
}

export const setPerson = <Column extends keyof Changeable>(
  db: Db,
  id: string,
  column: Column,
  value: Changeable[Column],
): Promise<number> => db.change(`update people set ${column} = $2 where id = $1`, [id, value])

/** The operators who can sign in. No other transaction changes them until this one ends. */
export const lockOperators = (db: Db): Promise<{ id: string; email: string }[]> =>
  db.rows('select id, email from people where operator and disabled_at is null order by id for no key update')
