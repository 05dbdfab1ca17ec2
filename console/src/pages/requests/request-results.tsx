import type { RequestDetail } from '@parley/contract/console/requests'
import { plural } from '../../lib/format.ts'
import { useHere } from '../../lib/session.ts'
import { Card } from '../../ui/layout.tsx'
import { PageLink, SafeText } from '../../ui/link.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import styles from './requests.module.css'

/** The message that the request created, and the deliveries of the events about it. */
export function RequestResults({ request: { message, events } }: { request: RequestDetail }) {
  const here = useHere()
  if (!message) return null
  const deliveries = events.flatMap(({ id, type, deliveries }) => deliveries.map((each) => ({ ...each, id, type })))
  return (
    <Card title="Message and deliveries">
      <ul className={styles.results}>
        <li>
          <PageLink to={here.path(`messages/${message.id}`)} className="link mono clip alone">
            {message.id}
          </PageLink>
          <StatusBadge status={message.status} />
        </li>
        {deliveries.map(({ id, type, webhook_id, webhook_name, state, attempts, last_attempt_at, last_status }) => (
          <li key={`${id} ${webhook_id}`}>
            <span className="lines">
              <PageLink to={here.path(`deliveries?open=${id}.${webhook_id}`)} className="link clip alone">
                <span className="mono">{type}</span> to <SafeText>{webhook_name}</SafeText>
              </PageLink>
              <span className="quiet small">
                {attempts === 0 ? 'No attempt yet' : plural(attempts, 'attempt')}
                {last_status !== null && ` · HTTP ${last_status}`}
                {last_attempt_at !== null && (
                  <>
                    {' · '}
                    <TimeAgo at={last_attempt_at} />
                  </>
                )}
              </span>
            </span>
            <StatusBadge status={state} />
          </li>
        ))}
      </ul>
      {deliveries.length === 0 && (
        <p className="quiet small">
          {events.length === 0 ? 'No event about this message yet.' : 'No webhook gets events about this message.'}
        </p>
      )}
    </Card>
  )
}
