import { useMantineColorScheme } from '@mantine/core'
import type { SearchResults } from '@parley/contract/console/overview'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { api, inWorkspace } from '../lib/api.ts'
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

/** From two characters on; of scripts without spaces between words, one. */
const isSearchable = (text: string): boolean => text.length > 1 || text > '\u0e00'

/** Searches the workspace by ID, phone number, name or content. */
export function useSearchResults(text: string): { results: Entry[]; isSearching: boolean; note: string | null } {
  const workspace = useShownWorkspace()
  const navigate = useNavigate()
  const [searched, setSearched] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSearched(text.trim()), 180)
    return () => clearTimeout(timer)
  }, [text])
  const isEnabled = workspace !== null && isSearchable(searched)
  const { data, isFetching } = useQuery({
    queryKey: ['find', workspace?.id, searched],
    queryFn: ({ signal }) =>
      api<SearchResults>(inWorkspace(workspace?.id ?? '', 'find'), { query: { q: searched }, signal }),
    enabled: isEnabled,
    retry: false,
    placeholderData: (before) => before,
  })
  const results = (isEnabled && isSearchable(text.trim()) ? (data?.data ?? []) : []).map(
    ({ kind, id, title, detail, href }): Entry => {
      const [section, icon] = kinds[kind] ?? ['Search results', 'file']
      return {
        id: `found-${kind}-${id}`,
        section,
        title: formatPhonesIn(title),
        detail: formatPhonesIn(detail),
        icon,
        run: () => void navigate({ href: safeNext(href) }),
      }
    },
  )
  return { results, isSearching: isFetching || searched !== text.trim(), note: isEnabled && data ? noteOf(data) : null }
}

/** What the results do not contain. */
function noteOf({ has_more, timed_out }: SearchResults): string | null {
  if (timed_out) return 'Searching the contents took too long. Older results are missing.'
  return has_more ? 'Only the newest results are shown. Type more to narrow them down.' : null
}

const kinds: Readonly<Record<string, readonly [section: string, icon: IconName]>> = {
  contact: ['Contacts', 'person'],
  message: ['Messages', 'message'],
  event: ['Events', 'delivery'],
  order: ['Orders', 'order'],
  form: ['Form submissions', 'form'],
  request: ['Requests', 'request'],
  sender: ['Senders', 'sender'],
  template: ['Templates', 'template'],
  webhook: ['Webhooks', 'webhook'],
  key: ['API keys', 'key'],
}

/** Whether every word of the text is the start of a word in the title or the keywords. */
export function matches({ title, keywords = '' }: Entry, text: string): boolean {
  const candidates = `${title} ${keywords}`.toLowerCase().split(/\s+/)
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((part) => candidates.some((word) => word.startsWith(part)))
}
