import type { CreditUsage } from '@parley/contract/console/credits'
import type { Overview } from '@parley/contract/console/overview'
import type { ReactNode } from 'react'
import { useCan } from '../../lib/session.ts'
import { periodLabels } from '../../parts/period.tsx'
import { Grid } from '../../ui/layout.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { CreditFigures } from './credit-figures.tsx'
import { DeveloperFigures } from './developer-figures.tsx'
import { EndpointHealth } from './endpoint-health.tsx'
import styles from './figure-card.module.css'
import { FigureCardLoading } from './figure-card.tsx'
import { MessageFigures } from './message-figures.tsx'
import { useScope } from './scope.ts'

interface Props {
  overview: Overview
  before: Overview | undefined
  usage: CreditUsage | undefined
  readAt: number
}

/** The figures of the period, each with its plot. A figure and a bar open the list of what was counted. */
export function Figures({ overview, before, usage, readAt }: Props) {
  const scope = useScope(overview, before, readAt)
  return (
    <>
      {overview.endpoints && <EndpointHealth endpoints={overview.endpoints} />}
      <FigureGrid>
        <MessageFigures scope={scope} />
        <CreditFigures scope={scope} usage={usage} />
        <DeveloperFigures scope={scope} />
      </FigureGrid>
      <p className={styles.compared}>
        Arrows compare with the {periodLabels[overview.period]} before, up to the same time.
      </p>
    </>
  )
}

const FigureGrid = ({ children }: { children: ReactNode }) => (
  <Grid min={296} gap={4}>
    {children}
  </Grid>
)

/** Placeholders of the same size. */
export function FiguresLoading() {
  const mayDevelop = useCan('requests:read')
  const rest = ['Credits', 'API requests', 'Webhook attempts', 'Webhook response time']
  return (
    <>
      <Skeleton height={40} />
      {mayDevelop && <Skeleton height={44} />}
      <FigureGrid>
        {['Messages', 'Delivery', ...(mayDevelop ? rest : [])].map((title) => (
          <FigureCardLoading key={title} title={title} />
        ))}
      </FigureGrid>
    </>
  )
}
