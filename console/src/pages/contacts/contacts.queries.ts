import type { Contact, ConversationMessage, ListedContact } from '@parley/contract/console/contacts'
import type { CreditUsage } from '@parley/contract/console/credits'
import type { Erasure } from '@parley/contract/console/erasures'
import { useData, useList } from '../../lib/query.ts'
import { useCan, useHere } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import type { Person } from '../../parts/recipient.tsx'

export const pathOf = (id: string) => `contacts/${encodeURIComponent(id)}`

export const useContact = (id: string) => useData<Contact>(useHere().api(pathOf(id)), { topics: ['messages'] })

/** By their last message, or the results of a search. */
export const useContacts = (q: string | null) =>
  useList<ListedContact>(useHere().api('contacts'), q === null ? {} : { q }, ['messages'])

/** Marks the conversation as read for everybody in the workspace. The contact does not see it. */
export function useMarkRead(id: string) {
  const here = useHere()
  return useAction((send) => send('POST', here.api(`${pathOf(id)}/read`)), { refetch: [here.api('contacts')] })
}

export function useMarkAllRead() {
  const here = useHere()
  return useAction((send) => send('POST', here.api('contacts/read')), {
    refetch: [here.api('contacts')],
    done: 'All conversations marked as read',
  })
}

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
