import type { LinkReply, NextStep } from '@parley/contract/console/session'
import { useData } from '../../lib/query.ts'
import { useAction } from '../../lib/use-action.ts'

const pathOf = (token: string) => `links/${encodeURIComponent(token)}`

export const useLinkDetails = (token: string) =>
  useData<LinkReply>(pathOf(token), { staleTime: Number.POSITIVE_INFINITY })

export const useFollowLink = (token: string) =>
  useAction((send, account: { name?: string; email?: string; password: string }) =>
    send<NextStep>('POST', pathOf(token), account),
  )
