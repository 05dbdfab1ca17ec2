import { type CreatedWebhook, webhookStates } from '@parley/contract/console/webhooks'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { usePaletteActions } from '../../lib/palette-actions.ts'
import { useCan, useHere } from '../../lib/session.ts'
import { useFilters, useSearchParam } from '../../lib/url.ts'
import { ListBar } from '../../parts/list-bar.tsx'
import { Button } from '../../ui/button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { optionsOf } from '../../ui/filter-bar.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { CreateWebhookDialog } from './create-webhook.tsx'
import { NewSecretDialog } from './new-secret.tsx'
import { columnsFor } from './webhook-columns.tsx'
import { useWebhooks } from './webhooks.queries.ts'

export function WebhooksPage() {
  const here = useHere()
  const navigate = useNavigate()
  const mayManage = useCan('webhooks:manage')
  const filters = useFilters('q', 'state', 'from', 'to')
  const list = useWebhooks(filters)
  const [creating, setCreating] = useSearchParam('new')
  const [created, setCreated] = useState<CreatedWebhook | null>(null)
  const open = (id: string) => void navigate({ to: here.path(`webhooks/${id}`) })
  const actions = useMemo(
    () =>
      mayManage
        ? [{ id: 'create-webhook', title: 'Create webhook', keywords: 'endpoint', run: () => setCreating('1') }]
        : [],
    [mayManage, setCreating],
  )
  usePaletteActions(actions)
  const create = mayManage && (
    <Button kind="primary" icon="plus" onClick={() => setCreating('1')}>
      Create webhook
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Webhooks"
        detail="Parley sends signed events to your URLs. Events are retried while a URL is down and held while a webhook is disabled."
        actions={create}
      />
      <PageBody>
        <ListBar
          query={filters}
          noun={['webhook']}
          total={{ rows: list.rows?.length }}
          file="webhooks.csv"
          search={{ name: 'q', label: 'Search webhooks', placeholder: 'Name or URL' }}
          filters={[
            { kind: 'select', name: 'state', title: 'Status', options: optionsOf(webhookStates) },
            { kind: 'dates', title: 'Created' },
          ]}
        />
        <DataTable
          label="Webhooks"
          list={list}
          rowKey={(webhook) => webhook.id}
          onOpen={(webhook) => open(webhook.id)}
          columns={columnsFor((id) => here.path(`webhooks/${id}`))}
          empty={
            Object.keys(filters).length > 0 ? (
              <EmptyState icon="search" title="No matching webhooks">
                Remove a filter to see more.
              </EmptyState>
            ) : (
              <EmptyState icon="webhook" title="No webhooks yet" action={create}>
                {mayManage
                  ? 'Create a webhook to receive events in your system, such as incoming messages, delivery statuses and form submissions.'
                  : 'Ask an admin of this workspace to create one.'}
              </EmptyState>
            )
          }
        />
      </PageBody>
      {creating !== null && mayManage && (
        <CreateWebhookDialog
          onClose={() => setCreating(null)}
          onCreated={(next) => {
            setCreating(null)
            setCreated(next)
          }}
        />
      )}
      {created && <NewSecretDialog created={created} onClose={() => open(created.webhook.id)} />}
    </>
  )
}
