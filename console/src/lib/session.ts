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

/** The session. Only for components below the shell, which renders after the session is loaded. */
export function useSession(): Session {
  return useSuspenseQuery(sessionQuery).data
}

/** The workspace of the URL. On pages outside a workspace its ID is ''. */
export function useWorkspace(): Workspace {
  const session = useSession()
  const { workspace: id } = useParams({ strict: false })
  return session.workspaces.find((each) => each.id === id) ?? noWorkspace
}

/** Paths inside the workspace of the URL: `path` for links, `api` for requests. */
export function useHere(): { id: string; path(rest?: string): string; api(rest: string): string } {
  const { id } = useWorkspace()
  return {
    id,
    path: (rest = '') => `/w/${encodeURIComponent(id)}${rest && `/${rest}`}`,
    api: (rest) => inWorkspace(id, rest),
  }
}

/** Whether the person has a permission in this workspace. The service enforces it; the console hides what it would reject. */
export function useCan(permission: Permission): boolean {
  const workspace = useWorkspace()
  return workspace.id !== '' && can(workspace.role, permission)
}

/** Reloads the session: after signing in, and when the name, role or second factor changed. */
export function useReloadSession(): () => Promise<void> {
  const client = useQueryClient()
  return () => client.invalidateQueries({ queryKey: sessionQuery.queryKey })
}

const noWorkspace: Workspace = {
  id: '',
  name: '',
  role: 'member',
  requires_two_factor: false,
  suspended: false,
  suspended_reason: null,
}
