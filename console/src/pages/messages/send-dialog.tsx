import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { ApiError, wordsOf } from '../../lib/api.ts'
import { plural } from '../../lib/format.ts'
import { formatPhone } from '../../lib/phone.ts'
import { useHere } from '../../lib/session.ts'
import { useSearchParam } from '../../lib/url.ts'
import { useSenderChoice } from '../../parts/network/network.queries.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { focusFirstFault, SegmentedControl, Select, Textarea, TextInput } from '../../ui/fields.tsx'
import { Stack } from '../../ui/layout.tsx'
import { Notice } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { sendMessage, useTemplates } from './messages.queries.ts'

/** Sends a text; for a template it leads to the template's own page, where its variables are filled in. */
export function SendDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const here = useHere()
  const navigate = useNavigate()
  const client = useQueryClient()
  const form = useRef<HTMLDivElement>(null)
  const [kind, setKind] = useState('text')
  const [phone] = useSearchParam('phone')
  const [to, setTo] = useState(phone ?? '')
  const [text, setText] = useState('')
  const [template, setTemplate] = useState<string | null>(null)
  const senders = (useSenderChoice().data?.data ?? []).filter(({ status }) => status === 'CONNECTED')
  const [chosen, setChosen] = useState<string | null>(null)
  const sender = chosen ?? senders[0]?.id ?? null
  const approved = (useTemplates().data?.data ?? []).filter(({ status }) => status === 'APPROVED')
  const digits = to.replaceAll(/[\s().-]/g, '')
  const send = useMutation({
    mutationFn: () =>
      sendMessage(here.api('messages'), {
        ...(sender && { sender_id: sender }),
        to: digits,
        type: 'text',
        text: { body: text },
      }),
    onSuccess: async ({ id, credits }) => {
      await client.invalidateQueries({ queryKey: [here.api('messages')] })
      toast.done(`Sent for ${plural(credits, 'credit')}`)
      onClose()
      void navigate({ to: here.path(`messages/${id}`) })
    },
    onError: () => focusFirstFault(form.current),
  })
  const error = send.error instanceof ApiError ? send.error : null
  const submit = () => {
    if (kind === 'text') return send.mutate()
    if (template) {
      void navigate({
        to: here.path(`templates/${template}`),
        search: { send: 'yes', ...(digits && { to: digits }) } as never,
      })
    }
  }
  const known = ['to', 'text.body', 'sender_id', 'text']
  const isTold = error?.errors.some(({ param }) => known.includes(param)) ?? false
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Send a message"
      detail="Sent in your name, not by a key. It costs the same credits."
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={send.isPending} disabled={kind === 'template' && !template}>
            {kind === 'text' ? 'Send' : 'Fill in the template'}
          </Button>
        </>
      }
    >
      <div ref={form}>
        <Stack>
          <SegmentedControl
            aria-label="Kind of message"
            value={kind}
            onChange={setKind}
            data={[
              { value: 'text', label: 'Text' },
              { value: 'template', label: 'Template' },
            ]}
          />
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
              error={error?.faultOf('sender_id')}
            />
          )}
          {kind === 'text' ? (
            <Textarea
              label="Text"
              description="Free text reaches only people who wrote to you within the last 24 hours."
              autosize
              minRows={3}
              maxRows={10}
              maxLength={4096}
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
              error={error?.faultOf('text.body') ?? error?.faultOf('text')}
            />
          ) : (
            <Select
              label="Template"
              placeholder={approved.length === 0 ? 'No approved template' : 'Choose…'}
              searchable
              data={approved.map(({ id, name, language }) => ({ value: id, label: `${name} · ${language}` }))}
              value={template}
              onChange={setTemplate}
            />
          )}
          {send.error && !isTold && (
            <div role="alert">
              <Notice tone="bad">{wordsOf(send.error)}</Notice>
            </div>
          )}
        </Stack>
      </div>
    </Dialog>
  )
}
