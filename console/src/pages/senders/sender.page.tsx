import type { SenderDetail } from '@parley/contract/console/senders'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { formatPhone } from '../../lib/phone.ts'
import { useCan, useHere } from '../../lib/session.ts'
import { PeriodSwitch, usePeriod } from '../../parts/period.tsx'
import { WhyButton } from '../../parts/why-button.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { type Back, DetailPage } from '../../ui/detail-page.tsx'
import { Card, PageBody, Sheet, Stack } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { FailedState, Notice, Skeleton } from '../../ui/states.tsx'
import { type NumberAction, NumberDialog, NumberMenu } from './number-actions.tsx'
import styles from './sender.module.css'
import { ProfileCard, SenderFacts } from './sender-facts.tsx'
import { SenderFigures } from './sender-figures.tsx'
import { SenderHistory } from './sender-history.tsx'
import { AccountNotices, SenderStatus } from './sender-state.tsx'
import { SenderVolume, volumeText } from './sender-volume.tsx'
import { useActivity, useSender } from './senders.queries.ts'

export function SenderPage() {
  const here = useHere()
  const { id = '' } = useParams({ strict: false })
  const back = { to: here.path('senders'), title: 'Senders' }
  return (
    <DetailPage query={useSender(id)} title="Sender" back={back}>
      {(sender) => <SenderView key={id} sender={sender} back={back} />}
    </DetailPage>
  )
}

function SenderView({ sender, back }: { sender: SenderDetail; back: Back }) {
  const here = useHere()
  const mayManage = useCan('senders:manage')
  const [period, setPeriod] = usePeriod('period')
  const activity = useActivity(sender.id, period)
  const [action, setAction] = useState<NumberAction | null>(null)
  const number = formatPhone(sender.phone_number)
  const name = sender.display_name ?? number
  return (
    <>
      <PageHeader
        title={<bdi>{name}</bdi>}
        name={name}
        back={back}
        badge={<SenderStatus status={sender.status} />}
        detail={<bdi className="numbers">{number}</bdi>}
        actions={
          <>
            <WhyButton about={sender.id} />
            <ButtonLink icon="message" to={here.path(`messages?sender=${sender.id}`)}>
              View messages
            </ButtonLink>
            {mayManage && <NumberMenu sender={sender} act={setAction} />}
          </>
        }
      />
      <PageBody>
        <AccountNotices account={sender.connection} />
        {sender.status_reason !== null && sender.connection.status_reason !== sender.status_reason && (
          <Notice tone="warn">
            <bdi>{sender.status_reason}</bdi>
          </Notice>
        )}
        <SenderFigures sender={sender} activity={activity.data} />
        <Sheet
          facts={
            <Stack gap={5}>
              <SenderFacts sender={sender} />
              {mayManage && sender.status !== 'DELETED' && (
                <ProfileCard id={sender.id} onEdit={() => setAction('profile')} />
              )}
            </Stack>
          }
        >
          <Card
            title="Messages"
            detail={<span className={styles.volume}>{activity.data ? volumeText(activity.data) : 'Counting…'}</span>}
            actions={<PeriodSwitch value={period} onChange={setPeriod} />}
          >
            <div className={styles.plot}>
              {activity.data ? (
                <SenderVolume id={sender.id} activity={activity.data} />
              ) : activity.error ? (
                <FailedState what="The messages could not be counted" error={activity.error} />
              ) : (
                <Skeleton height="100%" />
              )}
            </div>
          </Card>
          <Card title="History" detail="Changes of the status and the quality, as far back as events are stored.">
            <SenderHistory changes={sender.changes} />
          </Card>
        </Sheet>
      </PageBody>
      {action && <NumberDialog sender={sender} action={action} onClose={() => setAction(null)} />}
    </>
  )
}
