import type { AuditEntry } from '@parley/contract/console/audit'
import { Moment } from '../../ui/time.tsx'
import styles from './audit.module.css'

type Values = AuditEntry['before']

/** The changed fields of an audit entry. The server never includes secrets. */
export function Difference({ before, after }: { before: Values; after: Values }) {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].filter(
    (field) => textOf(before?.[field]) !== textOf(after?.[field]),
  )
  if (fields.length === 0) return null
  return (
    <section>
      <h3 className={styles.heading}>{before && after ? 'Changes' : after ? 'New values' : 'Old values'}</h3>
      <dl className={styles.difference}>
        {fields.map((field) => (
          <div key={field} className={styles.field}>
            <dt>{field.replaceAll('_', ' ')}</dt>
            <dd>
              {before && field in before && (
                <div className={after ? styles.before : undefined}>
                  {after && <span className="unseen">Before: </span>}
                  <Value value={before[field]} />
                </div>
              )}
              {after && field in after && (
                <div className={before ? styles.after : undefined}>
                  {before && <span className="unseen">After: </span>}
                  <Value value={after[field]} />
                </div>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/.test(value)

function Value({ value }: { value: unknown }) {
  return isTime(value) ? <Moment at={value} /> : <bdi>{textOf(value)}</bdi>
}

function textOf(value: unknown): string {
  if (value === undefined || value === null || value === '') return '–'
  if (value === true) return 'yes'
  if (value === false) return 'no'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(textOf).join(', ')
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value)
}
