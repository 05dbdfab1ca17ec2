import { formatTimesIn } from '../../lib/format.ts'
import { Icon } from '../../ui/icon.tsx'
import { Card } from '../../ui/layout.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { FindingActions } from './finding-actions.tsx'
import styles from './health.module.css'
import type { Finding } from './health.queries.ts'

const rank = { problem: 0, warning: 1, ok: 2 }
const looks = {
  problem: { word: 'Problem', tone: 'bad' },
  warning: { word: 'Warning', tone: 'warn' },
  ok: { word: 'OK', tone: 'good' },
} as const

/** Every check, most severe first. A failed check shows its impact and the fix. */
export function Findings({ findings }: { findings: readonly Finding[] }) {
  const sorted = [...findings].sort((one, two) => rank[one.verdict] - rank[two.verdict])
  return (
    <Card title="Checks" flush>
      <ul>
        {sorted.map((finding) => (
          <li key={finding.check} className={styles.finding}>
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
        ))}
      </ul>
    </Card>
  )
}
