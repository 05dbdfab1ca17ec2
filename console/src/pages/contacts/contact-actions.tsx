import { useState } from 'react'
import { download } from '../../lib/download.ts'
import { useCan, useHere } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import type { Person } from '../../parts/recipient.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { useErase } from './contacts.queries.ts'

/** Exports or erases what the workspace has about a contact. For admins. */
export function ContactActions({ person, name, isErasing }: { person: Person; name: string; isErasing: boolean }) {
  const here = useHere()
  const mayManage = useCan('contacts:manage')
  const save = useAction(() => download(here.api('contact.json'), 'contact.json', person), { done: 'File downloaded' })
  const erase = useErase()
  const [isOpen, setOpen] = useState(false)
  if (!mayManage) return null
  return (
    <>
      <Button icon="download" busy={save.isPending} onClick={() => save.run()}>
        Export data
      </Button>
      {!isErasing && (
        <Button kind="danger" icon="trash" onClick={() => setOpen(true)}>
          Erase
        </Button>
      )}
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
          Removes everything that this workspace has about <bdi>{name}</bdi>: all messages with them, forms, files,
          names and events. Statuses and credits stay, without the person. This cannot be undone.
        </p>
        <p>Backups, and the servers behind your webhooks, keep what they have.</p>
      </ConfirmDialog>
    </>
  )
}
