import type { ListedKey } from '@parley/contract/console/keys'
import { useHere } from '../../lib/session.ts'
import type { Column } from '../../ui/data-table.tsx'
import { Row } from '../../ui/layout.tsx'
import { PageLink, SafeText } from '../../ui/link.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Chip } from '../../ui/status-badge.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { Tip } from '../../ui/tip.tsx'
import { type KeyAction, KeyStatus } from './key-drawer.tsx'
import { Expiry } from './key-expiry.tsx'
import { KeyBars } from './key-requests.tsx'
import styles from './keys.module.css'

/** The columns of the list of keys. */
export const columnsFor = (
  mayManage: boolean,
  act: (action: KeyAction, key: ListedKey) => void,
): Column<ListedKey>[] => [
  {
    key: 'name',
    title: 'Name',
    cell: (key) => (
      <span className="lines">
        <SafeText className="clip">{key.name}</SafeText>
        <span className={`${styles.hint} mono`}>{key.hint}</span>
      </span>
    ),
  },
  {
    key: 'state',
    title: 'Status',
    width: 116,
    cell: (key) => <KeyStatus apiKey={key} />,
  },
  {
    key: 'scopes',
    title: 'Scopes and limits',
    width: 200,
    hideOn: 'tablet',
    cell: (key) => (
      <span className="lines">
        <Scopes scopes={key.scopes} />
        <Limits apiKey={key} />
      </span>
    ),
  },
  { key: 'expires', title: 'Expires', width: 130, cell: (key) => <Expiry apiKey={key} /> },
  {
    key: 'rotation',
    title: 'Rotation',
    width: 130,
    hideOn: 'phone',
    cell: (key) => <Rotation apiKey={key} />,
  },
  { key: 'days', title: 'Last 7 days', width: 112, hideOn: 'phone', cell: (key) => <KeyBars apiKey={key} /> },
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

/** "60/min, any IP" */
function Limits({ apiKey: { rate_limit_per_min, ip_allow_list } }: { apiKey: ListedKey }) {
  const [first, ...more] = ip_allow_list
  const range = first?.replace(/\/(32|128)$/, '')
  return (
    <span className="small quiet clip">
      {rate_limit_per_min}/min,{' '}
      {range === undefined ? 'any IP' : `${range}${more.length > 0 ? ` +${more.length}` : ''}`}
    </span>
  )
}

/** The key that a rotation replaced it with, and the key that it replaced. */
function Rotation({ apiKey: { replaced_by, replaces } }: { apiKey: ListedKey }) {
  if (!replaced_by && !replaces) return <span className="quiet">–</span>
  return (
    <span className="lines">
      {replaced_by && (
        <>
          <span className="small quiet">replaced by</span>
          <OtherKey other={replaced_by} />
        </>
      )}
      {replaces && (
        <>
          <span className="small quiet">replaces</span>
          <OtherKey other={replaces} />
        </>
      )}
    </span>
  )
}

const OtherKey = ({ other: { id, hint } }: { other: { id: string; hint: string } }) => (
  <PageLink to={useHere().path(`keys?open=${id}`)} className="link mono small">
    {hint.split('_').at(-1)}
  </PageLink>
)
