import type { MessageDetail } from '@parley/contract/console/messages'
import { formatCredits, plainWord } from '../../lib/format.ts'
import { formatPhone } from '../../lib/phone.ts'
import { useCan, useHere } from '../../lib/session.ts'
import { contactFact } from '../../parts/contact-link.tsx'
import { personName, personOf } from '../../parts/recipient.tsx'
import { ReplyWindow } from '../../parts/reply-window.tsx'
import { CopyId } from '../../ui/copy-button.tsx'
import { KeyValue } from '../../ui/figures.tsx'
import { Card } from '../../ui/layout.tsx'
import { PageLink, SafeText } from '../../ui/link.tsx'
import { Moment } from '../../ui/time.tsx'

/** The details of a message, next to its timeline. */
export function MessageDetails({ message }: { message: MessageDetail }) {
  const here = useHere()
  const seesKeys = useCan('keys:read')
  const { author, credits, sender, template, received } = message
  return (
    <Card title="Details">
      <KeyValue
        facts={[
          { name: 'ID', value: <CopyId id={message.id} /> },
          message.wa_message_id !== null && { name: 'WhatsApp ID', value: <CopyId id={message.wa_message_id} short /> },
          contactFact(personOf(message), personName(message)),
          { name: 'Type', value: plainWord(message.type) },
          message.profile_name !== null && { name: 'Profile name', value: <SafeText>{message.profile_name}</SafeText> },
          message.user_id !== null && { name: 'User ID', value: <CopyId id={message.user_id} /> },
          received?.username != null && { name: 'Username', value: <SafeText>{`@${received.username}`}</SafeText> },
          message.group_id !== null && { name: 'Group', value: <CopyId id={message.group_id} short /> },
          received?.forwarded && { name: 'Forwarded', value: 'Yes' },
          {
            name: 'Sender',
            value: (
              <PageLink to={here.path(`senders/${sender.id}`)}>
                <bdi>{sender.display_name ?? formatPhone(sender.phone_number)}</bdi>
              </PageLink>
            ),
          },
          template && {
            name: 'Template',
            value: (
              <PageLink to={here.path(`templates/${template.id}`)}>
                <bdi>{template.name}</bdi> · {template.language}
              </PageLink>
            ),
          },
          message.reference !== null && { name: 'Reference', value: <SafeText>{message.reference}</SafeText> },
          author && {
            name: author.kind === 'key' ? 'Sent by key' : 'Sent by',
            value:
              author.kind === 'key' && seesKeys ? (
                <PageLink to={here.path(`keys?open=${author.id}`)}>
                  <bdi>{author.name}</bdi>
                </PageLink>
              ) : (
                <bdi>{author.name}</bdi>
              ),
          },
          credits && { name: 'Credits', value: creditText(credits) },
          message.pricing && { name: 'Billed by WhatsApp', value: <SafeText>{priceText(message.pricing)}</SafeText> },
          message.group_id === null && {
            name: '24-hour window',
            value: <ReplyWindow expiresAt={message.window_expires_at} />,
          },
          received?.media && {
            name: 'File',
            value: (
              <>
                <SafeText>{received.media.filename ?? received.media.mime_type}</SafeText>
                {received.media.voice && ' · voice message'}
                {received.media.filename && <bdi className="small quiet"> {received.media.mime_type}</bdi>}
              </>
            ),
          },
          received?.reply && {
            name: 'Reply',
            value: (
              <>
                <SafeText>{received.reply.title}</SafeText> <bdi className="mono small quiet">{received.reply.id}</bdi>
              </>
            ),
          },
          received?.form_id != null && {
            name: 'Form',
            value: <PageLink to={here.path(`forms/${received.form_id}`)}>View submission</PageLink>,
          },
          received?.order_id != null && {
            name: 'Order',
            value: <PageLink to={here.path(`orders/${received.order_id}`)}>View order</PageLink>,
          },
          { name: message.direction === 'sent' ? 'Created' : 'Received', value: <Moment at={message.at} /> },
          message.received_at !== null && { name: 'Sent', value: <Moment at={message.received_at} /> },
        ]}
      />
    </Card>
  )
}

const priceText = ({ category, type, model }: NonNullable<MessageDetail['pricing']>): string =>
  [category, type, model].filter(Boolean).join(' · ')

function creditText({ spent, refunded }: NonNullable<MessageDetail['credits']>): string {
  if (spent === 0) return 'None'
  return refunded === 0 ? formatCredits(spent) : `${formatCredits(spent)}, refunded`
}
