import type { AuditEntry } from '@parley/contract/console/audit'
import { sentenceOf } from '../lib/audit-actions.ts'
import { deviceOf } from '../lib/device.ts'
import { Avatar } from '../ui/avatar.tsx'
import { timeColumn } from '../ui/columns.tsx'
import type { Column } from '../ui/data-table.tsx'
import { SafeText } from '../ui/link.tsx'
import styles from './audit-columns.module.css'

/** The columns of the audit log of a workspace and of the installation. */
export const auditColumns: readonly Column<AuditEntry>[] = [
  {
    key: 'what',
    title: 'Action',
    cell: (entry) => (
      <span className={styles.what}>
        <Avatar name={entry.actor_name ?? entry.actor} size={22} />
        <span>
          <bdi className={styles.actor} title={entry.actor}>
            {entry.actor_name ?? entry.actor}
          </bdi>{' '}
          <bdi>{sentenceOf(entry)}</bdi>
          {entry.actor_name && <bdi className={`${styles.email} quiet small`}>{entry.actor}</bdi>}
        </span>
      </span>
    ),
  },
  {
    key: 'address',
    title: 'IP address',
    width: 150,
    hideOn: 'phone',
    cell: ({ address }) => <SafeText className="mono">{address}</SafeText>,
  },
  {
    key: 'device',
    title: 'Device',
    width: 190,
    hideOn: 'tablet',
    cell: ({ user_agent }) => (user_agent ? deviceOf(user_agent) : <span className="quiet">–</span>),
  },
  timeColumn('at', 'Time', ({ at }) => at),
]
