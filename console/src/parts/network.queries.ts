import type { SentReply } from '@parley/contract/console/messages'
import type { ConsoleSender, SyncReply } from '@parley/contract/console/senders'
import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { useNavigate } from '@tanstack/react-router'
import { plural } from '../lib/format.ts'
import { formatPhone } from '../lib/phone.ts'
import { type List, useData } from '../lib/query.ts'
import { useHere } from '../lib/session.ts'
import { toast } from '../lib/toasts.ts'
import { useAction } from '../lib/use-action.ts'

/** Senders to choose from. */
export const useSenderChoice = () => useData<List<ConsoleSender>>(useHere().api('senders'), { staleTime: 60_000 })

/** Templates to choose from. */
export const useTemplateChoice = () =>
  useData<List<ConsoleTemplate>>(useHere().api('templates'), { query: { limit: 100 }, staleTime: 60_000 })

export const senderName = ({ phone_number, display_name }: ConsoleSender) =>
  display_name ? `${display_name} · ${formatPhone(phone_number)}` : formatPhone(phone_number)

/** Sends a message in the name of who is signed in; the cost is said, and the message opened where that is wanted. */
export function useSendMessage({ opens = true } = {}) {
  const here = useHere()
  const navigate = useNavigate()
  return useAction((send, message: object) => send<SentReply>('POST', here.api('messages'), message), {
    refetch: [here.api('messages')],
    done: ({ id, credits }) => {
      if (!opens) return undefined
      void navigate({ to: here.path(`messages/${id}`) })
      return `Sent for ${plural(credits, 'credit')}`
    },
  })
}

/** Asks the network for senders and templates anew, and says how it went. */
export function useSync() {
  const here = useHere()
  return useAction((send) => send<SyncReply>('POST', here.api('sync')), {
    refetch: [here.api('senders'), here.api('templates')],
    done: ({ accounts }) => {
      const failed = accounts.find(({ outcome }) => outcome === 'failed')
      if (!failed && accounts.length > 0) return 'Up to date with the network'
      if (failed) toast.failed(`The account ${failed.account} could not be synchronised: ${failed.remark}`)
      else toast.note('No account is connected yet')
      return undefined
    },
  })
}
