import type { Contact } from '@parley/contract/console/contacts'
import { type ReactNode, useEffect, useState } from 'react'
import { draftOf, saveDraft } from '../../lib/drafts.ts'
import { plural } from '../../lib/format.ts'
import { useCan, useHere, useSession } from '../../lib/session.ts'
import { useForm } from '../../lib/use-form.ts'
import { senderName, useSendMessage } from '../../parts/network.queries.ts'
import { addressOf, type Person, personOf, useConnectedSenders } from '../../parts/recipient.tsx'
import { ReplyWindow, useIsOpen } from '../../parts/reply-window.tsx'
import { Button } from '../../ui/button.tsx'
import { Select, Textarea } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import styles from './contacts.module.css'
import { usePrice } from './contacts.queries.ts'
import { TemplateDialog } from './template-dialog.tsx'

/** Writes to a contact: a text while the 24-hour window is open, or a template. */
export function Composer({ contact }: { contact: Contact }) {
  const maySend = useCan('messages:send')
  const person = personOf(contact)
  const senders = useConnectedSenders()
  const [chosen, setChosen] = useState<string | null>(null)
  const [isTemplate, setTemplate] = useState(false)
  // The sender of the conversation. If it cannot send any more, another one.
  const usual = contact.senders.find(({ id }) => senders.some((sender) => sender.id === id))?.id
  const sender = senders.find(({ id }) => id === (chosen ?? usual)) ?? senders[0]
  const expiresAt = contact.senders.find(({ id }) => id === sender?.id)?.window_expires_at ?? null
  const isOpen = useIsOpen(expiresAt)
  if (!maySend || !person) return null
  if (!sender) {
    return <p className={`${styles.composer} small quiet`}>No connected sender can write to this contact.</p>
  }
  return (
    <div className={styles.composer}>
      <div className={styles.window}>
        {senders.length > 1 && (
          <Select
            aria-label="From"
            className={styles.from ?? ''}
            data={senders.map((each) => ({ value: each.id, label: senderName(each) }))}
            value={sender.id}
            onChange={setChosen}
            allowDeselect={false}
          />
        )}
        <span className="small quiet">
          24-hour window: <ReplyWindow expiresAt={expiresAt} />
        </span>
      </div>
      {isOpen ? (
        <TextForm person={person} senderId={sender.id}>
          <Button icon="template" onClick={() => setTemplate(true)}>
            Send a template
          </Button>
        </TextForm>
      ) : (
        <div className={styles.window}>
          <span className="small quiet">
            You can send text only within 24 hours after the contact has written. Until they write, send a template.
          </span>
          <Button icon="template" kind="primary" onClick={() => setTemplate(true)}>
            Send a template
          </Button>
        </div>
      )}
      {isTemplate && <TemplateDialog person={person} sender={sender} onClose={() => setTemplate(false)} />}
    </div>
  )
}

/** The name of the draft for a contact. */
export const useDraftKey = (): ((person: Person) => string) => {
  const [by, workspace] = [useSession().person.id, useHere().id]
  return (person) => JSON.stringify([by, workspace, person])
}

/** Enter sends, Shift+Enter adds a line break. */
function TextForm({ person, senderId, children }: { person: Person; senderId: string; children: ReactNode }) {
  const price = usePrice('text')
  const draftKey = useDraftKey()(person)
  const form = useForm({
    first: { 'text.body': draftOf(draftKey) },
    action: useSendMessage({ opens: false }),
    input: ({ 'text.body': body }) => ({
      sender_id: senderId,
      ...addressOf(person),
      type: 'text',
      text: { body: body.trim() },
    }),
    onDone: (_sent, { 'text.body': sent }): void => {
      // The page may have been left, or more typed, while it was sent. The draft has the current text.
      if (draftOf(draftKey) !== sent) return
      saveDraft(draftKey, '')
      form.set({ 'text.body': '' })
    },
  })
  const { 'text.body': text } = form.values
  const isEmpty = text.trim() === ''
  useEffect(() => {
    saveDraft(draftKey, isEmpty ? '' : text)
  }, [draftKey, isEmpty, text])
  return (
    <Form form={form} className={styles.text} disabled={isEmpty} guarded={false}>
      <Textarea
        aria-label="Write a message"
        placeholder={price === undefined ? 'Write a message' : `Write a message (${costOf(price)})`}
        autosize
        minRows={1}
        maxRows={8}
        maxLength={4096}
        {...form.text('text.body')}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          if (!isEmpty) form.submit()
        }}
      />
      {children}
      <Button type="submit" kind="primary" busy={form.isPending} disabled={isEmpty}>
        Send
      </Button>
    </Form>
  )
}

const costOf = (credits: number): string => (credits === 0 ? 'free' : `costs ${plural(credits, 'credit')}`)
