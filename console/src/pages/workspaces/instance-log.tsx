import { deviceOf } from '../../lib/device.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { Stack } from '../../ui/layout.tsx'
import { SafeText } from '../../ui/link.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Chip } from '../../ui/status-badge.tsx'
import { TimeAgo } from '../../ui/time.tsx'
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
          { key: 'who', title: 'Who', cell: ({ actor }) => <SafeText>{actor}</SafeText> },
          { key: 'what', title: 'What', width: 210, cell: ({ action }) => <Chip mono>{action}</Chip> },
          {
            key: 'target',
            title: 'Target',
            hideOn: 'tablet',
            cell: ({ target_name, target }) => <SafeText>{target_name ?? target}</SafeText>,
          },
          {
            key: 'address',
            title: 'Address',
            width: 140,
            hideOn: 'tablet',
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
