import type { LinkReply, NextStep } from '@parley/contract/console/session'
import { useQuery } from '@tanstack/react-query'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { apiByPost } from '../../lib/api.ts'
import { useLast } from '../../lib/last.ts'
import { type Action, useAction } from '../../lib/use-action.ts'

export const linkKey = 'links/read'

export const useLinkDetails = (token: string) =>
  useQuery({
    queryKey: [linkKey, token],
    queryFn: () => apiByPost<LinkReply>(linkKey, { token }),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: token !== '',
  })

export const useFollowLink = (token: string) =>
  useAction((send, account: { name?: string; email?: string; password: string }) =>
    send<NextStep>('POST', 'links/use', { token, ...account }),
  )

/** Accepts an invitation as the person who is signed in. */
export const useAcceptInvite = (token: string) => useAction((send) => send('POST', 'links/accept', { token }))

/** Signs out and opens the link again, without the data of the session. */
export function useSignOutHere(): Action {
  const signOut = useAction((send) => send('POST', 'sign-out'))
  return { ...signOut, run: () => signOut.run(undefined, { onDone: () => location.reload() }) }
}

/**
 * The token of the link that was opened. It moves from the address bar to the state of this history entry, which a reload
 * keeps and nothing else sees.
 */
export function useLinkToken(): string {
  const { hash, state } = useLocation()
  const navigate = useNavigate()
  useEffect(() => {
    if (hash) void navigate({ to: '/link', hash: '', state: { linkToken: hash }, replace: true })
  }, [hash, navigate])
  // On the way to the next page, the location is that page's already.
  return useLast(hash || state.linkToken || null) ?? ''
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    linkToken?: string
  }
}
