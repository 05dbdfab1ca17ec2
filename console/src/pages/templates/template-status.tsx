import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { plainWord } from '../../lib/format.ts'
import { StatusBadge } from '../../ui/status-badge.tsx'

const bad = ['REJECTED', 'DISABLED', 'LOCKED', 'DELETED']
const pending = ['PENDING', 'IN_APPEAL', 'PENDING_DELETION']

/** The template's review status at WhatsApp, and the rejection reason. */
export function TemplateStatus({ template: { status, rejected_reason: reason } }: { template: ConsoleTemplate }) {
  const tone =
    status === 'APPROVED' ? 'good' : bad.includes(status) ? 'bad' : pending.includes(status) ? 'note' : 'warn'
  return (
    <>
      <StatusBadge status={status} tone={tone} {...(status === 'PENDING' && { word: 'In review' })} />
      {reason && reason !== 'NONE' && <bdi className="small quiet"> {readable(reason)}</bdi>}
    </>
  )
}

/** WhatsApp's constants such as INVALID_FORMAT in sentence case. Sentences stay unchanged. */
export const readable = (reason: string) => (/^[A-Z_]+$/.test(reason) ? plainWord(reason) : reason)
