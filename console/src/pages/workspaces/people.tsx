import { useState } from 'react'
import { capital } from '../../lib/format.ts'
import { useLast } from '../../lib/last.ts'
import { PersonCell, SecondFactor } from '../../parts/person-cells.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Menu } from '../../ui/menu.tsx'
import { OneTimeLink } from '../../ui/one-time-link.tsx'
import { Chip, StatusBadge } from '../../ui/status-badge.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { PersonPasskeys } from './person-passkeys.tsx'
import styles from './workspaces.module.css'
import {
  type CreatedLink,
  type OperatedPerson,
  useDisable,
  useEnable,
  usePeople,
  useResetLink,
} from './workspaces.queries.ts'

/** Everyone with an account. Operators can create password reset links, remove passkeys and disable accounts. */
export function People() {
  const list = usePeople()
  const enable = useEnable()
  const [disabling, setDisabling] = useState<OperatedPerson | null>(null)
  const lastDisabling = useLast(disabling)
  const [resetPerson, setResetPerson] = useState<OperatedPerson | null>(null)
  const [openId, setOpenId] = useState<string | null>(null)
  const [created, setCreated] = useState<{ person: OperatedPerson; link: CreatedLink } | null>(null)
  const [lastResetPerson, lastCreated] = [useLast(resetPerson), useLast(created)]
  return (
    <>
      <DataTable
        label="People"
        list={list}
        rowKey={({ id }) => id}
        columns={[
          {
            key: 'person',
            title: 'Person',
            cell: (person) => (
              <PersonCell person={person}>{person.disabled_at && <StatusBadge status="disabled" />}</PersonCell>
            ),
          },
          {
            key: 'is',
            title: 'Roles',
            cell: ({ operator, workspaces }) => (
              <span className={styles.chips}>
                {operator && <Chip>Operator</Chip>}
                {workspaces.map(({ id, name, role }) => (
                  <Chip key={id}>{`${capital(role)} in ${name}`}</Chip>
                ))}
                {!operator && workspaces.length === 0 && <span className="quiet">No workspace</span>}
              </span>
            ),
          },
          {
            key: 'second',
            title: 'Two-factor',
            width: 130,
            cell: ({ two_factor }) => <SecondFactor isOn={two_factor} />,
          },
          {
            key: 'passkeys',
            title: 'Passkeys',
            width: 96,
            align: 'right',
            cell: ({ passkeys }) =>
              passkeys.length > 0 ? (
                <span className="numbers">{passkeys.length}</span>
              ) : (
                <span className="quiet">None</span>
              ),
          },
          {
            key: 'seen',
            title: 'Last seen',
            width: 120,
            cell: ({ last_seen_at }) => <TimeAgo at={last_seen_at} />,
          },
          {
            key: 'act',
            title: '',
            width: 56,
            align: 'right',
            cell: (person) => (
              <Menu
                label={`Actions for ${person.name}`}
                groups={[
                  [
                    { title: 'Passkeys…', icon: 'passkey', onSelect: () => setOpenId(person.id) },
                    ...(person.disabled_at
                      ? []
                      : [{ title: 'Reset password…', icon: 'link' as const, onSelect: () => setResetPerson(person) }]),
                  ],
                  [
                    person.disabled_at
                      ? { title: 'Enable', icon: 'check' as const, onSelect: () => enable.run(person) }
                      : { title: 'Disable…', icon: 'pause' as const, onSelect: () => setDisabling(person) },
                  ],
                ]}
              />
            ),
          },
        ]}
      />
      <ConfirmDialog
        open={resetPerson !== null}
        onClose={() => setResetPerson(null)}
        title="Create a password reset link?"
        confirm="Create link"
        danger={false}
        action={useResetLink()}
        input={resetPerson}
        onDone={setCreated}
      >
        Anyone with the link can set a new password for <bdi>{lastResetPerson?.email}</bdi> within 30 minutes. Using it
        removes all their passkeys and signs out all their devices. An authenticator app is still required. Make sure
        the request really comes from them.
      </ConfirmDialog>
      <ConfirmDialog
        open={disabling !== null}
        onClose={() => setDisabling(null)}
        title="Disable this account?"
        confirm="Disable"
        action={useDisable()}
        input={disabling}
      >
        All devices of <bdi>{lastDisabling?.email}</bdi> are signed out now. They cannot sign in, reset the password or
        use a link until you enable the account again. API keys are not affected: they belong to the workspace.
      </ConfirmDialog>
      <PersonPasskeys person={list.rows?.find(({ id }) => id === openId) ?? null} onClose={() => setOpenId(null)} />
      <OneTimeLink link={created?.link ?? null} onClose={() => setCreated(null)}>
        <bdi>{lastCreated?.person.email}</bdi> can use it to set a new password.
      </OneTimeLink>
    </>
  )
}
