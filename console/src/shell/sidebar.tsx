import { useLocation } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import { IconButton } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Kbd } from '../ui/kbd.tsx'
import { PageLink } from '../ui/link.tsx'
import { Logo } from '../ui/logo.tsx'
import { useDestinations } from './access.ts'
import { openHelp } from './help-state.ts'
import { groups } from './pages.ts'
import { PersonMenu } from './person-menu.tsx'
import styles from './sidebar.module.css'
import { WorkspaceSwitcher } from './workspace-switcher.tsx'

/** Workspace switcher, search, navigation and the person's menu. */
export function Sidebar({ onSearch, bell }: { onSearch: () => void; bell?: ReactNode }) {
  const destinations = useDestinations()
  const { pathname } = useLocation()
  const nav = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page has another link
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [pathname])
  return (
    <div className={styles.sidebar}>
      <div className={styles.top}>
        <PageLink to="/" className={styles.home} aria-label="Parley home">
          <Logo size={24} />
        </PageLink>
        <span className={styles.tools}>
          {bell}
          <IconButton icon="keyboard" label="Keyboard shortcuts" onClick={openHelp} />
        </span>
      </div>
      <WorkspaceSwitcher />
      <button type="button" className={styles.search} onClick={onSearch}>
        <Icon name="search" size={14} />
        <span>Search…</span>
        <Kbd keys="mod k" />
      </button>
      <nav ref={nav} className={styles.nav} aria-label="Pages">
        {groups.map((group) => {
          const inGroup = destinations.filter((page) => page.nav?.group === group)
          if (inGroup.length === 0) return null
          return (
            <div key={group} className={styles.group}>
              {group && (
                <h2 className={styles.groupTitle} id={`nav-${group}`}>
                  {group}
                </h2>
              )}
              <ul aria-labelledby={group ? `nav-${group}` : undefined}>
                {inGroup.map(({ to, title, nav, path }) => {
                  const isHere = pathname === to || (path !== '/w/$workspace' && pathname.startsWith(`${to}/`))
                  return (
                    <li key={to}>
                      <PageLink to={to} className={styles.item} aria-current={isHere ? 'page' : undefined}>
                        {nav && <Icon name={nav.icon} />}
                        {title}
                      </PageLink>
                    </li>
                  )
                })}
              </ul>
            </div>
          )
        })}
      </nav>
      <PersonMenu />
    </div>
  )
}
