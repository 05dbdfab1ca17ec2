import { sentenceOf } from '../../lib/deeds.ts'
import { deviceOf } from '../../lib/device.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { Stack } from '../../ui/layout.tsx'
import { SafeText } from '../../ui/link.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import styles from './workspaces.module.css'
import { useInstanceLog } from './workspaces.queries.ts'

/** What was done to the installation and by people to their own accounts; what concerns a workspace is in its own log. */
export function InstanceLog() {
  const list = useInstanceLog()
  return (
    <Stack>
      <p className="quiet">
        Signing in, accounts, apps and prices. What was done to a workspace is in that workspace’s own audit log.
      </p>
      <DataTable
        label="Log of the installation"
        list={list}
        rowKey={({ id }) => id}
        columns={[
          {
            key: 'what',
            title: 'What',
            cell: (each) => (
              <span className={styles.deed}>
                <Avatar name={each.actor} size={22} />
                <span>
                  <bdi className={styles.actor}>{each.actor}</bdi> <bdi>{sentenceOf(each)}</bdi>
                </span>
              </span>
            ),
          },
          {
            key: 'address',
            title: 'Address',
            width: 140,
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
          { key: 'at', title: 'When', width: 120, align: 'right', cell: ({ at }) => <TimeAgo at={at} /> },
        ]}
        empty={<EmptyState icon="audit" title="Nothing on record yet" />}
      />
    </Stack>
  )
}
