import type { MessageDetail, ReceivedContent as Received } from '@parley/contract/console/messages'
import { useHere } from '../../lib/session.ts'
import { KeyValue } from '../../ui/figures.tsx'
import { Card } from '../../ui/layout.tsx'
import { ExternalLink, PageLink, SafeText } from '../../ui/link.tsx'
import { Notice } from '../../ui/states.tsx'

/** The parts of an inbound message that its preview does not show. */
export function ReceivedContent({ message: { received } }: { message: MessageDetail }) {
  if (!received) return null
  return (
    <>
      {received.contacts && <Contacts contacts={received.contacts} />}
      {received.order && <OrderedItems order={received.order} />}
      {received.reaction && <Reaction reaction={received.reaction} />}
      {received.unsupported && <Unsupported unsupported={received.unsupported} />}
      {received.referral && <Referral referral={received.referral} />}
    </>
  )
}

/** A message in a group must not look like a private one. */
export function GroupNotice({ groupId }: { groupId: string | null }) {
  if (groupId === null) return null
  return (
    <Notice title="Written in a group.">
      Group ID <bdi className="mono">{groupId}</bdi>. You cannot reply to it as a private message.
    </Notice>
  )
}

function Contacts({ contacts }: { contacts: NonNullable<Received['contacts']> }) {
  return (
    <Card title="Contacts">
      {contacts.map((contact, index) => (
        <KeyValue
          // biome-ignore lint/suspicious/noArrayIndexKey: cards have no other key than their position
          key={index}
          facts={[
            { name: 'Name', value: <SafeText>{contact.name ?? 'No name'}</SafeText> },
            contact.phones.length > 0 && {
              name: 'Phone',
              value: linesOf(contact.phones.map(({ phone, wa_id, type }) => [phone ?? (wa_id && `+${wa_id}`), type])),
            },
            contact.emails.length > 0 && {
              name: 'Email',
              value: linesOf(contact.emails.map(({ email, type }) => [email, type])),
            },
            contact.origin === 'contact_request' && { name: 'Origin', value: 'Shared at your request' },
          ]}
        />
      ))}
    </Card>
  )
}

const linesOf = (lines: readonly (readonly (string | null)[])[]) => (
  <span className="lines">
    {lines.map((parts, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other key than their position
      <SafeText key={index}>{parts.filter(Boolean).join(' · ')}</SafeText>
    ))}
  </span>
)

function OrderedItems({ order }: { order: NonNullable<Received['order']> }) {
  return (
    <Card title="Order">
      <KeyValue
        facts={[
          order.catalog_id !== null && { name: 'Catalog', value: <bdi className="mono">{order.catalog_id}</bdi> },
          order.text !== null && { name: 'Note', value: <SafeText>{order.text}</SafeText> },
          {
            name: 'Items',
            value: linesOf(
              order.items.map(({ product_retailer_id, quantity, item_price, currency }) => [
                `${quantity ?? '?'} × ${product_retailer_id}`,
                item_price === null ? null : `${item_price} ${currency ?? ''}`.trim(),
              ]),
            ),
          },
        ]}
      />
    </Card>
  )
}

function Reaction({ reaction: { emoji, wa_message_id, message_id } }: { reaction: NonNullable<Received['reaction']> }) {
  const here = useHere()
  return (
    <Card title="Reaction">
      <KeyValue
        facts={[
          { name: 'Emoji', value: emoji === null ? 'Removed' : <bdi>{emoji}</bdi> },
          {
            name: 'Message',
            value: message_id ? (
              <PageLink to={here.path(`messages/${message_id}`)}>View message</PageLink>
            ) : (
              wa_message_id && <bdi className="mono small">{wa_message_id}</bdi>
            ),
          },
        ]}
      />
    </Card>
  )
}

function Unsupported({ unsupported: { type, code, title } }: { unsupported: NonNullable<Received['unsupported']> }) {
  if (type === null && code === null && title === null) return null
  return (
    <Card title="Unsupported message">
      <KeyValue
        facts={[
          type !== null && { name: 'Type', value: <bdi className="mono">{type}</bdi> },
          code !== null && { name: 'WhatsApp error', value: <span className="mono">{code}</span> },
          title !== null && { name: 'Reason', value: <SafeText>{title}</SafeText> },
        ]}
      />
    </Card>
  )
}

function Referral({ referral }: { referral: NonNullable<Received['referral']> }) {
  const { source_type, source_id, source_url, headline, body, ctwa_clid } = referral
  return (
    <Card title="Came from">
      <KeyValue
        facts={[
          source_type !== null && { name: 'Source', value: <SafeText>{source_type}</SafeText> },
          headline !== null && { name: 'Headline', value: <SafeText>{headline}</SafeText> },
          body !== null && { name: 'Text', value: <SafeText>{body}</SafeText> },
          source_url !== null && { name: 'Link', value: <ExternalLink href={source_url} /> },
          source_id !== null && { name: 'Source ID', value: <bdi className="mono">{source_id}</bdi> },
          ctwa_clid !== null && { name: 'Click ID', value: <bdi className="mono">{ctwa_clid}</bdi> },
        ]}
      />
    </Card>
  )
}
