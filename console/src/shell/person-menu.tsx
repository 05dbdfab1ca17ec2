import { Menu, SegmentedControl, useMantineColorScheme } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { forgetDrafts } from '../lib/drafts.ts'
import { useSession } from '../lib/session.ts'
import { useAction } from '../lib/use-action.ts'
import { Avatar } from '../ui/avatar.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { openHelp } from './help-state.ts'
import styles from './switcher.module.css'

const schemes: { value: 'light' | 'dark' | 'auto'; title: string; icon: IconName }[] = [
  { value: 'light', title: 'Light', icon: 'sun' },
  { value: 'dark', title: 'Dark', icon: 'moon' },
  { value: 'auto', title: 'System', icon: 'screen' },
]

/** The menu of the signed-in person: account, shortcuts, theme, sign out. */
export function PersonMenu() {
  const { person, version } = useSession()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const navigate = useNavigate()
  const signOut = useSignOut()
  return (
    <div className={styles.person}>
      <Menu position="top-start" width={248} closeOnItemClick>
        <Menu.Target>
          <button type="button" className={styles.switcher}>
            <Avatar name={person.name} />
            <span className={styles.name}>
              <bdi>{person.name}</bdi>
              <span className="unseen">: account and settings</span>
            </span>
            <Icon name="more" size={14} />
          </button>
        </Menu.Target>
        <Menu.Dropdown>
          <div className={styles.who}>
            <bdi className={styles.whoName}>{person.name}</bdi>
            <bdi className={styles.detail}>{person.email}</bdi>
          </div>
          <Menu.Divider />
          <Menu.Item leftSection={<Icon name="person" size={14} />} onClick={() => navigate({ to: '/account' })}>
            Your account
          </Menu.Item>
          <Menu.Item leftSection={<Icon name="keyboard" size={14} />} onClick={openHelp}>
            Keyboard shortcuts
          </Menu.Item>
          <Menu.Divider />
          <div className={styles.scheme}>
            <SegmentedControl
              fullWidth
              aria-label="Theme"
              value={colorScheme}
              onChange={(value) => setColorScheme(value as 'light' | 'dark' | 'auto')}
              data={schemes.map(({ value, title, icon }) => ({
                value,
                label: (
                  <span className={styles.schemeLabel}>
                    <Icon name={icon} size={13} />
                    {title}
                  </span>
                ),
              }))}
            />
          </div>
          <Menu.Divider />
          <Menu.Item leftSection={<Icon name="signOut" size={14} />} onClick={signOut}>
            Sign out
          </Menu.Item>
          <div className={styles.version}>Parley {version}</div>
        </Menu.Dropdown>
      </Menu>
    </div>
  )
}

/** Loads the sign-in page afresh, so that no data stays in memory and no query runs without a session. */
export function useSignOut(): () => void {
  const signOut = useAction((send) => send('POST', 'sign-out'))
  const leave = () => {
    forgetDrafts()
    location.assign('/sign-in')
  }
  return () => signOut.run(undefined, { onDone: leave })
}
