import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError, wordsOf } from '../../lib/api.ts'
import { plural } from '../../lib/format.ts'
import { formatPhone } from '../../lib/phone.ts'
import { useHere } from '../../lib/session.ts'
import { useSearchParam } from '../../lib/url.ts'
import { useSenderChoice } from '../../parts/network/network.queries.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Select, TextInput } from '../../ui/fields.tsx'
import { Stack } from '../../ui/layout.tsx'
import { Notice } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { sendTemplate } from './templates.queries.ts'

interface Props {
  open: boolean
  onClose: () => void
  template: ConsoleTemplate
  variables: Readonly<Record<string, unknown>>
}

/** Sends the template with the values of the page to one number. */
export function TestSend({ open, onClose, template, variables }: Props) {
  const here = useHere()
  const navigate = useNavigate()
  const [asked] = useSearchParam('to')
  const [to, setTo] = useState(asked ?? '')
  const senders = (useSenderChoice().data?.data ?? []).filter(
    ({ status, connection }) => status === 'CONNECTED' && connection.account === template.account,
  )
  const [chosen, setChosen] = useState<string | null>(null)
  const sender = chosen ?? senders[0]?.id ?? null
  const send = useMutation({
    mutationFn: () =>
      sendTemplate(here.api('messages'), {
        ...(sender && { sender_id: sender }),
        to: to.replaceAll(/[\s().-]/g, ''),
        type: 'template',
        template: { id: template.id, variables },
      }),
    onSuccess: ({ id, credits }) => {
      toast.done(`Sent for ${plural(credits, 'credit')}`)
      void navigate({ to: here.path(`messages/${id}`) })
    },
  })
  const error = send.error instanceof ApiError ? send.error : null
  const others = (error?.errors ?? []).filter(({ param }) => param !== 'to')
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Send a test"
      detail="A real message with the values of this page. It costs credits."
      onSubmit={() => send.mutate()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={send.isPending}>
            Send
          </Button>
        </>
      }
    >
      <Stack>
        <TextInput
          label="To"
          description="The whole number with its country code."
          placeholder="+49 170 1234567"
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
          inputMode="tel"
          autoComplete="off"
          error={error?.faultOf('to')}
          data-autofocus
        />
        {senders.length > 1 && (
          <Select
            label="From"
            data={senders.map(({ id, phone_number, display_name }) => ({
              value: id,
              label: display_name ? `${display_name} · ${formatPhone(phone_number)}` : formatPhone(phone_number),
            }))}
            value={sender}
            onChange={setChosen}
            allowDeselect={false}
          />
        )}
        {send.error && (others.length > 0 || error?.faultOf('to') === undefined) && (
          <div role="alert">
            <Notice tone="bad">
              {others.length > 0
                ? others.map(({ param, message }) => <div key={param}>{message}</div>)
                : wordsOf(send.error)}
            </Notice>
          </div>
        )}
      </Stack>
    </Dialog>
  )
}
