import { pageOf, sentenceOf } from '../../lib/audit-actions.ts'
import { deviceOf } from '../../lib/device.ts'
import { useHere } from '../../lib/session.ts'
import { CopyId } from '../../ui/copy-button.tsx'
import { Drawer } from '../../ui/drawer.tsx'
import { KeyValue } from '../../ui/figures.tsx'
import { Stack } from '../../ui/layout.tsx'
import { PageLink, SafeText } from '../../ui/link.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Chip } from '../../ui/status-badge.tsx'
import { Moment } from '../../ui/time.tsx'
import styles from './audit.module.css'
import type { AuditEntry } from './audit.queries.ts'
import { Difference } from './difference.tsx'

export function EntryDrawer({
  entry,
  isOpen,
  onClose,
}: {
  entry: AuditEntry | undefined
  isOpen: boolean
  onClose: () => void
}) {
  return (
    <Drawer open={isOpen} onClose={onClose} title="Audit log entry">
      {entry ? (
        <Details entry={entry} />
      ) : (
        <EmptyState icon="audit" title="Entry not in the list">
          It is older than the loaded entries, or a filter hides it. Load more or remove a filter.
        </EmptyState>
      )}
    </Drawer>
  )
}

function Details({ entry }: { entry: AuditEntry }) {
  const here = useHere()
  const page = pageOf(entry)
  return (
    <Stack gap={6}>
      <p className={styles.sentence}>
        <bdi className={styles.actor}>{entry.actor_name ?? entry.actor}</bdi> <bdi>{sentenceOf(entry)}</bdi>
      </p>
      <KeyValue
        facts={[
          { name: 'Time', value: <Moment at={entry.at} /> },
          {
            name: 'Person',
            value: (
              <span>
                {entry.actor_name && (
                  <>
                    <bdi>{entry.actor_name}</bdi> ·{' '}
                  </>
                )}
                <PageLink to={here.path(`audit?actor=${encodeURIComponent(entry.actor)}`)}>{entry.actor}</PageLink>
              </span>
            ),
          },
          { name: 'Action', value: <Chip mono>{entry.action}</Chip> },
          entry.target_name !== null && { name: 'Target', value: <SafeText>{entry.target_name}</SafeText> },
          entry.target !== null && {
            name: 'Target ID',
            value: (
              <span className={styles.target}>
                <CopyId id={entry.target} />
                <PageLink to={here.path(`audit?target=${encodeURIComponent(entry.target)}`)}>View history</PageLink>
                {page && <PageLink to={here.path(page)}>Open</PageLink>}
              </span>
            ),
          },
          { name: 'IP address', value: <SafeText className="mono">{entry.address}</SafeText> },
          entry.user_agent !== null && {
            name: 'Device',
            value: (
              <>
                {deviceOf(entry.user_agent)}
                <bdi className={`${styles.agent} quiet small`}>{entry.user_agent}</bdi>
              </>
            ),
          },
        ]}
      />
      <Difference before={entry.before} after={entry.after} />
    </Stack>
  )
}
