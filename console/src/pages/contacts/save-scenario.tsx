import { type Contact, type ConversationMessage, scenarioMessagesMax } from '@parley/contract/console/contacts'
import { useState } from 'react'
import { apiFile } from '../../lib/api.ts'
import { saveFile } from '../../lib/download.ts'
import { readRows } from '../../lib/query.ts'
import { useCan, useHere } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { useForm } from '../../lib/use-form.ts'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Select, Switch } from '../../ui/fields.tsx'
import { contactSenderName } from './contact-details.tsx'
import { pathOf } from './contacts.queries.ts'
import { conversationScenario } from './scenario.ts'

/** Saves the conversation as a scenario, which tests play. With what was written, it is an export, for admins. */
export function SaveScenario({ id, contact: { senders } }: { id: string; contact: Contact }) {
  const [isOpen, setOpen] = useState(false)
  const here = useHere()
  const mayExport = useCan('contacts:manage')
  const save = useAction(
    async (_, { sender, contents }: { sender: string; contents: boolean }) => {
      const path = here.api(pathOf(id))
      const rows = contents ? await readExport(`${path}/conversation.json`) : await readLatest(path)
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
          A test plays this conversation with phone.play(). The file has its latest{' '}
          {scenarioMessagesMax.toLocaleString('en')} messages. Texts, numbers, form values and files are replaced. IDs
          of buttons and products, and emojis, stay.
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
        {mayExport && (
          <Switch
            label="Keep what was written"
            description="The test then compares the texts of your bot. Files stay samples. The audit log has an entry for it."
            checked={form.values.contents}
            onChange={({ currentTarget: { checked } }) => form.set({ contents: checked })}
          />
        )}
      </FormDialog>
    </>
  )
}

/** The latest messages, newest first. Audited, and only for a person who confirmed who they are. */
const readExport = async (path: string) => JSON.parse(await (await apiFile(path)).text()) as ConversationMessage[]

/** The latest messages, newest first. */
const readLatest = (path: string) => readRows<ConversationMessage>(`${path}/messages`, scenarioMessagesMax)
