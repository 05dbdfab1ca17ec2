import { formatTimesIn, plural } from '../../lib/format.ts'
import { Icon } from '../../ui/icon.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { FindingActions } from './finding-actions.tsx'
import styles from './health.module.css'
import type { Finding, HealthReport } from './health.queries.ts'

const looks = {
  problem: { word: 'Problem', tone: 'bad' },
  warning: { word: 'Warning', tone: 'warn' },
  ok: { word: 'OK', tone: 'good' },
} as const

/** What is wrong, problems first, each with its impact and the fix. What is fine is one line, which unfolds. */
export function Findings({ report: { findings, at }, version }: { report: HealthReport; version: string }) {
  const of = (wanted: Finding['verdict']) => findings.filter(({ verdict }) => verdict === wanted)
  const [wrong, fine] = [[...of('problem'), ...of('warning')], of('ok')]
  const run = (
    <span className="quiet">
      Last run <TimeAgo at={at} />. Parley {version}.
    </span>
  )
  return (
    <section className={styles.checks} aria-label="Checks">
      {wrong.length > 0 && (
        <div className={styles.head} role="status">
          <h2 className={styles.title}>{plural(wrong.length, 'check needs', 'checks need')} attention</h2>
          {run}
        </div>
      )}
      <ul>
        {wrong.map((finding) => (
          <FindingItem key={finding.check} finding={finding} />
        ))}
      </ul>
      {fine.length > 0 && (
        <details className={styles.fine}>
          <summary>
            <Icon name="checkCircle" />
            <span>
              {wrong.length === 0 ? 'All ' : ''}
              {plural(fine.length, 'check is', 'checks are')} fine
            </span>
            {wrong.length === 0 && run}
          </summary>
          <ul>
            {fine.map((finding) => (
              <FindingItem key={finding.check} finding={finding} />
            ))}
          </ul>
        </details>
      )}
    </section>
  )
}

function FindingItem({ finding }: { finding: Finding }) {
  return (
    <li className={styles.finding}>
      <div className={styles.check}>
        <span className={styles.badge}>
          <StatusBadge status={finding.verdict} {...looks[finding.verdict]} />
        </span>
        <span className={styles.checkName}>{finding.check}</span>
      </div>
      <div className={styles.words}>
        <p>
          <bdi>{formatTimesIn(finding.message)}</bdi>
        </p>
        {finding.effect && <p className="quiet">{formatTimesIn(finding.effect)}</p>}
        {finding.remedy && (
          <p className={styles.remedy}>
            <Icon name="arrowRight" size={13} />
            <span>{formatTimesIn(finding.remedy)}</span>
          </p>
        )}
        {finding.details.length > 0 && (
          <ul className={styles.details}>
            {finding.details.map((detail) => (
              <li key={detail}>
                <bdi>{formatTimesIn(detail)}</bdi>
              </li>
            ))}
          </ul>
        )}
        <FindingActions check={finding.check} actions={finding.actions} />
      </div>
    </li>
  )
}
