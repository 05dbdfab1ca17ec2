import type { CreatedKey, ListedKey } from '@parley/contract/console/keys'
import { useMemo, useState } from 'react'
import { useLast } from '../../lib/last.ts'
import { usePaletteActions } from '../../lib/palette-actions.ts'
import { useCan, useSession } from '../../lib/session.ts'
import { useFilters, useSearchParam, useSearchParams } from '../../lib/url.ts'
import { ListBar } from '../../parts/list-bar.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { PageBody, Row } from '../../ui/layout.tsx'
import { SafeText } from '../../ui/link.tsx'
import { Menu } from '../../ui/menu.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Chip } from '../../ui/status-badge.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { Tip } from '../../ui/tip.tsx'
import { CreateKeyDialog, EditKeyDialog } from './key-dialog.tsx'
import { type KeyAction, KeyDrawer, KeyStatus } from './key-drawer.tsx'
import { KeySparkline } from './key-sparkline.tsx'
import styles from './keys.module.css'
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

const columnsFor = (mayManage: boolean, act: (action: KeyAction, key: ListedKey) => void): Column<ListedKey>[] => [
  {
    key: 'name',
    title: 'Name',
    cell: (key) => (
      <span className="lines">
        <SafeText className="clip">{key.name}</SafeText>
        <span className={`${styles.hint} mono`}>{key.hint}</span>
        {key.replaced_by && (
          <span className={styles.replacement}>
            New key: <span className="mono">{key.replaced_by.hint.split('_').at(-1)}</span>
          </span>
        )}
      </span>
    ),
  },
  {
    key: 'state',
    title: 'Status',
    width: 116,
    cell: (key) => (
      <span className="lines">
        <KeyStatus apiKey={key} />
        {key.state === 'expiring' && (
          <span className="small quiet">
            ends <TimeAgo at={key.expires_at} />
          </span>
        )}
      </span>
    ),
  },
  { key: 'scopes', title: 'Scopes', width: 190, hideOn: 'tablet', cell: (key) => <Scopes scopes={key.scopes} /> },
  {
    key: 'rate',
    title: 'Rate limit',
    width: 100,
    align: 'right',
    cell: (key) => <span className="numbers">{key.rate_limit_per_min}/min</span>,
  },
  {
    key: 'ips',
    title: 'IP allowlist',
    width: 130,
    hideOn: 'tablet',
    cell: ({ ip_allow_list: [first, ...more] }) =>
      first === undefined ? (
        <span className="quiet">Any</span>
      ) : (
        <Row gap={1} wrap={false} className="mono small">
          <span className="clip">{first.replace(/\/(32|128)$/, '')}</span>
          {more.length > 0 && <span>+{more.length}</span>}
        </Row>
      ),
  },
  { key: 'days', title: 'Last 7 days', width: 92, hideOn: 'phone', cell: (key) => <KeySparkline apiKey={key} /> },
  {
    key: 'used',
    title: 'Last used',
    width: 140,
    cell: (key) => (
      <span className="lines">
        <TimeAgo at={key.last_used_at} />
        {key.last_used_ip && <span className={`${styles.hint} mono clip`}>{key.last_used_ip}</span>}
      </span>
    ),
  },
  {
    key: 'by',
    title: 'Created by',
    width: 170,
    hideOn: 'tablet',
    cell: (key) => <SafeText className="clip">{key.created_by}</SafeText>,
  },
  {
    key: 'actions',
    title: '',
    width: 48,
    align: 'right',
    cell: (key) =>
      mayManage && key.state !== 'revoked' ? (
        <Menu
          label={`Actions for ${key.name}`}
          groups={[
            [
              { title: 'Edit', icon: 'edit', onSelect: () => act('edit', key) },
              { title: 'Rotate', icon: 'retry', onSelect: () => act('rotate', key) },
            ],
            [{ title: 'Revoke', icon: 'minusCircle', danger: true, onSelect: () => act('revoke', key) }],
          ]}
        />
      ) : null,
  },
]

function Scopes({ scopes }: { scopes: readonly string[] }) {
  // Write scopes first: they matter more.
  const [first, ...more] = scopes.toSorted(
    (left, right) => Number(left.endsWith(':read')) - Number(right.endsWith(':read')),
  )
  if (first === undefined) return <span className="quiet">None</span>
  return (
    <Row gap={1} wrap={false}>
      <Chip mono>{first}</Chip>
      {more.length > 0 && (
        <Tip text={more.join(', ')}>
          <span>
            <Chip>+{more.length}</Chip>
          </span>
        </Tip>
      )}
    </Row>
  )
}
