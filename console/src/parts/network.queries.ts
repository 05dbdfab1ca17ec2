import type { SentReply } from '@parley/contract/console/messages'
import type { ConsoleSender, SyncReply } from '@parley/contract/console/senders'
import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { plural } from '../lib/format.ts'
import { formatPhone } from '../lib/phone.ts'
import { type List, readRows, useData } from '../lib/query.ts'
import { useHere } from '../lib/session.ts'
import { toast } from '../lib/toasts.ts'
import { useAction } from '../lib/use-action.ts'

/** The senders for a select. */
export const useSenderChoice = () => useData<List<ConsoleSender>>(useHere().api('senders'), { staleTime: 60_000 })

/** All templates, for a select. An account at WhatsApp has at most 6,000. */
export function useTemplateChoice() {
  const path = useHere().api('templates')
  return useQuery({
    queryKey: [path, 'all'],
    queryFn: async ({ signal }) => ({ data: await readRows<ConsoleTemplate>(path, templatesMax, signal) }),
    staleTime: 60_000,
  })
}

const templatesMax = 10_000

export const senderName = ({ phone_number, display_name }: ConsoleSender) =>
  display_name ? `${display_name} · ${formatPhone(phone_number)}` : formatPhone(phone_number)

/** Sends a message as the signed-in person. With `opens`, it then opens the message and shows its cost. */
export function useSendMessage({ opens = true } = {}) {
  const here = useHere()
  const navigate = useNavigate()
  return useAction((send, message: object) => send<SentReply>('POST', here.api('messages'), message), {
    refetch: [here.api('messages'), here.api('contacts')],
    done: ({ id, credits }) => {
      if (!opens) return undefined
      void navigate({ to: here.path(`messages/${id}`), ignoreBlocker: true })
      return `Sent for ${plural(credits, 'credit')}`
    },
  })
}

/** Syncs senders and templates from WhatsApp and shows the result. */
export function useSync() {
  const here = useHere()
  return useAction((send) => send<SyncReply>('POST', here.api('sync')), {
    refetch: [here.api('senders'), here.api('templates')],
    done: ({ accounts }) => {
      const failed = accounts.find(({ outcome }) => outcome === 'failed')
      if (!failed && accounts.length > 0) return 'Senders and templates are up to date'
      if (failed) toast.failed(`Account ${failed.account} could not be synced: ${failed.remark}`)
      else toast.note('No account is connected yet')
      return undefined
    },
  })
}
