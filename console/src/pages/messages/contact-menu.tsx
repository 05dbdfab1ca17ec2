import type { MessageDetail } from '@parley/contract/console/messages'
import { useState } from 'react'
import { download } from '../../lib/download.ts'
import { useCan, useHere } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { personName, personOf } from '../../parts/recipient.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Menu } from '../../ui/menu.tsx'
import { useErase } from './messages.queries.ts'

/** Exports or erases what the workspace has about the person of a message. For admins. */
export function ContactMenu({ message }: { message: MessageDetail }) {
  const here = useHere()
  const mayManage = useCan('contacts:manage')
  const person = personOf(message)
  const save = useAction(() => download(here.api('contact.json'), 'contact.json', person ?? {}), {
    done: 'File downloaded',
  })
  const erase = useErase()
  const [isOpen, setOpen] = useState(false)
  if (!mayManage || person === null) return null
  return (
    <>
      <Menu
        label="Actions for this contact"
        groups={[
          [{ title: 'Export data', icon: 'download', onSelect: () => save.run() }],
          [{ title: 'Erase contact', icon: 'trash', onSelect: () => setOpen(true), danger: true }],
        ]}
      />
      <ConfirmDialog
        open={isOpen}
        onClose={() => setOpen(false)}
        title="Erase this contact?"
        confirm="Erase contact"
        action={erase}
        input={person}
        typed={'phone' in person ? `+${person.phone}` : person.user_id}
      >
        <p>
          Removes everything that this workspace has about <bdi>{personName(message)}</bdi>: all messages with them,
          forms, files, names and events. Statuses and credits stay, without the person. This cannot be undone.
        </p>
        <p>Backups, and the servers behind your webhooks, keep what they have.</p>
      </ConfirmDialog>
    </>
  )
}
