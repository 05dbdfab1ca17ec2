import type { ListedKey } from '@parley/contract/console/keys'
import { sentenceOf } from '../../lib/audit-actions.ts'
import { useCan, useHere } from '../../lib/session.ts'
import { Stack } from '../../ui/layout.tsx'
import { PageLink } from '../../ui/link.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Timeline } from '../../ui/timeline.tsx'
import styles from './keys.module.css'
import { useKeyHistory } from './keys.queries.ts'

/** Who changed the key: its latest audit log entries. Only admins can read the audit log. */
export function KeyHistory({ apiKey }: { apiKey: ListedKey }) {
  const mayRead = useCan('audit:read')
  return (
    <section>
      <h3 className={styles.heading}>Changes</h3>
      {mayRead ? <Entries apiKey={apiKey} /> : <p className="quiet">Admins see here who changed this key.</p>}
    </section>
  )
}

function Entries({ apiKey }: { apiKey: ListedKey }) {
  const here = useHere()
  return (
    <Loaded query={useKeyHistory(apiKey.id)} what="The changes" lines={3}>
      {({ data }) => (
        <Stack gap={3}>
          {data.length > 0 ? (
            <Timeline
              label="Changes"
              items={data.map((entry) => ({
                key: entry.id,
                title: (
                  <PageLink to={here.path(`audit?target=${apiKey.id}&open=${entry.id}`)} className={styles.entry ?? ''}>
                    <bdi>{entry.actor_name ?? entry.actor}</bdi> <bdi>{sentenceOf(entry)}</bdi>
                  </PageLink>
                ),
                at: entry.at,
              }))}
            />
          ) : (
            <p className="quiet">
              {apiKey.replaces
                ? 'None. A rotation created this key: the key that it replaces has the entry.'
                : 'None in the audit log.'}
            </p>
          )}
          <PageLink to={here.path(`audit?target=${apiKey.id}`)} className="link alone">
            View audit log
          </PageLink>
        </Stack>
      )}
    </Loaded>
  )
}
