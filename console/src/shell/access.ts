import { can } from '@parley/contract/console/permissions'
import { useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import { type Session, useSession, type Workspace } from '../lib/session.ts'
import { remember, remembered } from '../lib/storage.ts'
import { type Page, pages } from './pages.ts'

/** Whether this person may open a page in the given workspace. */
export function canOpen(page: Page, session: Session, workspace: Workspace | null): boolean {
  if (page.needs === 'operator') return session.person.operator
  if (page.needs === undefined) return true
  return workspace !== null && can(workspace.role, page.needs)
}

/** The workspace of the URL. On pages outside a workspace, the one opened last. */
export function useShownWorkspace(): Workspace | null {
  const session = useSession()
  const { workspace: id } = useParams({ strict: false })
  if (id !== undefined) {
    const found = session.workspaces.find((each) => each.id === id) ?? null
    if (found) remember('workspace', found.id)
    return found
  }
  return homeWorkspace(session)
}

/** The workspace opened last, or the first one. */
export function homeWorkspace(session: Session): Workspace | null {
  const last = remembered('workspace')
  return session.workspaces.find((each) => each.id === last) ?? session.workspaces[0] ?? null
}

interface Destination extends Page {
  to: string
}

/** The pages in the navigation that this person may open, with their paths. */
export function useDestinations(): Destination[] {
  const session = useSession()
  const workspace = useShownWorkspace()
  return useMemo(
    () =>
      pages
        .filter((page) => page.nav && canOpen(page, session, workspace))
        .map((page) => ({
          ...page,
          to: page.path.replace('$workspace', encodeURIComponent(workspace?.id ?? '')).replace('/{-$id}', ''),
        })),
    [session, workspace],
  )
}
