import type { Member } from '@parley/contract/console/team'
import { useState } from 'react'
import { useLast } from '../../lib/last.ts'
import { useCan } from '../../lib/session.ts'
import { useFilters } from '../../lib/url.ts'
import { ListBar } from '../../parts/list-bar.tsx'
import { PersonCell, SecondFactor } from '../../parts/person-cells.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Menu } from '../../ui/menu.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Chip } from '../../ui/status-badge.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { Tip } from '../../ui/tip.tsx'
import { roles } from './role-choice.tsx'
import { RoleDialog } from './role-dialog.tsx'
import { useRemoveMember, useTeam } from './team.queries.ts'

export function Members() {
  const { data, error, isPending, refetch } = useTeam()
  const mayManage = useCan('team:manage')
  const [changed, setChanged] = useState<Member | null>(null)
  const [removed, setRemoved] = useState<Member | null>(null)
  const lastRemoved = useLast(removed)
  const members = data?.members
  const filters = useFilters('q', 'role')
  const shown = members?.filter((member) => matches(member, filters))
  const isLastAdmin = (member: Member) =>
    member.role === 'admin' && members?.filter(({ role }) => role === 'admin').length === 1
  return (
    <>
      <ListBar
        query={filters}
        noun={['member']}
        total={{ rows: shown?.length }}
        file="team.csv"
        search={{ name: 'q', label: 'Search members', placeholder: 'Name or email' }}
        filters={[
          {
            kind: 'select',
            name: 'role',
            title: 'Role',
            options: Object.entries(roles).map(([value, { title }]) => ({ value, title })),
          },
        ]}
      />
      <DataTable
        label="Members"
        empty={
          <EmptyState icon="search" title="No matching members">
            Remove a filter to see more.
          </EmptyState>
        }
        list={{ rows: shown, error, isLoading: isPending, retry: () => void refetch() }}
        rowKey={(member) => member.id}
        columns={[
          {
            key: 'person',
            title: 'Member',
            cell: (member) => <PersonCell person={member}>{member.is_you && <Chip>You</Chip>}</PersonCell>,
          },
          {
            key: 'role',
            title: 'Role',
            width: 150,
            cell: (member) => (
              <Tip text={roles[member.role].description}>
                <span>{roles[member.role].title}</span>
              </Tip>
            ),
          },
          {
            key: 'second',
            title: 'Two-factor',
            width: 140,
            cell: ({ two_factor }) => <SecondFactor isOn={two_factor} />,
          },
          {
            key: 'seen',
            title: 'Last seen',
            width: 130,
            cell: (member) => <TimeAgo at={member.last_seen_at} />,
          },
          {
            key: 'joined',
            title: 'Joined',
            width: 130,
            hideOn: 'tablet',
            cell: (member) => <TimeAgo at={member.created_at} />,
          },
          ...(mayManage
            ? [
                {
                  key: 'act',
                  title: '',
                  width: 56,
                  align: 'right' as const,
                  cell: (member: Member) => (
                    <Menu
                      label={`Actions for ${member.name}`}
                      groups={[
                        [{ title: 'Change role…', icon: 'edit', onSelect: () => setChanged(member) }],
                        [
                          !member.is_you && {
                            title: 'Remove…',
                            icon: 'trash',
                            danger: true,
                            onSelect: () => setRemoved(member),
                          },
                        ],
                      ]}
                    />
                  ),
                },
              ]
            : []),
        ]}
      />
      {changed && <RoleDialog member={changed} isLastAdmin={isLastAdmin(changed)} onClose={() => setChanged(null)} />}
      <ConfirmDialog
        open={removed !== null}
        onClose={() => setRemoved(null)}
        title={`Remove ${lastRemoved?.name ?? ''}?`}
        confirm="Remove member"
        action={useRemoveMember()}
        input={removed}
      >
        <bdi>{lastRemoved?.email}</bdi> loses access immediately. Keys they created keep working. Revoke them if needed.
      </ConfirmDialog>
    </>
  )
}

/** As the export does it. The whole team is loaded, because the last admin has to be known. */
function matches({ name, email, role }: Member, filters: { q?: string; role?: string }): boolean {
  const text = filters.q?.trim().toLowerCase() ?? ''
  const hasText = name.toLowerCase().includes(text) || email.toLowerCase().includes(text)
  return hasText && (!filters.role || filters.role.split(',').includes(role))
}
