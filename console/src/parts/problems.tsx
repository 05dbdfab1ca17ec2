import type { Problem, ProblemKind } from '@parley/contract/console/overview'
import type { ReactNode } from 'react'
import { formatTimesIn } from '../lib/format.ts'
import { formatPhonesIn } from '../lib/phone.ts'
import { useHere } from '../lib/session.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { PageLink, SafeText } from '../ui/link.tsx'
import { TimeAgo } from '../ui/time.tsx'
import tones from '../ui/tones.module.css'
import styles from './problems.module.css'

const icons: Record<ProblemKind, IconName> = {
  webhook_disabled: 'webhook',
  webhook_failing: 'webhook',
  sender_troubled: 'sender',
  sync_failing: 'plug',
  key_expiring: 'key',
  token_expiring: 'plug',
  refusals_rising: 'apiError',
  balance_low: 'credit',
}

/** What to do about it, on the page that the line opens. */
const remedies: Record<ProblemKind, string> = {
  webhook_disabled: 'Fix and enable',
  webhook_failing: 'See why',
  sender_troubled: 'View sender',
  sync_failing: 'Sync again',
  key_expiring: 'Rotate key',
  token_expiring: 'View account',
  refusals_rising: 'View errors',
  balance_low: 'View credits',
}

/** The problems, most severe first, each with a link to the page where it can be fixed. */
export const ProblemLines = ({ problems }: { problems: readonly Problem[] }) => (
  <ProblemList>
    {problems.map((problem) => (
      <ProblemLine key={`${problem.kind} ${problem.title} ${problem.href}`} problem={problem} />
    ))}
  </ProblemList>
)

export const ProblemList = ({ children }: { children: ReactNode }) => <ul className={styles.problems}>{children}</ul>

const textOf = (text: string) => formatPhonesIn(formatTimesIn(text))

interface LineProps {
  problem: Problem
  /** The problem is over, and is shown until the list is read again. */
  isResolved?: boolean
  /** Shows what to do about it. */
  withRemedy?: boolean
}

export function ProblemLine({ problem, isResolved = false, withRemedy = false }: LineProps) {
  const { kind, severity, title, detail, href, since } = problem
  const here = useHere()
  return (
    <li>
      <PageLink to={here.path(href)} className={styles.problem ?? ''}>
        <span className={`${styles.mark} ${isResolved ? tones.good : severity === 'problem' ? tones.bad : tones.warn}`}>
          <Icon name={isResolved ? 'check' : icons[kind]} />
        </span>
        <span className={styles.words}>
          <strong>
            <SafeText>{textOf(title)}</SafeText>
            {isResolved ? ' (resolved)' : <span className="unseen"> ({severity})</span>}
          </strong>
          <span className={`quiet ${withRemedy ? styles.short : ''}`} title={withRemedy ? textOf(detail) : undefined}>
            <SafeText>{textOf(detail)}</SafeText>
          </span>
        </span>
        {since && !isResolved && (
          <span className={styles.since}>
            <TimeAgo at={since} />
          </span>
        )}
        {withRemedy && <span className={styles.remedy}>{isResolved ? 'View' : remedies[kind]}</span>}
        <Icon name="chevronRight" size={14} />
      </PageLink>
    </li>
  )
}
