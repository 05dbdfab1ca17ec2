import type { Problem, ProblemKind } from '@parley/contract/console/overview'
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

/** The problems, most severe first, each with a link to the page where it can be fixed. */
export const ProblemLines = ({ problems }: { problems: readonly Problem[] }) => (
  <ul className={styles.problems}>
    {problems.map((problem) => (
      <ProblemLine key={`${problem.kind} ${problem.title} ${problem.href}`} problem={problem} />
    ))}
  </ul>
)

const textOf = (text: string) => formatPhonesIn(formatTimesIn(text))

function ProblemLine({ problem: { kind, severity, title, detail, href, since } }: { problem: Problem }) {
  const here = useHere()
  return (
    <li>
      <PageLink to={here.path(href)} className={styles.problem ?? ''}>
        <span className={`${styles.mark} ${severity === 'problem' ? tones.bad : tones.warn}`}>
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
