import type { ListedKey } from '@parley/contract/console/keys'
import { plural } from '../../lib/format.ts'
import { useCan, useHere } from '../../lib/session.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { CopyId } from '../../ui/copy-button.tsx'
import { Drawer } from '../../ui/drawer.tsx'
import { KeyValue } from '../../ui/figures.tsx'
import { Row, Stack } from '../../ui/layout.tsx'
import { PageLink, SafeText } from '../../ui/link.tsx'
import { Notice } from '../../ui/states.tsx'
import { Chip, StatusBadge } from '../../ui/status-badge.tsx'
import { Moment, TimeAgo } from '../../ui/time.tsx'
import { Expiry } from './key-expiry.tsx'
import { KeyHistory } from './key-history.tsx'
import { KeyChart } from './key-requests.tsx'
import styles from './keys.module.css'

export type KeyAction = 'edit' | 'rotate' | 'revoke'

/** The state of a key. A rotated key that still works says so. */
export const KeyStatus = ({ apiKey: { state, replaced_by } }: { apiKey: ListedKey }) =>
  replaced_by && state === 'expiring' ? <StatusBadge status={state} word="Rotated" /> : <StatusBadge status={state} />

export function KeyDrawer({
  open,
  apiKey,
  onClose,
  onAction,
}: {
  open: boolean
  apiKey: ListedKey
  onClose: () => void
  onAction: (action: KeyAction) => void
}) {
  const here = useHere()
  const mayManage = useCan('keys:manage')
  const isAlive = apiKey.state === 'active' || apiKey.state === 'expiring'
  return (
    <Drawer
      open={open}
      onClose={onClose}
      title={<SafeText>{apiKey.name}</SafeText>}
      badge={<KeyStatus apiKey={apiKey} />}
    >
      <Stack gap={5}>
        {mayManage && apiKey.state !== 'revoked' && (
          <Row>
            <Button icon="edit" onClick={() => onAction('edit')}>
              Edit
            </Button>
            <Button icon="retry" onClick={() => onAction('rotate')}>
              Rotate
            </Button>
            <Button kind="danger" icon="minusCircle" onClick={() => onAction('revoke')}>
              Revoke
            </Button>
          </Row>
        )}
        {apiKey.replaced_by && apiKey.state === 'expiring' && (
          <Notice tone="warn" title="This key was rotated.">
            It stops working <TimeAgo at={apiKey.expires_at} /> and is replaced by{' '}
            <span className="mono">{apiKey.replaced_by.hint}</span>.
          </Notice>
        )}
        {!isAlive && (
          <Notice tone="note">
            {apiKey.state === 'revoked'
              ? 'Requests with this key fail with key_revoked.'
              : 'Requests with this key fail with key_expired. It cannot be renewed: rotate it or create a new key.'}
          </Notice>
        )}
        <KeyValue
          facts={[
            { name: 'Key ID', value: <CopyId id={apiKey.id} /> },
            { name: 'Secret', value: <span className="mono">{apiKey.hint}</span> },
            {
              name: 'Scopes',
              value:
                apiKey.scopes.length === 0 ? (
                  'None. The key can only call GET /v1/me.'
                ) : (
                  <Row gap={1}>
                    {apiKey.scopes.map((scope) => (
                      <Chip key={scope} mono>
                        {scope}
                      </Chip>
                    ))}
                  </Row>
                ),
            },
            { name: 'Rate limit', value: `${plural(apiKey.rate_limit_per_min, 'request')} per minute` },
            {
              name: 'IP allowlist',
              value:
                apiKey.ip_allow_list.length === 0 ? (
                  'Any IP address'
                ) : (
                  <Row gap={1}>
                    {apiKey.ip_allow_list.map((range) => (
                      <Chip key={range} mono>
                        {range}
                      </Chip>
                    ))}
                  </Row>
                ),
            },
            { name: 'Expires', value: <Expiry apiKey={apiKey} isExact /> },
            apiKey.replaced_by !== null && {
              name: 'Replaced by',
              value: (
                <PageLink to={here.path(`keys?open=${apiKey.replaced_by.id}`)} className="link mono">
                  {apiKey.replaced_by.hint}
                </PageLink>
              ),
            },
            apiKey.replaces !== null && {
              name: 'Replaces',
              value: (
                <PageLink to={here.path(`keys?open=${apiKey.replaces.id}`)} className="link mono">
                  {apiKey.replaces.hint}
                </PageLink>
              ),
            },
            apiKey.revoked_at !== null && { name: 'Revoked', value: <Moment at={apiKey.revoked_at} /> },
            {
              name: 'Last used',
              value: apiKey.last_used_at ? (
                <>
                  <TimeAgo at={apiKey.last_used_at} /> from <span className="mono">{apiKey.last_used_ip}</span>
                </>
              ) : (
                'Never'
              ),
            },
            {
              name: 'Created',
              value: (
                <>
                  <Moment at={apiKey.created_at} /> by <SafeText>{apiKey.created_by}</SafeText>
                </>
              ),
            },
          ]}
        />
        <section>
          <h3 className={styles.heading}>Requests in the last 7 days</h3>
          <KeyChart apiKey={apiKey} />
        </section>
        <KeyHistory apiKey={apiKey} />
        <Row>
          <ButtonLink icon="request" to={here.path(`requests?key=${apiKey.id}`)}>
            View requests
          </ButtonLink>
        </Row>
      </Stack>
    </Drawer>
  )
}
