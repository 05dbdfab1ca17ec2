import type { ListedMessage } from '@parley/contract/console/messages'
import { Notice } from '../ui/states.tsx'
import { Moment } from '../ui/time.tsx'
import { daysBetween } from './removed-text.ts'

/** Says why the content is missing. */
export function RemovedNotice({ at, removed }: Pick<ListedMessage, 'at' | 'removed'>) {
  if (removed === null) return null
  return (
    <Notice title={removed.why === 'erasure' ? 'The contact was erased.' : 'The content was removed.'}>
      {removed.why === 'erasure' ? (
        <>
          An admin erased what was stored about this person on <Moment at={removed.at} />. Status and credits are kept.
        </>
      ) : (
        <>
          It was removed on <Moment at={removed.at} />, after {daysBetween(at, removed.at)}. Status, number and credits
          are kept. The operator sets how long contents are stored.
        </>
      )}
    </Notice>
  )
}
