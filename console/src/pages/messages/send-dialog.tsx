import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useHere } from '../../lib/session.ts'
import { useSearchParam } from '../../lib/url.ts'
import { useForm } from '../../lib/use-form.ts'
import { useSendMessage, useTemplateChoice } from '../../parts/network.queries.ts'
import { plainRecipient, RecipientFields, recipientOf, useConnectedSenders } from '../../parts/recipient.tsx'
import { ReplyWindow } from '../../parts/reply-window.tsx'
import { TemplateSelect } from '../../parts/templates/template-select.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { SegmentedControl, Textarea } from '../../ui/fields.tsx'
import { useReplyWindow } from './messages.queries.ts'

interface Props {
  /** `text` or `template`. Closed while it is null. */
  kind: string | null
  onKind: (kind: string) => void
  onClose: () => void
}

/** Sends a text. For a template, it opens the template's page to fill in the variables. */
export function SendDialog({ kind: chosen, onKind, onClose }: Props) {
  const here = useHere()
  const navigate = useNavigate()
  const kind = chosen === 'template' ? 'template' : 'text'
  const [phone] = useSearchParam('phone')
  const [userId] = useSearchParam('user_id')
  const [sender] = useSearchParam('sender')
  const [template, setTemplate] = useState<string | null>(null)
  const senders = useConnectedSenders()
  const templates = (useTemplateChoice().data?.data ?? []).filter(
    ({ status, sendable }) => status === 'APPROVED' && sendable,
  )
  const form = useForm({
    first: { to: phone ?? userId ?? '', sender_id: sender, 'text.body': '' },
    action: useSendMessage(),
    input: ({ 'text.body': body, ...recipient }) => ({
      ...recipientOf(recipient, senders),
      type: 'text',
      text: { body },
    }),
  })
  const { to, sender_id: senderId } = recipientOf(form.values, senders)
  const window = useReplyWindow(senderId ?? null, chosen === null ? '' : (to ?? ''))
  const fillIn = () => {
    const to = plainRecipient(form.values.to)
    const { sender_id } = form.values
    const search = { send: 'yes', ...(to && { to }), ...(sender_id && { sender: sender_id }) }
    void navigate({ to: here.path(`templates/${template}`), search: search as never, ignoreBlocker: true })
  }
  return (
    <FormDialog
      open={chosen !== null}
      onClose={onClose}
      title="Send message"
      detail="Recorded in the audit log under your name. It costs credits."
      form={kind === 'text' ? form : { ...form, submit: fillIn }}
      submit={kind === 'text' ? 'Send' : 'Continue'}
      disabled={kind === 'template' && !template}
    >
      <SegmentedControl
        aria-label="Message type"
        value={kind}
        onChange={onKind}
        data={[
          { value: 'text', label: 'Text' },
          { value: 'template', label: 'Template' },
        ]}
      />
      <RecipientFields form={form} senders={senders} />
      {kind === 'text' ? (
        <Textarea
          label="Text"
          description={
            <>
              You can send text only to contacts who messaged you in the last 24 hours. Otherwise, use a template.
              {window.data && (
                <>
                  {' '}
                  24-hour window of this number: <ReplyWindow expiresAt={window.data.window_expires_at} />
                </>
              )}
            </>
          }
          autosize
          minRows={3}
          maxRows={10}
          maxLength={4096}
          {...form.text('text.body')}
        />
      ) : (
        <TemplateSelect templates={templates} value={template} onChange={setTemplate} />
      )}
    </FormDialog>
  )
}
