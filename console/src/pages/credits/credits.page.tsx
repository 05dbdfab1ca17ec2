import { useState } from 'react'
import { formatCredits, formatShortUtcDay, formatUtcDay, plural } from '../../lib/format.ts'
import { useCan } from '../../lib/session.ts'
import { useChoice } from '../../lib/url.ts'
import { BarChart } from '../../ui/bar-chart.tsx'
import { Button } from '../../ui/button.tsx'
import { Stat, Stats } from '../../ui/figures.tsx'
import { Card, PageBody } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { FailedState } from '../../ui/states.tsx'
import { TabPanel, Tabs } from '../../ui/tabs.tsx'
import { useCredits, useUsage } from './credits.queries.ts'
import { LowBalanceDialog } from './low-balance-dialog.tsx'
import { Prices } from './prices.tsx'
import { Statement } from './statement.tsx'

export function CreditsPage() {
  const credits = useCredits()
  const mayChange = useCan('settings:manage')
  const [isOpen, setOpen] = useState(false)
  const [tab, setTab] = useChoice('tab', ['statement', 'prices'])
  const usage = useUsage()
  const { data } = credits
  const spent = usage.data?.days.reduce((sum, day) => sum + day.spent - day.refunded, 0)
  const perDay = spent === undefined ? undefined : spent / 30
  return (
    <>
      <PageHeader
        title="Credits"
        detail="Sending a message costs credits. Failed messages are refunded. The operator adds credits."
      />
      <PageBody>
        {credits.error && !data ? (
          <FailedState
            what="Credits could not be loaded"
            error={credits.error}
            onRetry={() => void credits.refetch()}
          />
        ) : (
          <>
            <Stats>
              <Stat
                label="Balance"
                value={data && formatCredits(data.balance)}
                detail={runway(data?.balance, perDay) ?? reserved}
              />
              <Stat
                label="Spent, last 30 days"
                value={spent === undefined ? undefined : formatCredits(spent)}
                detail={perDay === undefined ? reserved : `${formatCredits(Math.round(perDay * 10) / 10)} per day`}
              />
              <Stat
                label="Low-credit warning"
                value={data && formatCredits(data.low_balance)}
                detail={mayChange ? undefined : 'Admins can change this'}
                aside={
                  mayChange &&
                  data && (
                    <Button size="s" icon="edit" onClick={() => setOpen(true)}>
                      Edit
                    </Button>
                  )
                }
              />
            </Stats>
            <Card title="Credits per day">
              {usage.error && !usage.data ? (
                <FailedState
                  what="The chart could not be loaded"
                  error={usage.error}
                  onRetry={() => void usage.refetch()}
                />
              ) : (
                <div aria-busy={usage.isPending}>
                  <BarChart
                    label="Credits per day"
                    height={180}
                    bars={(usage.data?.days ?? []).map(({ day, spent: out, refunded }) => ({
                      key: day,
                      label: formatShortUtcDay(day),
                      title: formatUtcDay(day),
                      values: { spent: out - Math.min(out, refunded), refunded },
                    }))}
                    series={[
                      { key: 'spent', title: 'Spent', tone: 'accent' },
                      { key: 'refunded', title: 'Refunded', tone: 'calm' },
                    ]}
                  />
                </div>
              )}
            </Card>
          </>
        )}
        <Tabs
          label="Credit details"
          tabs={[
            { name: 'statement', title: 'Transactions' },
            { name: 'prices', title: 'Prices' },
          ]}
          value={tab}
          onChange={setTab}
        />
        <TabPanel name={tab}>{tab === 'statement' ? <Statement /> : <Prices prices={usage.data?.prices} />}</TabPanel>
      </PageBody>
      {data && <LowBalanceDialog open={isOpen} onClose={() => setOpen(false)} now={data.low_balance} />}
    </>
  )
}

/** A line that is filled later, so that what follows does not move. */
const reserved = '\u00a0'

/** How long the balance lasts at the average rate of the last 30 days. */
function runway(balance: number | undefined, perDay: number | undefined): string | undefined {
  if (balance === undefined || perDay === undefined) return undefined
  if (perDay <= 0) return 'Nothing spent'
  const days = Math.floor(balance / perDay)
  return days > 365 ? 'Lasts more than a year' : `Lasts about ${plural(days, 'day')}`
}
