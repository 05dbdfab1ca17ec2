import { Outlet, useLocation, useMatches, useParams } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { discardQuestion } from '../lib/leave-guard.ts'
import { useSession } from '../lib/session.ts'
import { useStore } from '../lib/store.ts'
import { setTimeZone } from '../lib/time-zone.ts'
import { IconButton } from '../ui/button.tsx'
import { useDockWidth } from '../ui/docked.ts'
import { announce } from '../ui/live-region.tsx'
import { Logo } from '../ui/logo.tsx'
import { canOpen, useShownWorkspace } from './access.ts'
import { Banners } from './banners.tsx'
import { Bell } from './bell.tsx'
import { DiscardDialog, Palette, PhoneMenu, useDialogsAfterInput } from './dialogs.tsx'
import { NotPermittedPage, OperatorSecondFactorPage, SecondFactorPage, UnknownWorkspacePage } from './fallbacks.tsx'
import styles from './layout.module.css'
import { LowCredit } from './low-credit.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { Sidebar } from './sidebar.tsx'
import { StepUp } from './step-up.tsx'

/** The frame around every page: a sidebar, or on phones a drawer, with the navigation. */
export function Layout() {
  const zone = useSession().person.time_zone
  setTimeZone(zone)
  const [isNavOpen, setNavOpen] = useState(false)
  const [isPaletteOpen, setPaletteOpen] = useState(false)
  const openPalette = () => setPaletteOpen(true)
  const discard = useStore(discardQuestion)
  useDialogsAfterInput()
  const { pathname } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs on each new page: closes the drawer and announces the title
  useEffect(() => {
    setNavOpen(false)
    const timer = setTimeout(() => announce(document.title), 300)
    return () => clearTimeout(timer)
  }, [pathname])
  return (
    <div className={styles.frame}>
      <a href="#main" className={styles.skip}>
        Skip to content
      </a>
      <aside className={styles.side}>
        <Sidebar onSearch={openPalette} bell={<Bell />} />
      </aside>
      <header className={styles.phoneBar}>
        <IconButton icon="menu" label="Menu" aria-expanded={isNavOpen} onClick={() => setNavOpen(true)} />
        <Logo size={22} />
        <span className={styles.phoneActions}>
          <Bell />
          <IconButton icon="search" label="Search" onClick={openPalette} />
        </span>
      </header>
      <PhoneMenu open={isNavOpen} onClose={() => setNavOpen(false)} onSearch={openPalette} />
      <Main>
        <LowCredit />
        <Banners />
        {/* Another time zone renders every time again. */}
        <Permitted key={zone} />
      </Main>
      <Palette open={isPaletteOpen} onClose={() => setPaletteOpen(false)} />
      <Shortcuts onPalette={openPalette} />
      <StepUp />
      <DiscardDialog open={discard !== null} onDecide={(isDiscarded) => discard?.decide(isDiscarded)} />
    </div>
  )
}

/** Gets narrower for an open drawer, without rendering the page again. */
const Main = ({ children }: { children: ReactNode }) => (
  <main id="main" className={styles.main} tabIndex={-1} data-docked={useDockWidth() ?? undefined}>
    {children}
  </main>
)

/** The page if this person may open it, otherwise the reason why not. */
function Permitted() {
  const session = useSession()
  const workspace = useShownWorkspace()
  const { workspace: workspaceId } = useParams({ strict: false })
  const page = useMatches({ select: (matches) => matches.at(-1)?.staticData.page })
  if (session.person.must_set_up_two_factor && page?.path !== '/account') return <OperatorSecondFactorPage />
  if (workspaceId !== undefined && !workspace) return <UnknownWorkspacePage />
  if (page && !canOpen(page, session, workspace)) {
    return <NotPermittedPage title={page.title} role={page.needs === 'operator' ? null : (workspace?.role ?? null)} />
  }
  if (workspaceId !== undefined && workspace?.requires_two_factor && !session.person.two_factor) {
    return <SecondFactorPage workspace={workspace.name} />
  }
  return <Outlet />
}
