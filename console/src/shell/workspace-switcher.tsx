import { Menu } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { capital } from '../lib/format.ts'
import { useSession } from '../lib/session.ts'
import { Avatar } from '../ui/avatar.tsx'
import { Icon } from '../ui/icon.tsx'
import { useShownWorkspace } from './access.ts'
import styles from './switcher.module.css'

/** The open workspace and a menu of the person's other workspaces. */
export function WorkspaceSwitcher() {
  const session = useSession()
  const shown = useShownWorkspace()
  const navigate = useNavigate()
  if (session.workspaces.length === 0) return null
  return (
    <Menu position="bottom-start" width={236}>
      <Menu.Target>
        <button type="button" className={`${styles.switcher} ${styles.framed}`}>
          <Avatar name={shown?.name ?? '?'} size={22} square />
          <span className="unseen">Workspace:</span>
          <span className={styles.name}>
            <bdi>{shown?.name ?? 'Choose a workspace'}</bdi>
          </span>
          <Icon name="selector" size={14} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Workspaces</Menu.Label>
        {session.workspaces.map(({ id, name, role, suspended }) => (
          <Menu.Item
            key={id}
            leftSection={<Avatar name={name} size={20} square />}
            rightSection={id === shown?.id ? <Icon name="check" size={14} /> : null}
            aria-current={id === shown?.id}
            onClick={() => navigate({ to: `/w/${encodeURIComponent(id)}` })}
          >
            <bdi className={styles.name}>{name}</bdi>
            <span className={styles.detail}>{suspended ? 'Suspended' : capital(role)}</span>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
