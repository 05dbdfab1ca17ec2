import { CopyId } from '../../ui/copy-button.tsx'
import { Drawer } from '../../ui/drawer.tsx'
import { KeyValue } from '../../ui/figures.tsx'
import { JsonView } from '../../ui/json-view.tsx'
import { Stack } from '../../ui/layout.tsx'
import { PageLink, SafeText } from '../../ui/link.tsx'
import { Loaded, Notice } from '../../ui/states.tsx'
import { Moment } from '../../ui/time.tsx'
import { OutcomeBadge, outcomes } from './outcomes.tsx'
import { type OperatedUpdate, useUpdate } from './updates.queries.ts'

/** An update as it arrived, with a mark at each member that was not read. */
export function UpdateDrawer({ id, onClose }: { id: string | null; onClose: () => void }) {
  const query = useUpdate(id)
  const { data } = query
  return (
    <Drawer
      wide
      open={id !== null}
      onClose={onClose}
      title={data ? <SafeText className="mono">{data.field}</SafeText> : 'Network update'}
      badge={data && <OutcomeBadge outcome={data.outcome} />}
    >
      <Loaded query={query} what="This update">
        {(update) => <UpdateDetails update={update} />}
      </Loaded>
    </Drawer>
  )
}

function UpdateDetails({ update }: { update: OperatedUpdate }) {
  const { title, tone, meaning } = outcomes[update.outcome]
  const { workspace_id: workspace } = update
  return (
    <Stack gap={5}>
      <Notice tone={tone === 'bad' || tone === 'warn' ? tone : 'note'} title={`${title}.`}>
        {meaning}
      </Notice>
      <KeyValue
        facts={[
          { name: 'Update ID', value: <CopyId id={update.id} /> },
          { name: 'Received', value: <Moment at={update.received_at} /> },
          {
            name: 'Workspace',
            value: workspace ? (
              <PageLink to={`/operator/workspaces?open=${workspace}`}>View workspace</PageLink>
            ) : (
              'No workspace has connected the account'
            ),
          },
          update.sender_id !== null && { name: 'Sender', value: <CopyId id={update.sender_id} /> },
          update.unread.length > 0 && {
            name: 'Not read',
            value: <SafeText className="mono">{update.unread.join(', ')}</SafeText>,
          },
        ]}
      />
      <JsonView
        value={update.value}
        title="Value"
        openDepth={6}
        marks={update.unread.map((param) => ({ param, message: 'Not read' }))}
      />
    </Stack>
  )
}
