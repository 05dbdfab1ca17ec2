import type { Overview } from '@parley/contract/console/overview'
import { formatNumber } from '../../lib/format.ts'
import { useHere } from '../../lib/session.ts'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { PageLink } from '../../ui/link.tsx'
import styles from './figure-card.module.css'

type Health = keyof NonNullable<Overview['endpoints']>

/** `state` as the list of webhooks filters it. */
const looks: readonly { health: Health; state: string; icon: IconName }[] = [
  { health: 'healthy', state: 'enabled', icon: 'checkCircle' },
  { health: 'failing', state: 'failing', icon: 'warning' },
  { health: 'disabled', state: 'disabled', icon: 'crossCircle' },
]

/** How many endpoints work, in words and as a bar. */
export function EndpointHealth({ endpoints }: { endpoints: NonNullable<Overview['endpoints']> }) {
  const here = useHere()
  const present = looks.filter(({ health }) => endpoints[health] > 0)
  return (
    <section className={styles.endpoints} aria-label="Endpoints by health">
      <h2>Endpoints</h2>
      {present.length === 0 ? (
        <PageLink to={here.path('webhooks')}>No webhooks yet</PageLink>
      ) : (
        <div className={styles.bar} aria-hidden="true">
          {present.map(({ health }) => (
            <span key={health} className={styles[`${health}Part`]} style={{ flexGrow: endpoints[health] }} />
          ))}
        </div>
      )}
      {present.map(({ health, state, icon }) => (
        <PageLink
          key={health}
          to={here.path(`webhooks?state=${state}`)}
          className={`${styles.state ?? ''} ${styles[health] ?? ''}`}
        >
          <Icon name={icon} /> {formatNumber(endpoints[health])} {health}
        </PageLink>
      ))}
    </section>
  )
}
