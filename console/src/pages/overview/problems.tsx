import type { Problem, ProblemKind } from '@parley/contract/console/overview'
import { formatTimesIn } from '../../lib/format.ts'
import { formatPhonesIn } from '../../lib/phone.ts'
import { useHere } from '../../lib/session.ts'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { Card } from '../../ui/layout.tsx'
import { PageLink, SafeText } from '../../ui/link.tsx'
import { Notice } from '../../ui/states.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import styles from './overview.module.css'
import { useProblems } from './overview.queries.ts'

const icons: Record<ProblemKind, IconName> = {
  webhook_disabled: 'webhook',
  webhook_failing: 'webhook',
  sender_troubled: 'sender',
  sync_failing: 'plug',
  key_expiring: 'key',
  refusals_rising: 'apiError',
  balance_low: 'credit',
}

/** Problems that need attention. Renders nothing while loading. */
export function OpenProblems() {
  const { data, error } = useProblems()
  if (error && !data) return <Notice tone="warn">Open problems could not be loaded.</Notice>
  if (!data) return null
  if (data.data.length === 0) {
    return (
      <p className={styles.calm}>
        <Icon name="checkCircle" /> No open problems
      </p>
    )
  }
  return (
    <Card title="Open problems" flush>
      <ul className={styles.problems}>
        {data.data.map((problem) => (
          <ProblemLine key={`${problem.kind} ${problem.title} ${problem.href}`} problem={problem} />
        ))}
      </ul>
    </Card>
  )
}

const textOf = (text: string) => formatPhonesIn(formatTimesIn(text))

function ProblemLine({ problem: { kind, severity, title, detail, href, since } }: { problem: Problem }) {
  const here = useHere()
  return (
    <li>
      <PageLink to={here.path(href)} className={styles.problem ?? ''}>
        <span className={severity === 'problem' ? styles.bad : styles.warn}>
          <Icon name={icons[kind]} />
        </span>
        <span className={styles.words}>
          <strong>
            <SafeText>{textOf(title)}</SafeText>
            <span className="unseen"> ({severity})</span>
          </strong>
          <span className="quiet">
            <SafeText>{textOf(detail)}</SafeText>
          </span>
        </span>
        {since && (
          <span className={styles.since}>
            <TimeAgo at={since} />
          </span>
        )}
        <Icon name="chevronRight" size={14} />
      </PageLink>
    </li>
  )
}
