import { type ConsoleSender, messagesPerSecond, peopleOf } from '@parley/contract/console/senders'
import { formatNumber, plainWord } from '../../lib/format.ts'
import { Notice } from '../../ui/states.tsx'
import { StatusBadge, type Tone } from '../../ui/status-badge.tsx'
import { Moment } from '../../ui/time.tsx'

export const SenderStatus = ({ status }: { status: string }) => <StatusBadge status={status} tone={toneOf(status)} />

export function toneOf(status: string): Tone {
  if (status === 'CONNECTED') return 'good'
  if (status === 'PENDING' || status === 'UNVERIFIED' || status === 'UNKNOWN') return 'note'
  return status === 'DELETED' || status === 'MIGRATED' ? 'calm' : 'bad'
}

/** What WhatsApp says about the display name, unless it is approved. */
export function nameNote({
  display_name,
  name_status,
  requested_name,
  requested_name_status,
}: ConsoleSender): string | null {
  if (requested_name && requested_name !== display_name)
    return `“${requested_name}”: ${plainWord(requested_name_status ?? 'requested').toLowerCase()}`
  const isFine = name_status === null || name_status === 'APPROVED' || name_status === 'AVAILABLE_WITHOUT_REVIEW'
  return isFine ? null : `Name ${plainWord(name_status).toLowerCase()}`
}

/** How many messages a second WhatsApp accepts; null if it does not say. */
export function paceText({ throughput }: ConsoleSender): string | null {
  const perSecond = messagesPerSecond[throughput ?? '']
  return perSecond === undefined ? null : formatNumber(perSecond)
}

/** How many people a day the business may write to first; null if WhatsApp does not say. */
export function limitText({ messaging_limit }: ConsoleSender): string | null {
  const people = peopleOf(messaging_limit)
  if (people === null) return null
  return people === Number.POSITIVE_INFINITY ? 'Unlimited' : formatNumber(people)
}

/** What is wrong with an account: a restriction, or a sync that failed. */
export function AccountNotices({ account }: { account: ConsoleSender['connection'] }) {
  const { account: name, status, status_reason, status_until, sync_error } = account
  return (
    <>
      {status !== 'ACTIVE' && (
        <Notice
          tone={status === 'FLAGGED' ? 'warn' : 'bad'}
          title={`Account ${name} is ${plainWord(status).toLowerCase()}.`}
        >
          <bdi>{status_reason}</bdi>
          {status !== 'FLAGGED' && status_until && (
            <>
              {' '}
              Until <Moment at={status_until} />.
            </>
          )}
        </Notice>
      )}
      {sync_error !== null && (
        <Notice tone="warn" title={`Account ${name} could not be synced.`}>
          <bdi>{sync_error}</bdi>
        </Notice>
      )}
    </>
  )
}
