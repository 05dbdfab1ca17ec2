import type { ListedMessage } from '@parley/contract/console/messages'
import { useState } from 'react'
import { useForm } from '../../../lib/use-form.ts'
import { useSendMessage } from '../../../parts/network.queries.ts'
import { addressOf, type Person, personName, personOf } from '../../../parts/recipient.tsx'
import { Button } from '../../../ui/button.tsx'
import { Textarea } from '../../../ui/fields.tsx'
import { Form } from '../../../ui/form.tsx'
import { LoadingLines, Notice } from '../../../ui/states.tsx'
import styles from '../onboarding.module.css'
import { useLatestReceived } from './received.queries.ts'
import { SentMessage } from './sent-message.tsx'

/** Replies to the contact who wrote last, from the sender that they wrote to. */
export function ReplyStep() {
  const latest = useLatestReceived()
  if (latest === undefined) return <LoadingLines lines={2} />
  const person = latest && personOf(latest)
  if (!person) return <Notice tone="note">No contact has written yet. Receive a message first.</Notice>
  return <ReplyForm message={latest} person={person} />
}

function ReplyForm({ message, person }: { message: ListedMessage; person: Person }) {
  const [sentId, setSentId] = useState<string | null>(null)
  const form = useForm({
    first: { 'text.body': 'Thank you for your message. How can we help?' },
    check: ({ 'text.body': body }) => ({ 'text.body': body.trim() ? undefined : 'Enter a text.' }),
    action: useSendMessage({ opens: false }),
    input: ({ 'text.body': body }) => ({
      sender_id: message.sender_id,
      ...addressOf(person),
      type: 'text',
      text: { body: body.trim() },
    }),
    onDone: ({ id }) => setSentId(id),
  })
  return (
    <Form form={form} className={styles.fields}>
      <p>
        <bdi>{message.profile_name ?? personName(message)}</bdi> wrote:{' '}
        <bdi className="quiet">{message.preview ?? message.type}</bdi>
      </p>
      <Textarea label="Your reply" autosize minRows={2} maxRows={6} maxLength={4096} {...form.text('text.body')} />
      <div className={styles.result}>
        <Button type="submit" kind="primary" busy={form.isPending}>
          {sentId ? 'Send another' : 'Send reply'}
        </Button>
        {sentId && <SentMessage key={sentId} id={sentId} />}
      </div>
    </Form>
  )
}
