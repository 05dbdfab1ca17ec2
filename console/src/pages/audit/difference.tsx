import type { AuditEntry } from '@parley/contract/console/audit'
import styles from './audit.module.css'

type Values = AuditEntry['before']

/** What a change changed, field by field. Secrets are never in it. */
export function Difference({ before, after }: { before: Values; after: Values }) {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].filter(
    (field) => wordsFor(before?.[field]) !== wordsFor(after?.[field]),
  )
  if (fields.length === 0) return null
  return (
    <section>
      <h3 className={styles.heading}>{before && after ? 'Before and after' : after ? 'Set to' : 'Was'}</h3>
      <dl className={styles.difference}>
        {fields.map((field) => (
          <div key={field} className={styles.field}>
            <dt>{field.replaceAll('_', ' ')}</dt>
            <dd>
              {before && field in before && (
                <div className={after ? styles.before : undefined}>
                  {after && <span className="unseen">Before: </span>}
                  <bdi>{wordsFor(before[field])}</bdi>
                </div>
              )}
              {after && field in after && (
                <div className={before ? styles.after : undefined}>
                  {before && <span className="unseen">After: </span>}
                  <bdi>{wordsFor(after[field])}</bdi>
                </div>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function wordsFor(value: unknown): string {
  if (value === undefined || value === null || value === '') return '–'
  if (value === true) return 'yes'
  if (value === false) return 'no'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(wordsFor).join(', ')
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value)
}
