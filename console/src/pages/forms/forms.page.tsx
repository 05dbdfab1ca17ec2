import type { ConsoleForm } from '@parley/contract/console/forms'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { plural } from '../../lib/format.ts'
import { useHere } from '../../lib/session.ts'
import { useFilters } from '../../lib/url.ts'
import { answersOf } from '../../parts/answers.ts'
import { contactOf, NamedContact } from '../../parts/contact-link.tsx'
import { ListBar } from '../../parts/list-bar.tsx'
import { timeColumn } from '../../ui/columns.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Icon } from '../../ui/icon.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { SafeText } from '../../ui/link.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Chip } from '../../ui/status-badge.tsx'
import styles from './forms.module.css'
import { useForms, useTemplateNames } from './forms.queries.ts'

export function FormsPage() {
  const here = useHere()
  const navigate = useNavigate()
  const filters = useFilters('phone', 'flow', 'from', 'to')
  const forms = useForms(filters)
  const names = useTemplateNames()
  const columns = useMemo(() => columnsWith(names), [names])
  return (
    <>
      <PageHeader title="Form submissions" detail="Forms that contacts completed in WhatsApp, newest first." />
      <PageBody>
        <ListBar
          query={filters}
          noun={['submission']}
          total={{ path: 'forms', topics: ['forms', 'messages'], shown: forms.rows?.length ?? 0 }}
          file="forms.csv"
          filters={[
            { kind: 'text', name: 'phone', title: 'Phone number', placeholder: '+49 170 1234567' },
            { kind: 'text', name: 'flow', title: 'Form ID' },
            { kind: 'dates', title: 'Submitted' },
          ]}
        />
        <DataTable
          label="Form submissions"
          list={forms}
          rowKey={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: here.path(`forms/${id}`) })}
          columns={columns}
          empty={
            Object.keys(filters).length > 0 ? (
              <EmptyState icon="search" title="No matching submissions">
                Phone numbers and form IDs must match exactly. Remove a filter to see more.
              </EmptyState>
            ) : (
              <EmptyState icon="form" title="No submissions yet">
                Send a template with a form button. Submissions appear here immediately and trigger{' '}
                <span className="mono">flow.completed</span> events.
              </EmptyState>
            )
          }
        />
      </PageBody>
    </>
  )
}

const columnsWith = (names: ReadonlyMap<string, string>): readonly Column<ConsoleForm>[] => [
  {
    key: 'from',
    title: 'From',
    width: 180,
    cell: (form) => {
      const person = contactOf(form)
      return person && <NamedContact person={person} name={form.contact_name} />
    },
  },
  {
    key: 'answers',
    title: 'Answers',
    cell: ({ response, content_removed_at }) => (
      <span className={styles.summary}>
        {content_removed_at !== null && <span className="quiet">Removed</span>}
        {answersOf(response)
          .slice(0, 3)
          .map(({ name, text }) => (
            <span key={name} className={styles.answer}>
              <bdi className="quiet">{name}</bdi> <SafeText className="clip">{text}</SafeText>
            </span>
          ))}
      </span>
    ),
  },
  {
    key: 'files',
    title: 'Files',
    width: 90,
    hideOn: 'tablet',
    cell: ({ files }) =>
      files.length > 0 ? (
        <span className={styles.files}>
          <Icon name="file" size={13} />
          <span className="unseen">{plural(files.length, 'file')}</span>
          <span aria-hidden="true">{files.length}</span>
        </span>
      ) : null,
  },
  {
    key: 'form',
    title: 'Form',
    width: 200,
    hideOn: 'tablet',
    cell: ({ template_id, flow_id }) =>
      template_id && names.has(template_id) ? (
        <SafeText className="clip">{names.get(template_id)}</SafeText>
      ) : flow_id ? (
        <Chip mono>{flow_id}</Chip>
      ) : (
        <span className="quiet">Unknown</span>
      ),
  },
  timeColumn('at', 'Submitted', ({ received_at }) => received_at),
]
