import type { Role } from '@parley/contract/console/permissions'
import type { CreatedLink, Member, Team } from '@parley/contract/console/team'
import type { Send } from '../../lib/api.ts'
import { useData } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { roles } from './role-choice.tsx'

export const useTeam = () => useData<Team>(useHere().api('team'), { topics: ['team'] })

/** An action on the team. Refetches the team and the session, which holds your own role. */
function useTeamAction<Input = void, Result = unknown>(
  perform: (send: Send, team: string, input: Input) => Promise<Result>,
  done?: (result: Result, input: Input) => string,
) {
  const team = useHere().api('team')
  return useAction((send, input: Input) => perform(send, team, input), {
    refetch: [team, 'session'],
    ...(done ? { done } : {}),
  })
}

interface NewInvite {
  email: string
  role: Role
}

export const useInvite = () =>
  useTeamAction((send, team, invite: NewInvite) => send<CreatedLink>('POST', `${team}/invites`, invite))

export const useWithdrawInvite = () =>
  useTeamAction(
    (send, team, id: string) => send('DELETE', `${team}/invites/${id}`),
    () => 'Invitation withdrawn',
  )

export const useChangeRole = (member: Member) =>
  useTeamAction(
    (send, team, role: Role) => send('PATCH', `${team}/members/${member.id}`, { role }),
    (_, role) => `${member.name} is now ${role === 'admin' ? 'an' : 'a'} ${roles[role].title.toLowerCase()}`,
  )

export const useRemoveMember = () =>
  useTeamAction(
    (send, team, member: Member) => send('DELETE', `${team}/members/${member.id}`),
    (_, member) => `${member.name} removed`,
  )
