import type { WhyReport, WhyStation, WhyVerdict } from '@parley/contract/console/why'
import { useState } from 'react'
import { formatTimesIn } from '../lib/format.ts'
import { useData } from '../lib/query.ts'
import { useHere } from '../lib/session.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import type { IconName } from '../ui/icon.tsx'
import { Stack } from '../ui/layout.tsx'
import { SafeText } from '../ui/link.tsx'
import { Loaded, Notice } from '../ui/states.tsx'
import type { Tone } from '../ui/status-badge.tsx'
import { Timeline, type TimelineItem } from '../ui/timeline.tsx'

/** Shows what a message, an event, a contact or a sender went through, and what is wrong. `about` is its ID or number. */
export function WhyButton({ about, size = 'm' }: { about: string; size?: 's' | 'm' }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Button icon="pulse" size={size} onClick={() => setIsOpen(true)}>
        Why?
      </Button>
      {isOpen && <WhyDialog about={about} onClose={() => setIsOpen(false)} />}
    </>
  )
}

function WhyDialog({ about, onClose }: { about: string; onClose: () => void }) {
  const report = useData<WhyReport>(useHere().api('why'), {
    query: { about },
    staleTime: 0,
    refetchOnWindowFocus: false,
  })
  return (
    <Dialog open title="What happened" size="l" onClose={onClose}>
      <Loaded query={report} what="The report" lines={6}>
        {(data) => <WhyStations report={data} />}
      </Loaded>
    </Dialog>
  )
}

const looks: Readonly<Record<WhyVerdict, readonly [Tone, IconName]>> = {
  ok: ['good', 'check'],
  waiting: ['note', 'clock'],
  unknown: ['calm', 'minusCircle'],
  warning: ['warn', 'warning'],
  problem: ['bad', 'cross'],
}

function WhyStations({ report: { conclusion, remedy, verdict, stations, unseen } }: { report: WhyReport }) {
  return (
    <Stack gap={4}>
      <Notice tone={looks[verdict][0]} title={<SafeText>{formatTimesIn(conclusion)}</SafeText>}>
        {remedy && <SafeText>{formatTimesIn(remedy)}</SafeText>}
        {unseen.length > 0 && `Parley cannot see: ${unseen.join(' ')}`}
      </Notice>
      <Timeline label="Stations" items={stations.map(itemOf)} />
    </Stack>
  )
}

function itemOf({ station, verdict, at, message, remedy, details }: WhyStation, index: number): TimelineItem {
  const [tone, icon] = looks[verdict]
  const isFine = verdict === 'ok' || verdict === 'waiting'
  return {
    key: String(index),
    title: <SafeText>{formatTimesIn(message)}</SafeText>,
    tone,
    icon,
    ...(at !== null && { at }),
    aside: at === null && <span className="small quiet">{station}</span>,
    children: !isFine && (remedy !== null || details.length > 0) && (
      <span className="lines small quiet">
        {remedy !== null && <SafeText>{formatTimesIn(remedy)}</SafeText>}
        {details.map((line) => (
          <SafeText key={line}>{formatTimesIn(line)}</SafeText>
        ))}
      </span>
    ),
  }
}
