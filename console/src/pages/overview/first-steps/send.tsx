import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { useState } from 'react'
import { formatPhone } from '../../../lib/phone.ts'
import { useHere } from '../../../lib/session.ts'
import { useForm } from '../../../lib/use-form.ts'
import { useHandset } from '../../../parts/handset.ts'
import { useSendMessage, useTemplateChoice } from '../../../parts/network.queries.ts'
import { type Recipient, RecipientFields, recipientOf, useConnectedSenders } from '../../../parts/recipient.tsx'
import { Button } from '../../../ui/button.tsx'
import { Select } from '../../../ui/fields.tsx'
import { Form } from '../../../ui/form.tsx'
import { PageLink } from '../../../ui/link.tsx'
import { LoadingLines, Notice } from '../../../ui/states.tsx'
import styles from '../onboarding.module.css'
import { SentMessage } from './sent-message.tsx'

/** Sends a template without variables, because a contact who has not written accepts nothing else. */
export function SendStep() {
  const here = useHere()
  const handset = useHandset()
  const senders = useConnectedSenders()
  const choice = useTemplateChoice()
  const [sentId, setSentId] = useState<string | null>(null)
  const templatesOf = (recipient: Recipient) => {
    const { sender_id: senderId } = recipientOf(recipient, senders)
    const account = senders.find(({ id }) => id === senderId)?.connection.account
    return (choice.data?.data ?? []).filter((each) => each.account === account && needsNoValues(each))
  }
  const templateOf = ({ template, ...recipient }: Recipient & { template: string | null }) => {
    const templates = templatesOf(recipient)
    return templates.find(({ id }) => id === template) ?? templates[0]
  }
  const form = useForm({
    first: {
      to: handset?.phone ? formatPhone(handset.phone) : '',
      sender_id: null as string | null,
      template: null as string | null,
    },
    action: useSendMessage({ opens: false }),
    input: (values): object => ({
      ...recipientOf(values, senders),
      type: 'template',
      template: { id: templateOf(values)?.id },
    }),
    onDone: ({ id }) => setSentId(id),
  })
  const templates = templatesOf(form.values)
  const template = templateOf(form.values)
  if (!choice.data) return <LoadingLines lines={3} />
  if (senders.length === 0) {
    return (
      <Notice tone="note">
        No sender is connected yet. <PageLink to={here.path('senders')}>View senders</PageLink>
      </Notice>
    )
  }
  if (!template) {
    return (
      <Notice tone="note">
        No approved template without variables. Open one under{' '}
        <PageLink to={here.path('templates')}>Templates</PageLink> to fill it in and send it.
      </Notice>
    )
  }
  return (
    <Form form={form} className={styles.fields}>
      <RecipientFields form={form} senders={senders} />
      <Select
        label="Template"
        data={templates.map(({ id, name, language }) => ({ value: id, label: `${name} · ${language}` }))}
        value={template.id}
        onChange={(chosen) => form.set({ template: chosen })}
        allowDeselect={false}
        error={form.errors.template}
      />
      <div className={styles.result}>
        <Button type="submit" kind="primary" busy={form.isPending}>
          {sentId ? 'Send another' : 'Send'}
        </Button>
        {sentId && <SentMessage key={sentId} id={sentId} />}
      </div>
    </Form>
  )
}

const needsNoValues = ({ status, sendable, flow, variables }: ConsoleTemplate) =>
  status === 'APPROVED' && sendable && flow === null && variables.every(({ required }) => !required)
