import type { Role } from '@parley/contract/console/permissions'
import type { LinkKind } from '@parley/contract/console/session'
import type { Db } from '../../db/db.ts'
import { insertion } from '../../db/statement.ts'

export interface LinkRow {
  id: string
  kind: LinkKind
  email: string | null
  person_id: string | null
  workspace_id: string | null
  role: Role | null
  operator: boolean
  /** It was sent by email and shown to no one. */
  mailed: boolean
  created_by: string
  created_at: Date
  expires_at: Date
}

const columns =
  'l.id, l.kind, l.email, l.person_id, l.workspace_id, l.role, l.operator, l.mailed, l.created_by, l.created_at, l.expires_at'

export const insertLink = insertion('links', {
  id: 'uuid',
  digest: 'bytea',
  kind: 'text',
  email: 'text',
  person_id: 'uuid',
  workspace_id: 'uuid',
  role: 'text',
  operator: 'bool',
  mailed: 'bool',
  created_by: 'text',
  created_at: 'timestamptz',
  expires_at: 'timestamptz',
})

export interface OpenLink extends LinkRow {
  workspace_name: string | null
  person_email: string | null
}

const openLink = `select ${columns}, w.name as workspace_name, p.email as person_email
     from links l left join workspaces w on w.id = l.workspace_id left join people p on p.id = l.person_id
     where l.used_at is null and p.disabled_at is null`

export const findOpenLink = (db: Db, digest: Buffer, now: Date): Promise<OpenLink | undefined> =>
  db.first(`${openLink} and l.digest = $1 and l.expires_at > $2`, [digest, now])

export const findOpenLinkById = (db: Db, id: string, now: Date): Promise<OpenLink | undefined> =>
  db.first(`${openLink} and l.id = $1 and l.expires_at > $2`, [id, now])

/** True if this call used it: of concurrent calls, only one gets true. */
export const useLink = async (db: Db, id: string, now: Date): Promise<boolean> =>
  (await db.change('update links set used_at = $2 where id = $1 and used_at is null', [id, now])) === 1

export const openInvites = (db: Db, workspaceId: string, now: Date): Promise<LinkRow[]> =>
  db.rows(
    `select ${columns} from links l where l.workspace_id = $1 and l.kind = 'invite' and l.used_at is null
       and l.expires_at > $2 order by l.created_at desc, l.id desc`,
    [workspaceId, now],
  )

export const invitesWithoutAccount = (db: Db, now: Date) =>
  db.rows<{ email: string; created_at: Date; workspace_id: string; workspace: string; role: string }>(
    `select l.email, l.created_at, l.workspace_id, w.name as workspace, l.role
     from links l join workspaces w on w.id = l.workspace_id
     where l.kind = 'invite' and l.used_at is null and l.expires_at > $1
       and not exists (select from people p where p.email = l.email)
     order by l.created_at, l.id`,
    [now],
  )

/** Ends older links of this kind for the email address and the workspace. */
export const endLinks = (db: Db, kind: LinkKind, email: string | null, workspaceId: string | null, now: Date) =>
  db.change(
    `update links set used_at = $4 where kind = $1 and used_at is null and email is not distinct from $2
       and workspace_id is not distinct from $3::uuid`,
    [kind, email, workspaceId, now],
  )

export const endResets = (db: Db, personId: string, now: Date): Promise<number> =>
  db.change(`update links set used_at = $2 where kind = 'reset' and person_id = $1 and used_at is null`, [
    personId,
    now,
  ])

export const withdrawInvite = (db: Db, workspaceId: string, id: string, now: Date): Promise<LinkRow | undefined> =>
  db.first(
    `update links l set used_at = $3 where l.workspace_id = $1 and l.id = $2 and l.kind = 'invite' and l.used_at is null
     returning ${columns}`,
    [workspaceId, id, now],
  )
