import { can, type Permission } from '@parley/contract/console/permissions'
import type { SessionReply } from '@parley/contract/console/session'
import { queryOptions, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api, inWorkspace } from './api.ts'

export type Session = SessionReply
export type Workspace = Session['workspaces'][number]

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => api<Session>('session', { signal }),
  staleTime: 60_000,
})

/** Who is signed in. Only below the shell, which does not draw before it knows. */
export function useSession(): Session {
  return useSuspenseQuery(sessionQuery).data
}

/** The workspace of the address bar; its id is '' on pages outside of any. */
export function useWorkspace(): Workspace {
  const session = useSession()
  const { workspace: id } = useParams({ strict: false })
  return session.workspaces.find((each) => each.id === id) ?? nowhere
}

/** Paths below the workspace of the address bar: `path` for links, `api` for calls. */
export function useHere(): { id: string; path(rest?: string): string; api(rest: string): string } {
  const { id } = useWorkspace()
  return {
    id,
    path: (rest = '') => `/w/${encodeURIComponent(id)}${rest && `/${rest}`}`,
    api: (rest) => inWorkspace(id, rest),
  }
}

/** Whether this person may do a thing here. The service decides; the console only hides what it would refuse. */
export function useCan(permission: Permission): boolean {
  const workspace = useWorkspace()
  return workspace.id !== '' && can(workspace.role, permission)
}

/** Asks anew who is signed in: after signing in, and when name, role or second factor changed. */
export function useRenewSession(): () => Promise<void> {
  const client = useQueryClient()
  return () => client.invalidateQueries({ queryKey: sessionQuery.queryKey })
}

const nowhere: Workspace = {
  id: '',
  name: '',
  role: 'member',
  requires_two_factor: false,
  suspended: false,
  suspended_reason: null,
}
