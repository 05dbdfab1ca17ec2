import type { Contact, ConversationMessage } from '@parley/contract/console/contacts'
import type { CreditUsage } from '@parley/contract/console/credits'
import type { Erasure } from '@parley/contract/console/erasures'
import { useData, useList } from '../../lib/query.ts'
import { useCan, useHere } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import type { Person } from '../../parts/recipient.tsx'

export const pathOf = (id: string) => `contacts/${encodeURIComponent(id)}`

export const useContact = (id: string) => useData<Contact>(useHere().api(pathOf(id)), { topics: ['messages'] })

/** Newest first. */
export const useConversation = (id: string) =>
  useList<ConversationMessage>(useHere().api(`${pathOf(id)}/messages`), {}, ['messages'])

/** The price of a message in credits; undefined while it is not known. */
export function usePrice(item: string): number | undefined {
  const mayRead = useCan('credits:read')
  const usage = useData<CreditUsage>(useHere().api('credits/usage'), { staleTime: 300_000, enabled: mayRead })
  return usage.data?.prices.find((price) => price.item === item)?.credits
}

/** Begins to erase a contact, which takes a few seconds. */
export function useErase() {
  const here = useHere()
  return useAction((send, person: Person) => send<Erasure>('POST', here.api('erasures'), person), {
    refetch: [here.api('contacts'), here.api('messages'), here.api('erasures')],
    done: 'Erasing the contact',
  })
}
