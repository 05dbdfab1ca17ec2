import { editableStatuses } from '@parley/contract/console/template-draft'
import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useCan, useHere } from '../../lib/session.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Menu } from '../../ui/menu.tsx'
import { hasOnlyKnownParts } from './editor/values.ts'
import { useDeleteTemplate } from './templates.queries.ts'

/** Where to edit the template; null if this person may not, or WhatsApp or the editor cannot. */
export function useEditLink(template: ConsoleTemplate): string | null {
  const here = useHere()
  const mayManage = useCan('templates:manage')
  const canEdit = editableStatuses.includes(template.status) && hasOnlyKnownParts(template)
  return mayManage && canEdit ? here.path(`templates/${template.id}/edit`) : null
}

/** Duplicate and delete. */
export function TemplateMenu({ template }: { template: ConsoleTemplate }) {
  const here = useHere()
  const navigate = useNavigate()
  const [isDeleting, setDeleting] = useState(false)
  const action = useDeleteTemplate(template.id)
  if (!useCan('templates:manage')) return null
  return (
    <>
      <Menu
        label={`Actions for ${template.name}`}
        groups={[
          [
            hasOnlyKnownParts(template) && {
              title: 'Duplicate',
              icon: 'copy',
              onSelect: () => void navigate({ to: here.path('templates/new'), search: { from: template.id } as never }),
            },
          ],
          [{ title: 'Delete', icon: 'trash', danger: true, onSelect: () => setDeleting(true) }],
        ]}
      />
      <ConfirmDialog
        open={isDeleting}
        onClose={() => setDeleting(false)}
        title={`Delete ${template.name}?`}
        confirm="Delete template"
        danger
        action={action}
        input={undefined}
        onDone={() => void navigate({ to: here.path('templates'), ignoreBlocker: true })}
      >
        WhatsApp deletes the language <span className="mono">{template.language}</span> of this template, and requests
        that send it fail. Messages that were sent stay. You can create a template with this name again after 30 days.
      </ConfirmDialog>
    </>
  )
}
