import { useMantineColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { api, inWorkspace } from '../lib/api.ts'
import { safeNext } from '../lib/next.ts'
import { useOfferedActions } from '../lib/palette-actions.ts'
import { useSession } from '../lib/session.ts'
import type { IconName } from '../ui/icon.tsx'
import { useSignOut } from './person-menu.tsx'
import { useDestinations, useShownWorkspace } from './reach.ts'

export interface Entry {
  id: string
  section: string
  title: string
  detail?: string
  icon: IconName
  keys?: string
  keywords?: string
  run(): void
}

interface Found {
  kind: string
  id: string
  title: string
  detail: string | null
  href: string
}

/** All that the palette offers without asking the service. */
export function useEntries(): Entry[] {
  const session = useSession()
  const destinations = useDestinations()
  const actions = useOfferedActions()
  const shown = useShownWorkspace()
  const navigate = useNavigate()
  const signOut = useSignOut()
  const { setColorScheme } = useMantineColorScheme()
  return useMemo(() => {
    const go = (href: string) => () => void navigate({ href })
    return [
      ...actions.map(
        (action): Entry => ({ ...action, id: `action-${action.id}`, section: 'Actions here', icon: 'bolt' }),
      ),
      ...destinations.map(
        ({ to, title, nav }): Entry => ({
          id: to,
          section: 'Pages',
          title,
          icon: nav?.icon ?? 'file',
          ...(nav?.letter ? { keys: `g ${nav.letter}` } : {}),
          ...(nav?.group ? { keywords: nav.group } : {}),
          run: go(to),
        }),
      ),
      {
        id: 'account',
        section: 'Pages',
        title: 'Your account',
        icon: 'person',
        keywords: 'password passkey sessions',
        run: go('/account'),
      },
      ...session.workspaces
        .filter(({ id }) => id !== shown?.id)
        .map(
          ({ id, name }): Entry => ({
            id: `w-${id}`,
            section: 'Workspaces',
            title: name,
            icon: 'building',
            run: go(`/w/${encodeURIComponent(id)}`),
          }),
        ),
      ...(['light', 'dark', 'auto'] as const).map(
        (scheme): Entry => ({
          id: `scheme-${scheme}`,
          section: 'Console',
          title: `Use ${scheme === 'auto' ? 'the system’s' : scheme} colours`,
          icon: scheme === 'light' ? 'sun' : scheme === 'dark' ? 'moon' : 'screen',
          keywords: 'theme dark light mode',
          run: () => setColorScheme(scheme),
        }),
      ),
      {
        id: 'sign-out',
        section: 'Console',
        title: 'Sign out',
        icon: 'signOut',
        keywords: 'log out leave',
        run: signOut,
      },
    ]
  }, [actions, destinations, navigate, session, setColorScheme, shown, signOut])
}

/** Things of the workspace whose id, number or name fits; asked of the service from three letters on. */
export function useFound(text: string): { found: Entry[]; isSearching: boolean } {
  const workspace = useShownWorkspace()
  const navigate = useNavigate()
  const [asked, setAsked] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), 180)
    return () => clearTimeout(timer)
  }, [text])
  const isAsked = workspace !== null && asked.length >= 3
  const { data, isFetching } = useQuery({
    queryKey: ['find', workspace?.id, asked],
    queryFn: ({ signal }) =>
      api<{ data: Found[] }>(inWorkspace(workspace?.id ?? '', 'find'), { query: { q: asked }, signal }),
    enabled: isAsked,
    retry: false,
    placeholderData: (before) => before,
  })
  const found = (isAsked && text.trim().length >= 3 ? (data?.data ?? []) : []).map(
    ({ kind, id, title, detail, href }): Entry => ({
      id: `found-${kind}-${id}`,
      section: 'Found',
      title,
      detail: detail ?? id,
      icon: icons[kind] ?? 'file',
      run: () => void navigate({ href: safeNext(href) }),
    }),
  )
  return { found, isSearching: isFetching || asked !== text.trim() }
}

const icons: Record<string, IconName> = {
  message: 'message',
  template: 'template',
  sender: 'sender',
  form: 'form',
  order: 'order',
  key: 'key',
  webhook: 'webhook',
  delivery: 'delivery',
  event: 'delivery',
  request: 'request',
  person: 'person',
}

/** Every word typed begins a word of the title or stands among the keywords. */
export function fits({ title, keywords = '' }: Entry, text: string): boolean {
  const words = `${title} ${keywords}`.toLowerCase().split(/\s+/)
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((part) => words.some((word) => word.startsWith(part)))
}
