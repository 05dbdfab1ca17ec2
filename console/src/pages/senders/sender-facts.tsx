import { businessCategories, type SenderDetail } from '@parley/contract/console/senders'
import { plainWord } from '../../lib/format.ts'
import { formatPhone } from '../../lib/phone.ts'
import { Button } from '../../ui/button.tsx'
import { CopyId } from '../../ui/copy-button.tsx'
import { KeyValue } from '../../ui/figures.tsx'
import { Card } from '../../ui/layout.tsx'
import { ExternalLink, SafeText } from '../../ui/link.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Moment, TimeAgo } from '../../ui/time.tsx'
import { nameNote } from './sender-state.tsx'
import { useProfile } from './senders.queries.ts'

/** The number, its registration and its account. */
export function SenderFacts({ sender }: { sender: SenderDetail }) {
  const { phone_number, display_name, verification_status, has_pin, connection } = sender
  const note = nameNote(sender)
  return (
    <Card title="Details">
      <KeyValue
        facts={[
          { name: 'ID', value: <CopyId id={sender.id} /> },
          { name: 'Phone number', value: <CopyId id={`+${phone_number}`} shown={formatPhone(phone_number)} /> },
          {
            name: 'Display name',
            value: (
              <>
                <bdi>{display_name ?? '–'}</bdi>
                {note && <bdi className="small quiet"> {note}</bdi>}
              </>
            ),
          },
          verification_status !== null && { name: 'Verification', value: plainWord(verification_status) },
          has_pin !== null && { name: 'Two-step PIN', value: has_pin ? 'Set' : 'Not set' },
          { name: 'Account', value: <CopyId id={connection.account} /> },
          { name: 'Synced', value: <TimeAgo at={connection.synced_at} none="Never" /> },
          { name: 'Added', value: <Moment at={sender.created_at} /> },
        ]}
      />
    </Card>
  )
}

/** What people see in WhatsApp when they open the business, read from WhatsApp. */
export function ProfileCard({ id, onEdit }: { id: string; onEdit: () => void }) {
  return (
    <Card
      title="Business profile"
      actions={
        <Button size="s" icon="edit" onClick={onEdit}>
          Edit
        </Button>
      }
    >
      <Loaded query={useProfile(id)} what="The business profile" lines={4}>
        {({ about, description, category, address, email, websites }) => {
          const facts = [
            about && { name: 'About', value: <SafeText>{about}</SafeText> },
            description && { name: 'Description', value: <SafeText>{description}</SafeText> },
            category && { name: 'Category', value: businessCategories[category] ?? plainWord(category) },
            address && { name: 'Address', value: <SafeText>{address}</SafeText> },
            email && { name: 'Email', value: <SafeText>{email}</SafeText> },
            websites.length > 0 && {
              name: 'Websites',
              value: websites.map((url) => (
                <div key={url}>
                  <ExternalLink href={url}>{url}</ExternalLink>
                </div>
              )),
            },
          ]
          return facts.some(Boolean) ? <KeyValue facts={facts} /> : <p className="quiet">Not filled in.</p>
        }}
      </Loaded>
    </Card>
  )
}
