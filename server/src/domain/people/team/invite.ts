import type { Role } from '@parley/contract/console/permissions'
import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { refuse } from '../../../lib/refuse.ts'
import { requireWorkspace } from '../../workspaces/workspaces.ts'
import { invite, linkLifetimeMs, listInvites } from '../links/links.ts'
import { readEmail } from '../people.ts'
import { listMembers } from './members.ts'

export interface Invitation {
  /** ID of the invitation in the team's list. */
  id: string | null
  email: string
  workspaceName: string
  token: string
  expiresAt: Date
}

/** Invites an email address to a workspace, unless it is a member already. */
export async function inviteToTeam(
  db: Db,
  clock: Clock,
  input: { workspaceId: string; email: string; role: Role; createdBy: string; mailed?: boolean },
): Promise<Invitation> {
  const { workspaceId } = input
  const { name: workspaceName } = await requireWorkspace(db, workspaceId)
  const email = readEmail(input.email)
  if ((await listMembers(db, workspaceId)).some((member) => member.email === email)) {
    refuse('conflict', { message: `${email} is already a member of this workspace.`, param: 'email' })
  }
  const token = await invite(db, clock, { ...input, email })
  const listed = (await listInvites(db, clock, workspaceId)).find((each) => each.email === email)
  const expiresAt = listed?.expires_at ?? new Date(clock.now().getTime() + linkLifetimeMs.invite)
  return { id: listed?.id ?? null, email, workspaceName, token, expiresAt }
}
