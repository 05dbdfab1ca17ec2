import { useCan, useHere } from '../../lib/session.ts'
import { useForm } from '../../lib/use-form.ts'
import { useSendMessage } from '../../parts/network.queries.ts'
import { addressOf, type Person } from '../../parts/recipient.tsx'
import { Button } from '../../ui/button.tsx'
import { Textarea } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { PageLink } from '../../ui/link.tsx'
import styles from './messages.module.css'
import { templateLink } from './messages.queries.ts'
import { ReplyWindow, useIsOpen } from './reply-window.tsx'

/** Replies in a conversation from the same sender. Enter sends, Shift+Enter adds a line break. */
export function Composer({
  person,
  senderId,
  windowExpiresAt,
}: {
  person: Person
  senderId: string
  windowExpiresAt: string | null
}) {
  const here = useHere()
  const isOpen = useIsOpen(windowExpiresAt)
  const maySend = useCan('messages:send')
  const form = useForm({
    first: { 'text.body': '' },
    action: useSendMessage({ opens: false }),
    input: ({ 'text.body': body }) => ({
      sender_id: senderId,
      ...addressOf(person),
      type: 'text',
      text: { body: body.trim() },
    }),
    onDone: (): void => form.reset(),
  })
  if (!maySend) return null
  const isEmpty = form.values['text.body'].trim() === ''
  return (
    <Form form={form} className={styles.composer} disabled={isEmpty}>
      <span className={`${styles.window} small quiet`}>
        24-hour window: <ReplyWindow expiresAt={windowExpiresAt} />{' '}
        {!isOpen && <PageLink to={here.path(templateLink(person, senderId))}>Send a template</PageLink>}
      </span>
      <Textarea
        aria-label="Write a message"
        placeholder="Write a message (costs credits)"
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
      <Button type="submit" kind="primary" busy={form.isPending} disabled={isEmpty}>
        Send
      </Button>
    </Form>
  )
}
