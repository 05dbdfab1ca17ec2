import type { Role } from '@parley/contract/console/permissions'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { refuse } from '../../lib/refuse.ts'
import { requireWorkspace } from '../workspaces/workspaces.ts'
import { invite, linkLifeMs, listInvites } from './links.ts'
import { listMembers } from './members.ts'
import { readEmail } from './people.ts'

export interface Invited {
  /** Of the invitation, as the team sees it. */
  id: string | null
  email: string
  workspaceName: string
  token: string
  expiresAt: Date
}

/** Asks one address into a workspace, unless it belongs there already. */
export async function inviteToTeam(
  db: Db,
  clock: Clock,
  input: { workspaceId: string; email: string; role: Role; createdBy: string },
): Promise<Invited> {
  const { workspaceId } = input
  const { name: workspaceName } = await requireWorkspace(db, workspaceId)
  const email = readEmail(input.email)
  if ((await listMembers(db, workspaceId)).some((member) => member.email === email)) {
    refuse('conflict', { message: `${email} belongs to this workspace already.`, param: 'email' })
  }
  const token = await invite(db, clock, { ...input, email })
  const mine = (await listInvites(db, clock, workspaceId)).find((each) => each.email === email)
  const expiresAt = mine?.expires_at ?? new Date(clock.now().getTime() + linkLifeMs.invite)
  return { id: mine?.id ?? null, email, workspaceName, token, expiresAt }
}
