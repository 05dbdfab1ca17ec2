import { Popover } from '@mantine/core'
import { useState } from 'react'
import { useWorkspace } from '../lib/session.ts'
import { useProblems } from '../parts/problems.queries.ts'
import { IconButton } from '../ui/button.tsx'
import { lazyPart } from '../ui/lazy.tsx'
import { Skeleton } from '../ui/states.tsx'
import styles from './bell.module.css'

const BellPanel = lazyPart<object>(
  () => import('./bell-panel.tsx').then((part) => ({ default: part.BellPanel })),
  <Skeleton height={60} />,
)

/** What needs attention in this workspace, on every page: the count, and a panel with links. */
export function Bell() {
  const { id } = useWorkspace()
  const [isOpen, setIsOpen] = useState(false)
  const { data, error } = useProblems()
  if (id === '') return null
  const count = data?.data.length
  const isSevere = data?.data.some(({ severity }) => severity === 'problem')
  const label =
    count === undefined
      ? error
        ? 'Open problems could not be loaded'
        : 'Open problems are loading'
      : count === 0
        ? 'No open problems'
        : `${count} open ${count === 1 ? 'problem' : 'problems'}`
  return (
    <Popover
      opened={isOpen}
      onChange={setIsOpen}
      position="bottom-end"
      width={380}
      trapFocus
      returnFocus
      withRoles={false}
    >
      <Popover.Target>
        <span className={styles.bell}>
          <IconButton
            icon="bell"
            label={label}
            aria-haspopup="dialog"
            aria-expanded={isOpen}
            onClick={() => setIsOpen(!isOpen)}
          />
          {(count !== 0 || error) && (
            <span className={`${styles.count} ${isSevere ? styles.bad : count ? styles.warn : ''}`} aria-hidden="true">
              {count ? Math.min(count, 99) : error ? '?' : ''}
            </span>
          )}
        </span>
      </Popover.Target>
      <Popover.Dropdown
        className={styles.panel ?? ''}
        role="dialog"
        aria-label="Open problems"
        // Gets the focus while the panel is loading, so that Escape closes it.
        tabIndex={-1}
        // A link to the page that is open changes nothing, so it would leave the panel open.
        onClick={(event) => (event.target as HTMLElement).closest('a') && setIsOpen(false)}
      >
        {isOpen && <BellPanel />}
      </Popover.Dropdown>
    </Popover>
  )
}
