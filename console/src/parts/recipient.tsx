import type { ConsoleSender } from '@parley/contract/console/senders'
import type { Form } from '../lib/use-form.ts'
import { Select, TextInput } from '../ui/fields.tsx'
import { senderName, useSenderChoice } from './network.queries.ts'

/** Whom a message goes to and from which number, as `POST messages` takes them. */
interface Recipient {
  to: string
  sender_id: string | null
}

/** The senders that can send; with `account`, only those of it. */
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
      <TextInput
        label="To"
        description="The whole number with its country code."
        placeholder="+49 170 1234567"
        value={to}
        onChange={(event) => form.set({ to: event.currentTarget.value } as Partial<Values>)}
        inputMode="tel"
        autoComplete="off"
        error={form.errors.to}
        data-autofocus
      />
      {senders.length > 1 && (
        <Select
          label="From"
          data={senders.map((sender) => ({ value: sender.id, label: senderName(sender) }))}
          value={sender_id ?? senders[0]?.id ?? null}
          onChange={(chosen) => form.set({ sender_id: chosen } as Partial<Values>)}
          allowDeselect={false}
          error={form.errors.sender_id}
        />
      )}
    </>
  )
}

/** The same as the API takes it; a number may be typed with the signs that people write in it. */
export function recipientOf({ to, sender_id }: Recipient, senders: readonly ConsoleSender[]) {
  const sender = sender_id ?? senders[0]?.id
  return { ...(sender && { sender_id: sender }), to: plainNumber(to) }
}

export const plainNumber = (text: string) => text.replaceAll(/[\s().-]/g, '')
