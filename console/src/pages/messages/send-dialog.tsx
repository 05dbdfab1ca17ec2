import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { plainPhone } from '../../lib/phone.ts'
import { useHere } from '../../lib/session.ts'
import { useSearchParam } from '../../lib/url.ts'
import { useForm } from '../../lib/use-form.ts'
import { useSendMessage, useTemplateChoice } from '../../parts/network.queries.ts'
import { RecipientFields, recipientOf, useConnectedSenders } from '../../parts/recipient.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { SegmentedControl, Select, Textarea } from '../../ui/fields.tsx'

/** Sends a text; for a template it leads to the template's own page, where its variables are filled in. */
export function SendDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const here = useHere()
  const navigate = useNavigate()
  const [kind, setKind] = useState('text')
  const [phone] = useSearchParam('phone')
  const [template, setTemplate] = useState<string | null>(null)
  const senders = useConnectedSenders()
  const approved = (useTemplateChoice().data?.data ?? []).filter(({ status }) => status === 'APPROVED')
  const form = useForm({
    first: { to: phone ?? '', sender_id: null as string | null, 'text.body': '' },
    action: useSendMessage(),
    input: ({ 'text.body': body, ...recipient }) => ({
      ...recipientOf(recipient, senders),
      type: 'text',
      text: { body },
    }),
  })
  const fillIn = () => {
    const to = plainPhone(form.values.to)
    void navigate({ to: here.path(`templates/${template}`), search: { send: 'yes', ...(to && { to }) } as never })
  }
  return (
    <FormDialog
      open={open}
      onClose={onClose}
      title="Send a message"
      detail="Sent in your name, not by a key. It costs the same credits."
      form={kind === 'text' ? form : { ...form, submit: fillIn }}
      submit={kind === 'text' ? 'Send' : 'Fill in the template'}
      disabled={kind === 'template' && !template}
    >
      <SegmentedControl
        aria-label="Kind of message"
        value={kind}
        onChange={setKind}
        data={[
          { value: 'text', label: 'Text' },
          { value: 'template', label: 'Template' },
        ]}
      />
      <RecipientFields form={form} senders={senders} />
      {kind === 'text' ? (
        <Textarea
          label="Text"
          description="Free text reaches only people who wrote to you within the last 24 hours."
          autosize
          minRows={3}
          maxRows={10}
          maxLength={4096}
          {...form.text('text.body')}
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
    </FormDialog>
  )
}
