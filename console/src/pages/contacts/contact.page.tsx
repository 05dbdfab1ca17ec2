import type { Contact } from '@parley/contract/console/contacts'
import { useParams } from '@tanstack/react-router'
import { ApiError } from '../../lib/api.ts'
import { formatPhone } from '../../lib/phone.ts'
import { useHere } from '../../lib/session.ts'
import { personOf } from '../../parts/recipient.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { type Back, DetailPage } from '../../ui/detail-page.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState, Notice } from '../../ui/states.tsx'
import { Moment } from '../../ui/time.tsx'
import { ContactActions } from './contact-actions.tsx'
import { ContactDetails } from './contact-details.tsx'
import styles from './contacts.module.css'
import { useContact } from './contacts.queries.ts'
import { Conversation } from './conversation.tsx'

export function ContactPage() {
  const here = useHere()
  const { id = '' } = useParams({ strict: false })
  const contact = useContact(id)
  const back = { to: here.path('messages'), title: 'Messages' }
  // Also if it was there before: a contact who has been erased is gone.
  if (contact.error instanceof ApiError && contact.error.status === 404) {
    return <NoContact id={id} back={back} wasErased={contact.data?.erasure != null} />
  }
  return (
    <DetailPage query={contact} title="Contact" back={back}>
      {(data) => <ContactView key={id} id={id} contact={data} back={back} />}
    </DetailPage>
  )
}

function ContactView({ id, contact, back }: { id: string; contact: Contact; back: Back }) {
  const person = personOf(contact)
  const title = nameOf(contact, id)
  return (
    <>
      <PageHeader
        title={<bdi className="numbers">{title}</bdi>}
        name={title}
        back={back}
        actions={person && <ContactActions person={person} name={title} isErasing={contact.erasure !== null} />}
      />
      <PageBody>
        {contact.erasure && <ErasureNotice erasure={contact.erasure} />}
        <div className={styles.layout}>
          <Conversation id={id} contact={contact} />
          <ContactDetails contact={contact} />
        </div>
      </PageBody>
    </>
  )
}

/** The profile name; without one the number, the username or the user ID. */
function nameOf({ profile_name, phone, username, user_id }: Contact, id: string): string {
  if (profile_name !== null) return profile_name
  if (phone !== null) return formatPhone(phone)
  return username === null ? (user_id ?? id) : `@${username}`
}

function ErasureNotice({ erasure: { asked_at, waits } }: { erasure: NonNullable<Contact['erasure']> }) {
  return (
    <Notice tone="warn" title="This contact is being erased.">
      An admin started it on <Moment at={asked_at} />.{' '}
      {waits
        ? 'It waits because a message to this contact is not sent yet. It continues by itself when the message is sent or has failed, after 25 hours at most.'
        : 'It takes a few seconds for every thousand messages.'}
    </Notice>
  )
}

/** One text for all cases: others must not learn who was erased, or whom another workspace knows. */
function NoContact({ id, back, wasErased }: { id: string; back: Back; wasErased: boolean }) {
  return (
    <>
      <PageHeader title="Contact" back={back} />
      <PageBody>
        <EmptyState
          icon="person"
          title={wasErased ? 'Contact erased' : 'Contact not found'}
          action={<ButtonLink to={back.to}>View messages</ButtonLink>}
        >
          {wasErased ? (
            'Everything that this workspace had about this contact was removed. Their messages stay in the list without content, number and name.'
          ) : (
            <>
              This workspace has no messages with{' '}
              <bdi className="numbers">{/^\d+$/.test(id) ? formatPhone(id) : id}</bdi>. Check the address for typos. The
              contact may also have been erased.
            </>
          )}
        </EmptyState>
      </PageBody>
    </>
  )
}
