import type { ConsoleSender } from '@parley/contract/console/senders'
import { plainPhone } from '../lib/phone.ts'
import type { Form } from '../lib/use-form.ts'
import { Select, TextInput } from '../ui/fields.tsx'
import { senderName, useSenderChoice } from './network.queries.ts'

/** Recipient and sender, named as the parameters of `POST messages`. */
interface Recipient {
  to: string
  sender_id: string | null
}

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
      <TextInput
        label="To"
        description="Phone number with country code."
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
          value={chosenSender(sender_id, senders) ?? null}
          onChange={(chosen) => form.set({ sender_id: chosen } as Partial<Values>)}
          allowDeselect={false}
          error={form.errors.sender_id}
        />
      )}
    </>
  )
}

/** The parameters for the API. The number may be typed with spaces, brackets, dots and hyphens. */
export function recipientOf({ to, sender_id }: Recipient, senders: readonly ConsoleSender[]) {
  const sender = chosenSender(sender_id, senders)
  return { ...(sender && { sender_id: sender }), to: plainPhone(to) }
}

/** The chosen sender if it can be used, otherwise the first. */
const chosenSender = (id: string | null, senders: readonly ConsoleSender[]): string | undefined =>
  (senders.find((sender) => sender.id === id) ?? senders[0])?.id
