import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useCan, useHere } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { Textarea } from '../../ui/fields.tsx'
import { toast } from '../../ui/toasts.tsx'
import styles from './messages.module.css'
import { sendMessage } from './messages.queries.ts'

/** Writes to the person of the conversation, from the number they wrote to. Enter sends, Shift and Enter breaks the line. */
export function Composer({ phone, senderId }: { phone: string; senderId: string }) {
  const here = useHere()
  const client = useQueryClient()
  const maySend = useCan('messages:send')
  const [text, setText] = useState('')
  const send = useMutation({
    mutationFn: () =>
      sendMessage(here.api('messages'), { sender_id: senderId, to: phone, type: 'text', text: { body: text.trim() } }),
    onSuccess: async () => {
      setText('')
      await client.invalidateQueries({ queryKey: [here.api('messages')] })
    },
    onError: (error) => toast.failed(error),
  })
  if (!maySend) return null
  const submit = () => {
    if (text.trim() !== '' && !send.isPending) send.mutate()
  }
  return (
    <form
      className={styles.composer}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <Textarea
        aria-label="Write a message"
        placeholder="Write a message; it costs credits"
        autosize
        minRows={1}
        maxRows={8}
        maxLength={4096}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          submit()
        }}
      />
      <Button type="submit" kind="primary" busy={send.isPending} disabled={text.trim() === ''}>
        Send
      </Button>
    </form>
  )
}
