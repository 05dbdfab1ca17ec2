import type { MessageDetail } from '@parley/contract/console/messages'
import { useData } from '../../../lib/query.ts'
import { useHere } from '../../../lib/session.ts'
import { PageLink } from '../../../ui/link.tsx'
import { StatusBadge } from '../../../ui/status-badge.tsx'

/** The status of a message that was just sent, with a link to it. */
export function SentMessage({ id }: { id: string }) {
  const here = useHere()
  const { data: message } = useData<MessageDetail>(here.api(`messages/${id}`), { topics: ['messages'] })
  return (
    <>
      <span role="status">{message && <StatusBadge status={message.status} />}</span>
      {message?.error && <span className="quiet">{message.error}</span>}
      <PageLink to={here.path(`messages/${id}`)}>View message</PageLink>
    </>
  )
}
