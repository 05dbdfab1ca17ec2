import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { templateCategories, templateStatuses } from '@parley/contract/template'
import { useNavigate } from '@tanstack/react-router'
import { templateBubble } from '../../lib/bubble.ts'
import { plainWord } from '../../lib/format.ts'
import { useCan, useHere } from '../../lib/session.ts'
import { useFilters } from '../../lib/url.ts'
import { ListBar } from '../../parts/list-bar.tsx'
import { Quality } from '../../parts/quality.tsx'
import { SyncButton } from '../../parts/sync-button.tsx'
import { examplesOf } from '../../parts/templates/values.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { timeColumn } from '../../ui/columns.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { optionsOf } from '../../ui/filter-bar.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Chip } from '../../ui/status-badge.tsx'
import { CountCell } from './counts.tsx'
import { TemplateStatus } from './template-status.tsx'
import styles from './templates.module.css'
import { useTemplateCounts, useTemplates } from './templates.queries.ts'

export function TemplatesPage() {
  const here = useHere()
  const navigate = useNavigate()
  const mayManage = useCan('templates:manage')
  const filters = useFilters('q', 'status', 'category', 'language', 'from', 'to')
  const templates = useTemplates(filters)
  const countsOf = useTemplateCounts((templates.rows ?? []).map(({ id }) => id))
  return (
    <>
      <PageHeader
        title="Templates"
        detail="Message templates approved by WhatsApp. You need one to start a conversation."
        actions={
          <>
            <SyncButton />
            {mayManage && <CreateTemplate />}
          </>
        }
      />
      <PageBody>
        <ListBar
          query={filters}
          noun={['template']}
          total={{ path: 'templates', topics: ['templates'], shown: templates.rows?.length ?? 0 }}
          file="templates.csv"
          search={{ name: 'q', label: 'Search templates by name', placeholder: 'Name' }}
          filters={[
            { kind: 'select', name: 'status', title: 'Status', options: optionsOf(templateStatuses) },
            { kind: 'select', name: 'category', title: 'Category', options: optionsOf(templateCategories) },
            { kind: 'text', name: 'language', title: 'Language', placeholder: 'en_US' },
            { kind: 'dates', title: 'Last changed' },
          ]}
        />
        <DataTable
          label="Templates"
          list={templates}
          rowKey={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: here.path(`templates/${id}`) })}
          columns={[...columns, ...countColumns(countsOf), changed]}
          empty={
            Object.keys(filters).length > 0 ? (
              <EmptyState icon="search" title="No matching templates">
                Remove a filter or search for a shorter part of the name.
              </EmptyState>
            ) : (
              <EmptyState
                icon="template"
                title="No templates yet"
                action={mayManage ? <CreateTemplate /> : <SyncButton />}
              >
                WhatsApp reviews each template, usually within minutes. Templates that you create in WhatsApp Manager
                appear here too.
              </EmptyState>
            )
          }
        />
      </PageBody>
    </>
  )
}

function CreateTemplate() {
  return (
    <ButtonLink to={useHere().path('templates/new')} kind="primary" icon="plus">
      Create template
    </ButtonLink>
  )
}

const columns: readonly Column<ConsoleTemplate>[] = [
  {
    key: 'name',
    title: 'Template',
    cell: ({ name, components, variables }) => (
      <span className={styles.name}>
        <bdi className="clip">{name}</bdi>
        <bdi className="small quiet clip">{templateBubble(components, examplesOf(variables)).body}</bdi>
      </span>
    ),
  },
  { key: 'language', title: 'Language', width: 90, cell: ({ language }) => <Chip mono>{language}</Chip> },
  {
    key: 'category',
    title: 'Category',
    width: 120,
    hideOn: 'tablet',
    cell: ({ category }) => category.charAt(0) + category.slice(1).toLowerCase(),
  },
  { key: 'status', title: 'Status', width: 180, cell: (template) => <TemplateStatus template={template} /> },
  {
    key: 'quality',
    title: 'Quality',
    width: 96,
    hideOn: 'tablet',
    cell: ({ quality }) => <Quality rating={quality} />,
  },
]

/** The messages of the last 30 days. */
const countColumns = (countsOf: ReturnType<typeof useTemplateCounts>): Column<ConsoleTemplate>[] =>
  (['sent', 'read', 'failed'] as const).map((kind) => ({
    key: kind,
    title: plainWord(kind),
    width: kind === 'read' ? 120 : 84,
    align: 'right',
    ...(kind === 'read' && { hideOn: 'phone' }),
    cell: ({ id }) => <CountCell id={id} kind={kind} counts={countsOf(id)} />,
  }))

const changed: Column<ConsoleTemplate> = timeColumn('updated', 'Last changed', ({ updated_at }) => updated_at)
