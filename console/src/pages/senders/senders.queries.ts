import type { Period } from '@parley/contract/console/overview'
import type { BusinessProfile, ConsoleSender, SenderActivity, SenderDetail } from '@parley/contract/console/senders'
import type { Send } from '../../lib/api.ts'
import { useData, useUnpagedList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'

export const useSenders = (filters: Readonly<Record<string, string>>) =>
  useUnpagedList<ConsoleSender>(useHere().api('senders'), filters, ['senders', 'messages'])

export const useSender = (id: string) =>
  useData<SenderDetail>(useHere().api(`senders/${id}`), { topics: ['senders', 'messages'] })

/** The activity is counted from the messages themselves, so it is polled instead of read on every live update. */
const activityEveryMs = 60_000

export const useActivity = (id: string, period: Period) =>
  useData<SenderActivity>(useHere().api(`senders/${id}/activity`), {
    query: { period },
    placeholderData: (before) => before,
    refetchInterval: activityEveryMs,
  })

/** Read from WhatsApp. */
export const useProfile = (id: string) =>
  useData<BusinessProfile>(useHere().api(`senders/${id}/profile`), { refetchOnWindowFocus: false })

/** A change of a number at WhatsApp. */
function useNumberAction<Input>(
  id: string,
  perform: (send: Send, number: string, input: Input) => Promise<unknown>,
  done: string,
) {
  const here = useHere()
  const number = here.api(`senders/${id}`)
  return useAction((send, input: Input) => perform(send, number, input), { refetch: [here.api('senders')], done })
}

export const useRegister = (id: string) =>
  useNumberAction(id, (send, number, pin: string) => send('POST', `${number}/register`, { pin }), 'Number registered')

export const useSetPin = (id: string) =>
  useNumberAction(id, (send, number, pin: string) => send('PUT', `${number}/pin`, { pin }), 'Two-step PIN set')

export const useRequestName = (id: string) =>
  useNumberAction(id, (send, number, name: string) => send('PUT', `${number}/name`, { name }), 'Display name requested')

export const useChangeProfile = (id: string) =>
  useNumberAction(
    id,
    (send, number, profile: Partial<BusinessProfile>) => send('PATCH', `${number}/profile`, profile),
    'Business profile saved',
  )
