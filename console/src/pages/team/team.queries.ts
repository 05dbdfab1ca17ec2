import type { Role } from '@parley/contract/console/permissions'
import type { HandedLink, Team } from '@parley/contract/console/team'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { useLive } from '../../lib/live.ts'
import { useHere } from '../../lib/session.ts'

export function useTeam() {
  const here = useHere()
  const path = here.api('team')
  useLive(here.id, ['team'], [[path]])
  return useQuery({ queryKey: [path], queryFn: ({ signal }) => api<Team>(path, { signal }) })
}

/** What can be done with a team; each asks for the team anew. */
export function useTeamDeeds() {
  const here = useHere()
  const client = useQueryClient()
  const renewed = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
    const given = await answer
    await client.invalidateQueries({ queryKey: [here.api('team')] })
    return given
  }
  return {
    invite: (email: string, role: Role) =>
      renewed(api<HandedLink>(here.api('team/invites'), { method: 'POST', body: { email, role } })),
    withdraw: (id: string) => renewed(api(here.api(`team/invites/${id}`), { method: 'DELETE' })),
    changeRole: (id: string, role: Role) =>
      renewed(api(here.api(`team/members/${id}`), { method: 'PATCH', body: { role } })),
    remove: (id: string) => renewed(api(here.api(`team/members/${id}`), { method: 'DELETE' })),
    leave: () => api(here.api('team/leave'), { method: 'POST' }),
  }
}
