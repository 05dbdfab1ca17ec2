import { useMantineColorScheme } from '@mantine/core'
import type { SearchResults } from '@parley/contract/console/overview'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { api, inWorkspace } from '../lib/api.ts'
import { formatShortTime } from '../lib/format.ts'
import { safeNext } from '../lib/next.ts'
import { useOfferedActions } from '../lib/palette-actions.ts'
import { formatPhonesIn } from '../lib/phone.ts'
import { useSession } from '../lib/session.ts'
import type { IconName } from '../ui/icon.tsx'
import { useDestinations, useShownWorkspace } from './access.ts'
import { useSignOut } from './person-menu.tsx'

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

/** The entries that need no request: actions of the page, pages, workspaces, settings. */
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
        (action): Entry => ({ ...action, id: `action-${action.id}`, section: 'Actions on this page', icon: 'bolt' }),
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
          title: scheme === 'auto' ? 'Use system theme' : `Use ${scheme} theme`,
          icon: scheme === 'light' ? 'sun' : scheme === 'dark' ? 'moon' : 'screen',
          keywords: 'color mode appearance',
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

/** Searches the workspace by ID, phone number, name or content, from two characters on. */
export function useSearchResults(text: string): { results: Entry[]; isSearching: boolean; note: string | null } {
  const workspace = useShownWorkspace()
  const navigate = useNavigate()
  const [searched, setSearched] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSearched(text.trim()), 180)
    return () => clearTimeout(timer)
  }, [text])
  const isEnabled = workspace !== null && searched.length >= 2
  const { data, isFetching } = useQuery({
    queryKey: ['find', workspace?.id, searched],
    queryFn: ({ signal }) =>
      api<SearchResults>(inWorkspace(workspace?.id ?? '', 'find'), { query: { q: searched }, signal }),
    enabled: isEnabled,
    retry: false,
    placeholderData: (before) => before,
  })
  const results = (isEnabled && text.trim().length >= 2 ? (data?.data ?? []) : []).map(
    ({ kind, id, title, detail, href }): Entry => ({
      id: `found-${kind}-${id}`,
      section: sections[kind] ?? 'Search results',
      title: formatPhonesIn(title),
      detail: formatPhonesIn(detail),
      icon: icons[kind] ?? 'file',
      run: () => void navigate({ href: safeNext(href) }),
    }),
  )
  return { results, isSearching: isFetching || searched !== text.trim(), note: isEnabled && data ? noteOf(data) : null }
}

function noteOf({ searched_to, timed_out }: SearchResults): string | null {
  if (timed_out) return 'Searching the contents took too long. Results may be missing.'
  return searched_to && `Names and contents were searched back to ${formatShortTime(searched_to)}.`
}

const sections: Record<string, string> = {
  contact: 'Contacts',
  message: 'Messages',
  event: 'Deliveries',
  order: 'Orders',
  form: 'Form submissions',
  request: 'Requests',
  sender: 'Senders',
  template: 'Templates',
  webhook: 'Webhooks',
  key: 'API keys',
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
  contact: 'person',
}

/** Whether every word of the text is the start of a word in the title or the keywords. */
export function matches({ title, keywords = '' }: Entry, text: string): boolean {
  const candidates = `${title} ${keywords}`.toLowerCase().split(/\s+/)
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((part) => candidates.some((word) => word.startsWith(part)))
}
