import { useState } from 'react'
import { useLast } from '../../lib/last.ts'
import { PersonCell, SecondFactor } from '../../parts/person-cells.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Menu } from '../../ui/menu.tsx'
import { OneTimeLink } from '../../ui/one-time-link.tsx'
import { Chip } from '../../ui/status-badge.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { PersonPasskeys } from './person-passkeys.tsx'
import styles from './workspaces.module.css'
import { type CreatedLink, type OperatedPerson, usePeople, useResetLink } from './workspaces.queries.ts'

/** Everybody who can sign in, and a way back in for those who cannot. */
export function People() {
  const list = usePeople()
  const [asked, setAsked] = useState<OperatedPerson | null>(null)
  const [openId, setOpenId] = useState<string | null>(null)
  const [made, setMade] = useState<{ person: OperatedPerson; link: CreatedLink } | null>(null)
  const [person, handed] = [useLast(asked), useLast(made)]
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
            cell: ({ name, email }) => <PersonCell name={name} email={email} />,
          },
          {
            key: 'is',
            title: 'Is',
            cell: ({ operator, workspaces }) => (
              <span className={styles.chips}>
                {operator && <Chip>Operator</Chip>}
                {workspaces.map(({ id, name, role }) => (
                  <Chip key={id}>{`${role} of ${name}`}</Chip>
                ))}
                {!operator && workspaces.length === 0 && <span className="quiet">In no workspace</span>}
              </span>
            ),
          },
          {
            key: 'second',
            title: 'Second factor',
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
            cell: ({ last_seen_at }) => <TimeAgo at={last_seen_at} none="Never" />,
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
                    { title: 'Link for a new password…', icon: 'link', onSelect: () => setAsked(person) },
                  ],
                ]}
              />
            ),
          },
        ]}
      />
      <ConfirmDialog
        open={asked !== null}
        onClose={() => setAsked(null)}
        title="Make a link for a new password?"
        confirm="Make the link"
        danger={false}
        action={useResetLink()}
        input={asked}
        onDone={setMade}
      >
        Whoever opens it within half an hour sets a new password for <bdi>{person?.email}</bdi>. All their passkeys are
        then removed and all their devices signed out. An authenticator app is still asked for. Be sure that it is
        really they who ask.
      </ConfirmDialog>
      <PersonPasskeys person={list.rows?.find(({ id }) => id === openId) ?? null} onClose={() => setOpenId(null)} />
      <OneTimeLink link={made?.link ?? null} onClose={() => setMade(null)} title="Hand this link on">
        With it <bdi>{handed?.person.email}</bdi> sets a new password.
      </OneTimeLink>
    </>
  )
}
