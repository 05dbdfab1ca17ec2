import { templateCountDays } from '@parley/contract/console/templates'
import { formatNumber, formatPercent } from '../../lib/format.ts'
import { useHere } from '../../lib/session.ts'
import { Stat, Stats } from '../../ui/figures.tsx'
import { PageLink } from '../../ui/link.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { type Counts, useTemplateCounts } from './templates.queries.ts'

type Kind = 'sent' | 'delivered' | 'read' | 'failed'

/** The filter of the Messages page that finds what is counted. */
const statuses: Record<Kind, string> = {
  sent: '',
  delivered: '&status=delivered,read',
  read: '&status=read',
  failed: '&status=failed',
}

/** A count with a plus sign if only the newest messages are counted. */
const countText = (counts: Counts, kind: Kind) => formatNumber(counts[kind]) + (counts.is_exact ? '' : '+')

/** The messages that are counted, on the Messages page. */
function useMessagesLink(id: string) {
  const here = useHere()
  const from = new Date(Date.now() - templateCountDays * 86_400_000)
  from.setUTCSeconds(0, 0)
  return (kind: Kind) => here.path(`messages?template=${id}${statuses[kind]}&from=${from.toISOString()}`)
}

/** A count in a row of the list. Undefined while it is loaded, null if it is not known. */
export function CountCell({ id, kind, counts }: { id: string; kind: Kind; counts: Counts | null | undefined }) {
  const link = useMessagesLink(id)
  if (counts === undefined) return <Skeleton width={36} />
  if (counts === null) return <span className="quiet">–</span>
  if (counts[kind] === 0) return <span className="quiet numbers">0</span>
  return (
    <span className="numbers">
      <PageLink to={link(kind)} className="link alone">
        {countText(counts, kind)}
      </PageLink>
      {kind === 'read' && <span className="small quiet"> {shareOf(counts, kind)}</span>}
    </span>
  )
}

const shareOf = (counts: Counts, kind: Kind) => formatPercent(counts[kind] / counts.sent)

/** The counts on the page of a template. */
export function TemplateStats({ id }: { id: string }) {
  const link = useMessagesLink(id)
  const counts = useTemplateCounts([id])(id)
  const of = (kind: Kind) => (counts === undefined ? undefined : counts === null ? '–' : countText(counts, kind))
  const share = (kind: Kind) => (counts?.sent ? `${shareOf(counts, kind)} of sent` : `Last ${templateCountDays} days`)
  return (
    <Stats>
      <Stat label="Sent" value={of('sent')} detail={`Last ${templateCountDays} days`} to={link('sent')} />
      <Stat label="Delivered" value={of('delivered')} detail={share('delivered')} to={link('delivered')} />
      <Stat label="Read" value={of('read')} detail={share('read')} to={link('read')} />
      <Stat label="Failed" value={of('failed')} detail={share('failed')} to={link('failed')} />
    </Stats>
  )
}
