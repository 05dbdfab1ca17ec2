import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { plainWord } from '../../lib/format.ts'
import { StatusBadge } from '../../ui/status-badge.tsx'

const bad = ['REJECTED', 'DISABLED', 'LOCKED', 'DELETED']
const waits = ['PENDING', 'IN_APPEAL', 'PENDING_DELETION']

/** Where the template stands with the network, and why it was turned down. */
export function TemplateStatus({ template: { status, rejected_reason: reason } }: { template: ConsoleTemplate }) {
  const tone = status === 'APPROVED' ? 'good' : bad.includes(status) ? 'bad' : waits.includes(status) ? 'note' : 'warn'
  return (
    <>
      <StatusBadge status={status} tone={tone} />
      {reason && reason !== 'NONE' && <bdi className="small quiet"> {wordsOf(reason)}</bdi>}
    </>
  )
}

/** The network's words in capitals as people write them; a sentence stays as it is. */
export const wordsOf = (reason: string) => (/^[A-Z_]+$/.test(reason) ? plainWord(reason) : reason)
