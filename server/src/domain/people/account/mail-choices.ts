/** Which emails people want. Without a choice of theirs, their role decides. */
import {
  audienceOf,
  type MailChoice,
  type NotificationKind,
  notificationKinds,
} from '@parley/contract/console/notifications'
import type { Role } from '@parley/contract/console/permissions'
import type { Db } from '../../../db/db.ts'
import { refuseParam } from '../../../lib/refuse.ts'
import { listMemberships } from '../team/members.ts'
import { choicesOf, disabledAddresses, upsertChoice, wantingAddresses } from './mail-choices.sql.ts'

interface Who {
  personId: string
  operator: boolean
}

/** The notifications that a person may get, and whether they do: in all of their workspaces, or in one with this role. */
export async function readMailChoices(db: Db, { personId, operator }: Who, role?: Role): Promise<MailChoice[]> {
  const own = role ? [role] : (await listMemberships(db, personId)).map((each) => each.role)
  const chosen = new Map((await choicesOf(db, personId)).map(({ kind, wanted }) => [kind, wanted]))
  return notificationKinds.flatMap((kind) => {
    const { roles, byDefault, operators } = audienceOf(kind)
    const isOperators = operators && operator
    if (!isOperators && !own.some((role) => roles.includes(role))) return []
    return [{ kind, wanted: chosen.get(kind) ?? (isOperators || own.some((role) => byDefault.includes(role))) }]
  })
}

export async function changeMailChoice(db: Db, who: Who, { kind, wanted }: MailChoice): Promise<MailChoice[]> {
  const may = await readMailChoices(db, who)
  if (!may.some((each) => each.kind === kind)) {
    refuseParam('kind', 'invalid', 'None of your roles gets this notification.')
  }
  await upsertChoice(db, who.personId, kind, wanted)
  return readMailChoices(db, who)
}

/** The email addresses that a notification about a workspace goes to. */
export async function recipientsOf(db: Db, workspaceId: string, kind: NotificationKind): Promise<string[]> {
  const rows = await wantingAddresses(db, workspaceId, kind, audienceOf(kind))
  return rows.map(({ email }) => email)
}

/** Those of the email addresses that get no emails, because an operator disabled their account. */
export async function findDisabled(db: Db, emails: readonly string[]): Promise<Set<string>> {
  return new Set((await disabledAddresses(db, emails)).map(({ email }) => email))
}
