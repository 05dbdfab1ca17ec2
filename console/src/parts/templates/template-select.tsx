import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { useCan, useHere } from '../../lib/session.ts'
import { Select } from '../../ui/fields.tsx'
import { PageLink } from '../../ui/link.tsx'

interface Props {
  /** The templates that can be sent. */
  templates: readonly ConsoleTemplate[]
  value: string | null
  onChange: (id: string | null) => void
  error?: string | undefined
  'data-autofocus'?: boolean
}

/** A template to send. If none fits, it can be created. */
export function TemplateSelect({ templates, ...field }: Props) {
  const here = useHere()
  const mayManage = useCan('templates:manage')
  return (
    <Select
      label="Template"
      placeholder={templates.length === 0 ? 'No approved templates' : 'Choose a template'}
      description={
        mayManage && (
          <>
            {templates.length === 0 ? 'WhatsApp has not approved a template yet. ' : 'None fits? '}
            <PageLink to={here.path('templates/new')}>Create template</PageLink>
          </>
        )
      }
      searchable
      nothingFoundMessage="No matching templates"
      data={templates.map(({ id, name, language }) => ({ value: id, label: `${name} · ${language}` }))}
      {...field}
    />
  )
}
