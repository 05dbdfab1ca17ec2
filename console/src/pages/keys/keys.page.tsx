import type { CreatedKey, ListedKey } from '@parley/contract/console/keys'
import { useMemo, useState } from 'react'
import { useLast } from '../../lib/last.ts'
import { usePaletteActions } from '../../lib/palette-actions.ts'
import { useCan, useSession } from '../../lib/session.ts'
import { useFilters, useSearchParam, useSearchParams } from '../../lib/url.ts'
import { ListBar } from '../../parts/list-bar.tsx'
import { Button } from '../../ui/button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { columnsFor } from './key-columns.tsx'
import { CreateKeyDialog, EditKeyDialog } from './key-dialog.tsx'
import { type KeyAction, KeyDrawer } from './key-drawer.tsx'
import { useKeys } from './keys.queries.ts'
import { NewKeyDialog } from './new-key.tsx'
import { RevokeKeyDialog, RotateKeyDialog } from './rotate-revoke-dialogs.tsx'
import { snippetsFor } from './snippets.ts'

const states = [
  { value: 'active', title: 'Active' },
  { value: 'expiring', title: 'Expiring' },
  { value: 'expired', title: 'Expired' },
  { value: 'revoked', title: 'Revoked' },
]

export function KeysPage() {
  const mayManage = useCan('keys:manage')
  const { public_url: url } = useSession()
  const filters = useFilters('state', 'q', 'from', 'to')
  const list = useKeys(filters)
  const [openId, setOpenId] = useSearchParam('open', { push: true })
  const [creating, setCreating] = useSearchParam('new')
  // The API errors page links here with the IP address or scope that would fix the error.
  const [{ add_ip: range, add_scope: scope }, changeSearch] = useSearchParams()
  const [created, setCreated] = useState<CreatedKey | null>(null)
  const [action, setAction] = useState<{ kind: KeyAction; key: ListedKey } | null>(null)

  const open = list.rows?.find((key) => key.id === openId)
  const lastOpen = useLast(open)
  const actions = useMemo(
    () =>
      mayManage ? [{ id: 'create-key', title: 'Create key', keywords: 'api secret', run: () => setCreating('1') }] : [],
    [mayManage, setCreating],
  )
  usePaletteActions(actions)

  const create = mayManage && (
    <Button kind="primary" icon="plus" onClick={() => setCreating('1')}>
      Create key
    </Button>
  )
  const show = (next: CreatedKey) => {
    setCreating(null)
    setAction(null)
    setCreated(next)
  }
  const isFiltered = Object.keys(filters).length > 0
  return (
    <>
      <PageHeader
        title="API keys"
        detail="Use a separate key for each system. The secret is shown once, when you create the key."
        actions={create}
      />
      <PageBody>
        <ListBar
          query={filters}
          noun={['key']}
          total={{ rows: list.rows?.length }}
          file="keys.csv"
          search={{ name: 'q', label: 'Search keys', placeholder: 'Name or ID…' }}
          filters={[
            { kind: 'select', name: 'state', title: 'Status', options: states },
            { kind: 'dates', title: 'Created' },
          ]}
        />
        <DataTable
          label="API keys"
          list={list}
          rowKey={(key) => key.id}
          onOpen={(key) => setOpenId(key.id)}
          openKey={openId}
          columns={columnsFor(mayManage, (kind, key) => setAction({ kind, key }))}
          empty={
            isFiltered ? (
              <EmptyState icon="key" title="No matching keys">
                Clear the search or the filter to see all keys.
              </EmptyState>
            ) : (
              <EmptyState icon="key" title="No keys yet" action={create} curl={snippetsFor(url, null)[0]?.code ?? ''}>
                {mayManage
                  ? 'Your code needs a key to call the API. Create one, then try it:'
                  : 'Your code needs a key to call the API. Ask an admin of this workspace to create one.'}
              </EmptyState>
            )
          }
        />
      </PageBody>
      {lastOpen && (
        <KeyDrawer
          open={open !== undefined}
          apiKey={lastOpen}
          onClose={() => setOpenId(null)}
          onAction={(kind) => setAction({ kind, key: lastOpen })}
        />
      )}
      {creating !== null && mayManage && <CreateKeyDialog onClose={() => setCreating(null)} onCreated={show} />}
      {open && mayManage && (range || scope) && (
        <EditKeyDialog
          apiKey={open}
          adding={{ ...(range ? { range } : {}), ...(scope ? { scope } : {}) }}
          onClose={() => changeSearch({ add_ip: null, add_scope: null })}
        />
      )}
      {action?.kind === 'edit' && <EditKeyDialog apiKey={action.key} onClose={() => setAction(null)} />}
      {action?.kind === 'rotate' && (
        <RotateKeyDialog apiKey={action.key} onClose={() => setAction(null)} onCreated={show} />
      )}
      {action?.kind === 'revoke' && <RevokeKeyDialog apiKey={action.key} onClose={() => setAction(null)} />}
      {created && <NewKeyDialog created={created} onClose={() => setCreated(null)} />}
    </>
  )
}
