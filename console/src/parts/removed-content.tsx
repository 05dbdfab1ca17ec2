import type { ListedMessage } from '@parley/contract/console/messages'
import { plural } from '../lib/format.ts'
import { Notice } from '../ui/states.tsx'
import { Moment } from '../ui/time.tsx'

const dayMs = 86_400_000

/** What is shown in place of a content that was removed. */
export function removedText({ at, removed }: Pick<ListedMessage, 'at' | 'removed'>): string | null {
  if (removed === null) return null
  return removed.why === 'erasure' ? 'Contact erased' : `Content removed after ${daysBetween(at, removed.at)}`
}

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

/** The setting may have been another one then, so this says what happened. */
const daysBetween = (from: string, to: string): string =>
  plural(Math.floor((new Date(to).getTime() - new Date(from).getTime()) / dayMs), 'day')
