import type { ListedContact } from '@parley/contract/console/contacts'
import type { ListedMessage } from '@parley/contract/console/messages'
import type { ConsoleSender } from '@parley/contract/console/senders'
import { useEffect, useState } from 'react'
import { formatPhone, plainPhone } from '../lib/phone.ts'
import { type List, useData } from '../lib/query.ts'
import { useCan, useHere } from '../lib/session.ts'
import type { Form } from '../lib/use-form.ts'
import { Autocomplete, Select } from '../ui/fields.tsx'
import { senderName, useSenderChoice } from './network.queries.ts'

/** Recipient and sender, named as the parameters of `POST messages`. */
export interface Recipient {
  to: string
  sender_id: string | null
}

/** A person in a conversation: a phone number, or the user ID of a person without one. */
export type Person = { phone: string } | { user_id: string }

export function personOf({ phone, user_id }: Pick<ListedMessage, 'phone' | 'user_id'>): Person | null {
  if (phone !== null) return { phone }
  return user_id === null ? null : { user_id }
}

/** The phone number; of a person without one the username or the user ID. */
export function personName({ phone, username, user_id }: ListedMessage): string | null {
  if (phone !== null) return formatPhone(phone)
  return username === null ? user_id : `@${username}`
}

/** The recipient in the API. */
export const addressOf = (person: Person) => ('phone' in person ? { to: person.phone } : { to_user_id: person.user_id })

/** The connected senders; with `account`, only those of that account. */
export function useConnectedSenders(account?: string): ConsoleSender[] {
  return (useSenderChoice().data?.data ?? []).filter(
    ({ status, connection }) => status === 'CONNECTED' && (account === undefined || connection.account === account),
  )
}

export function RecipientFields<Values extends Recipient>({
  form,
  senders,
}: {
  form: Form<Values>
  senders: readonly ConsoleSender[]
}) {
  const { to, sender_id } = form.values
  return (
    <>
      <RecipientInput
        value={to}
        onChange={(next) => form.set({ to: next } as Partial<Values>)}
        error={form.errors.to}
      />
      {senders.length > 1 && (
        <Select
          label="From"
          data={senders.map((sender) => ({ value: sender.id, label: senderName(sender) }))}
          value={chosenSender(sender_id, senders) ?? null}
          onChange={(chosen) => form.set({ sender_id: chosen } as Partial<Values>)}
          allowDeselect={false}
          error={form.errors.sender_id}
        />
      )}
    </>
  )
}

const suggestionsMax = 6

/** A number or a user ID. Suggests contacts whose name or number matches. */
function RecipientInput({
  value,
  onChange,
  error,
}: {
  value: string
  onChange: (value: string) => void
  error: string | undefined
}) {
  const contacts = useContactChoice(value)
  const byAddress = new Map(contacts.map((contact) => [addressText(contact), contact]))
  return (
    <Autocomplete
      label="To"
      description={
        byAddress.get(value)?.name ?? 'Name of a contact, phone number with country code, or user ID without a number.'
      }
      placeholder="Ana, or +49 170 1234567"
      value={value}
      onChange={onChange}
      data={byAddress.has(value) ? [] : [...byAddress.keys()].slice(0, suggestionsMax)}
      // The service has searched already.
      filter={({ options }) => options}
      renderOption={({ option }) => (
        <span className="lines">
          <bdi>{byAddress.get(option.value)?.name ?? option.value}</bdi>
          {byAddress.get(option.value)?.name && <bdi className="small quiet numbers">{option.value}</bdi>}
        </span>
      )}
      autoComplete="off"
      error={error}
      data-autofocus
    />
  )
}

const addressText = ({ id, phone }: ListedContact): string => (phone === null ? id : formatPhone(phone))

/** Contacts whose name or number matches what was typed. */
function useContactChoice(typed: string): readonly ListedContact[] {
  const text = typed.trim()
  const [q, setQ] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setQ(text), 180)
    return () => clearTimeout(timer)
  }, [text])
  const found = useData<List<ListedContact>>(useHere().api('contacts'), {
    query: { limit: 20, q },
    enabled: useCan('messages:read') && q.length > 1,
    placeholderData: (before) => before,
  })
  // Not those who only wrote the words.
  return text.length > 1 ? (found.data?.data ?? []).filter(({ match }) => match === null) : []
}

/** A user ID as it is, or a number, which may be typed with spaces, brackets, dots and hyphens. */
export const plainRecipient = (typed: string): string => (isUserId(typed) ? typed.trim() : plainPhone(typed))

const isUserId = (typed: string) => /^\s*[A-Z]{2}\.[A-Za-z0-9.]+\s*$/.test(typed)

/** The parameters for the API. */
export function recipientOf({ to, sender_id }: Recipient, senders: readonly ConsoleSender[]) {
  const sender = chosenSender(sender_id, senders)
  const address = isUserId(to) ? { to_user_id: plainRecipient(to) } : { to: plainRecipient(to) }
  return { ...(sender && { sender_id: sender }), ...address }
}

/** The chosen sender if it can be used, otherwise the first. */
const chosenSender = (id: string | null, senders: readonly ConsoleSender[]): string | undefined =>
  (senders.find((sender) => sender.id === id) ?? senders[0])?.id
