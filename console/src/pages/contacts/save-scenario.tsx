import type { Contact, ConversationMessage } from '@parley/contract/console/contacts'
import { useState } from 'react'
import { api } from '../../lib/api.ts'
import { saveFile } from '../../lib/download.ts'
import type { List } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { useForm } from '../../lib/use-form.ts'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Select, Switch } from '../../ui/fields.tsx'
import { contactSenderName } from './contact-details.tsx'
import { pathOf } from './contacts.queries.ts'
import { conversationScenario } from './scenario.ts'

/** A longer conversation is no test. */
const messagesMax = 1000

/** Saves the conversation as a scenario, which tests play. */
export function SaveScenario({ id, contact: { senders } }: { id: string; contact: Contact }) {
  const [isOpen, setOpen] = useState(false)
  const here = useHere()
  const save = useAction(
    async (_, { sender, contents }: { sender: string; contents: boolean }) => {
      const rows = await readLatest(here.api(`${pathOf(id)}/messages`))
      const scenario = conversationScenario(rows.toReversed(), sender, contents)
      const number = senders.find((each) => each.id === sender)?.phone_number.replaceAll(/\D/g, '')
      saveFile(new Blob([`${JSON.stringify(scenario, null, 2)}\n`]), `scenario-${number}.json`)
    },
    { done: 'File downloaded' },
  )
  const form = useForm({
    first: { sender: senders[0]?.id ?? '', contents: false },
    action: save,
    input: (values) => values,
    onDone: () => setOpen(false),
  })
  if (senders.length === 0) return null
  return (
    <>
      <Button icon="form" onClick={() => setOpen(true)}>
        Save as scenario
      </Button>
      <FormDialog
        open={isOpen}
        onClose={() => setOpen(false)}
        title="Save as scenario"
        form={form}
        submit="Save"
        icon="download"
        guarded={false}
      >
        <p>
          A test plays this conversation with phone.play(). The file has its latest {messagesMax.toLocaleString('en')}{' '}
          messages. Texts, numbers, form values and files are replaced. IDs of buttons and products, and emojis, stay.
        </p>
        {senders.length > 1 && (
          <Select
            label="Sender"
            data={senders.map((sender) => ({ value: sender.id, label: contactSenderName(sender) }))}
            value={form.values.sender}
            onChange={(sender) => sender && form.set({ sender })}
            allowDeselect={false}
          />
        )}
        <Switch
          label="Keep what was written"
          description="The test then compares the texts of your bot. Files stay samples."
          checked={form.values.contents}
          onChange={({ currentTarget: { checked } }) => form.set({ contents: checked })}
        />
      </FormDialog>
    </>
  )
}

/** The latest messages, newest first. */
async function readLatest(path: string): Promise<ConversationMessage[]> {
  const rows: ConversationMessage[] = []
  let cursor: string | null = null
  do {
    const page: List<ConversationMessage> = await api(path, { query: { limit: 100, cursor } })
    rows.push(...page.data)
    cursor = page.has_more ? page.next_cursor : null
  } while (cursor !== null && rows.length < messagesMax)
  return rows
}
