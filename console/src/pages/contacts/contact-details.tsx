import type { Contact, ContactSender } from '@parley/contract/console/contacts'
import { formatPhone } from '../../lib/phone.ts'
import { useHere } from '../../lib/session.ts'
import { ReplyWindow } from '../../parts/reply-window.tsx'
import { CopyId } from '../../ui/copy-button.tsx'
import { KeyValue } from '../../ui/figures.tsx'
import { Card, Stack } from '../../ui/layout.tsx'
import { PageLink, SafeText } from '../../ui/link.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Moment } from '../../ui/time.tsx'
import { ownerName } from './bubbles.ts'

/** Who the contact is, and for each sender the 24-hour window and what they chose about marketing. */
export function ContactDetails({ contact }: { contact: Contact }) {
  const here = useHere()
  const { phone, user_id, username, profile_name, saved_name, senders } = contact
  const filter = phone === null ? null : `phone=${phone}`
  return (
    <Stack gap={5}>
      <Card title="Details">
        <KeyValue
          facts={[
            saved_name !== null && { name: 'Saved as', value: <SafeText>{saved_name}</SafeText> },
            { name: 'Name', value: <SafeText>{profile_name}</SafeText> },
            phone !== null && {
              name: 'Phone number',
              value: <CopyId id={`+${phone}`} shown={formatPhone(phone)} />,
            },
            username !== null && { name: 'Username', value: <SafeText>{`@${username}`}</SafeText> },
            user_id !== null && { name: 'User ID', value: <CopyId id={user_id} /> },
            {
              name: 'Messages',
              value: <PageLink to={here.path(`messages?${filter ?? `user_id=${user_id}`}`)}>View list</PageLink>,
            },
            filter !== null && {
              name: 'Forms',
              value: <PageLink to={here.path(`forms?${filter}`)}>View submissions</PageLink>,
            },
            filter !== null && {
              name: 'Orders',
              value: <PageLink to={here.path(`orders?${filter}`)}>View orders</PageLink>,
            },
          ]}
        />
      </Card>
      {senders.map((sender) => (
        <SenderCard key={sender.id} sender={sender} />
      ))}
    </Stack>
  )
}

export const contactSenderName = ({ display_name, phone_number }: ContactSender): string =>
  display_name ?? formatPhone(phone_number)

function SenderCard({ sender }: { sender: ContactSender }) {
  return (
    <Card title={<bdi>{contactSenderName(sender)}</bdi>} detail={<bdi>{formatPhone(sender.phone_number)}</bdi>}>
      <KeyValue
        facts={[
          sender.status !== 'CONNECTED' && {
            name: 'Sender',
            value: <StatusBadge status={sender.status.toLowerCase()} />,
          },
          sender.control !== null && { name: 'Handled by', value: <Control control={sender.control} /> },
          { name: '24-hour window', value: <ReplyWindow expiresAt={sender.window_expires_at} /> },
          { name: 'Marketing', value: <Marketing marketing={sender.marketing} /> },
          { name: 'Last message', value: <Moment at={sender.last_message_at} short /> },
        ]}
      />
    </Card>
  )
}

/** Who handles the conversation, since when, and who did before. */
function Control({
  control: { change, previous_owner, new_owner, at },
}: {
  control: NonNullable<ContactSender['control']>
}) {
  return (
    <>
      <SafeText>{new_owner === null ? 'Unknown' : ownerName(new_owner)}</SafeText>
      <div className="quiet small">
        {change === 'taken' ? 'Taken' : 'Passed'}
        {previous_owner !== null && (
          <>
            {' from '}
            <SafeText>{ownerName(previous_owner)}</SafeText>
          </>
        )}{' '}
        <Moment at={at} short />
      </div>
    </>
  )
}

function Marketing({ marketing }: Pick<ContactSender, 'marketing'>) {
  if (marketing === null) return <>No choice made in WhatsApp</>
  const isStop = marketing.choice === 'stop'
  return (
    <>
      <StatusBadge
        status={marketing.choice}
        word={isStop ? 'Opted out' : 'Opted in again'}
        tone={isStop ? 'warn' : 'good'}
        icon={isStop ? 'pause' : 'check'}
      />{' '}
      <Moment at={marketing.changed_at} short />
    </>
  )
}
