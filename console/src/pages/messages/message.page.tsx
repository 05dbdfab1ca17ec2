import type { MessageDetail } from '@parley/contract/console/messages'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useCan, useHere } from '../../lib/session.ts'
import { useChoice } from '../../lib/url.ts'
import { contactPath } from '../../parts/contact-link.tsx'
import { handsetLink, useHandset } from '../../parts/handset.ts'
import { personName, personOf } from '../../parts/recipient.tsx'
import { RemovedNotice } from '../../parts/removed-content.tsx'
import { WhyButton } from '../../parts/why-button.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { type Back, DetailPage } from '../../ui/detail-page.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { JsonView } from '../../ui/json-view.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { ExternalLink } from '../../ui/link.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Chip, StatusBadge } from '../../ui/status-badge.tsx'
import { TabPanel, Tabs } from '../../ui/tabs.tsx'
import { MessageDetails } from './message-details.tsx'
import { FailureReason, MessagePreview, MessageTimeline } from './message-timeline.tsx'
import styles from './messages.module.css'
import { templateLink, useMarkAsRead, useMessage, useSendAgain } from './messages.queries.ts'
import { GroupNotice, ReceivedContent } from './received-content.tsx'
import { Related } from './related.tsx'

export function MessagePage() {
  const here = useHere()
  const { id = '' } = useParams({ strict: false })
  const back = { to: here.path('messages'), title: 'Messages' }
  return (
    <DetailPage query={useMessage(id)} title="Message" back={back}>
      {(message) => <MessageView key={id} message={message} back={back} />}
    </DetailPage>
  )
}

function MessageView({ message, back }: { message: MessageDetail; back: Back }) {
  const [tab, setTab] = useChoice('tab', ['timeline', 'json'])
  const here = useHere()
  const person = personOf(message)
  const number = nameOf(message)
  return (
    <>
      <PageHeader
        title={
          <>
            {message.direction === 'sent' ? 'To ' : 'From '}
            <bdi className="numbers">{number}</bdi>
          </>
        }
        name={`${message.direction === 'sent' ? 'To' : 'From'} ${number}`}
        back={back}
        badge={
          <>
            <StatusBadge status={message.status} />
            {message.group_id !== null && <Chip>group</Chip>}
          </>
        }
        actions={
          <>
            <HandsetLink message={message} />
            <WhyButton about={message.id} />
            {message.direction === 'received' && <MarkAsRead id={message.id} />}
            {message.direction === 'sent' && !message.removed && <SendAgain message={message} />}
            {person && (
              <ButtonLink icon="person" to={here.path(`${contactPath(person)}?message=${message.id}`)}>
                View contact
              </ButtonLink>
            )}
          </>
        }
      >
        <Tabs
          label="Message"
          tabs={[
            { name: 'timeline', title: 'Timeline' },
            { name: 'json', title: 'JSON' },
          ]}
          value={tab}
          onChange={setTab}
        />
      </PageHeader>
      <PageBody>
        <TabPanel name={tab}>
          {tab === 'timeline' && (
            <>
              <RemovedNotice {...message} />
              <FailureReason message={message} />
              <GroupNotice groupId={message.group_id} />
              <div className={styles.layout}>
                <div className={styles.looks}>
                  <MessagePreview message={message} />
                </div>
                <div className={styles.main}>
                  <MessageTimeline message={message} />
                  <ReceivedContent message={message} />
                  <Related message={message} />
                </div>
                <div className={styles.facts}>
                  <MessageDetails message={message} />
                </div>
              </div>
            </>
          )}
          {tab === 'json' && <JsonView title={message.id} value={message} openDepth={2} />}
        </TabPanel>
      </PageBody>
    </>
  )
}

/** Opens the conversation on the handset of the simulator, if it runs. */
function HandsetLink({ message }: { message: MessageDetail }) {
  const handset = useHandset()
  const person = personOf(message)
  if (!handset || !person) return null
  return (
    <ExternalLink href={handsetLink(handset, person, message.sender.phone_number)}>Open on the handset</ExternalLink>
  )
}

const nameOf = (message: MessageDetail): string =>
  message.contact_name ??
  personName(message) ??
  (message.removed?.why === 'erasure' ? 'Erased contact' : 'Unknown contact')

/** The same content would fail again: outside the 24-hour window, WhatsApp accepts only templates. */
const failedForWindow = ({ status, explained }: MessageDetail) =>
  status === 'failed' && (explained?.code === 131047 || explained?.code === 470)

function MarkAsRead({ id }: { id: string }) {
  const maySend = useCan('messages:send')
  const marking = useMarkAsRead(id)
  if (!maySend) return null
  return (
    <Button icon="check" busy={marking.isPending} onClick={() => marking.run()}>
      Mark as read
    </Button>
  )
}

function SendAgain({ message }: { message: MessageDetail }) {
  const here = useHere()
  const maySend = useCan('messages:send')
  const again = useSendAgain(message.id)
  const [isOpen, setOpen] = useState(false)
  if (!maySend) return null
  const person = personOf(message)
  if (failedForWindow(message) && person) {
    return (
      <ButtonLink icon="template" to={here.path(templateLink(person, message.sender.id))}>
        Send a template
      </ButtonLink>
    )
  }
  return (
    <>
      <Button icon="retry" onClick={() => setOpen(true)}>
        Send again
      </Button>
      <ConfirmDialog
        open={isOpen}
        onClose={() => setOpen(false)}
        title="Send this message again?"
        confirm="Send again"
        danger={false}
        action={again}
        input={undefined}
      >
        Sends the same content to <bdi>{nameOf(message)}</bdi> as a new message. It costs credits again
        {message.status === 'failed'
          ? '. The failed message was refunded.'
          : ', and the contact may receive the message twice.'}
      </ConfirmDialog>
    </>
  )
}
