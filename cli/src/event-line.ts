import { clockTime } from './format.ts'
import { styled } from './style.ts'
import { visible } from './visible.ts'

export interface Sent {
  status: number | null
  error: string | null
  /** Where a redirect points to. As for a webhook, no one follows it. */
  location: string | null
  duration_ms: number
}

/** One line for an event: when, what, its ID, and how the receiver responded if it was forwarded. */
export function eventLine({ at, type, id, sent }: { at: Date; type: string; id: string; sent: Sent | null }): string {
  return [
    styled('dim', clockTime(at)),
    styled('bold', type),
    id,
    ...(sent ? [`→ ${resultOf(sent)} in ${sent.duration_ms} ms${redirectOf(sent)}`] : []),
  ].join('  ')
}

function resultOf({ status, error }: Sent): string {
  if (status === null) return styled('red', `FAILED: ${visible(error ?? '')}`)
  return styled(status >= 200 && status < 300 ? 'green' : 'red', String(status))
}

const redirectOf = ({ status, location }: Sent): string =>
  status !== null && status >= 300 && status < 400 && location !== null
    ? `. Redirects are not followed: ${visible(location)}`
    : ''
