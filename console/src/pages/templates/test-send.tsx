import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { useSearchParam } from '../../lib/url.ts'
import { useForm } from '../../lib/use-form.ts'
import { useSendMessage } from '../../parts/network.queries.ts'
import { RecipientFields, recipientOf, useConnectedSenders } from '../../parts/recipient.tsx'
import { FormDialog } from '../../ui/dialog.tsx'

interface Props {
  open: boolean
  onClose: () => void
  template: ConsoleTemplate
  variables: Readonly<Record<string, unknown>>
}

/** Sends the template with the values of the page to one phone number. */
export function TestSend({ open, onClose, template, variables }: Props) {
  const [phone] = useSearchParam('to')
  const [sender] = useSearchParam('sender')
  const senders = useConnectedSenders(template.account)
  const form = useForm({
    first: { to: phone ?? '', sender_id: sender },
    action: useSendMessage(),
    input: (recipient) => ({
      ...recipientOf(recipient, senders),
      type: 'template',
      template: { id: template.id, variables },
    }),
  })
  return (
    <FormDialog
      open={open}
      onClose={onClose}
      title="Send test message"
      detail="Sends a real message with the values on this page. It costs credits."
      form={form}
      submit="Send"
    >
      <RecipientFields form={form} senders={senders} />
    </FormDialog>
  )
}
