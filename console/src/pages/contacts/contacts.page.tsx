import type { Contact } from '@parley/contract/console/contacts'
import { useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { ApiError } from '../../lib/api.ts'
import { useIsPhone } from '../../lib/media.ts'
import { formatPhone } from '../../lib/phone.ts'
import { useCan, useHere } from '../../lib/session.ts'
import { useSearchParam } from '../../lib/url.ts'
import { personOf } from '../../parts/recipient.tsx'
import { WhyButton } from '../../parts/why-button.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { Row } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState, Loaded, Notice } from '../../ui/states.tsx'
import { Moment } from '../../ui/time.tsx'
import { ContactActions } from './contact-actions.tsx'
import { ContactDetails } from './contact-details.tsx'
import { ContactList } from './contact-list.tsx'
import styles from './contacts.module.css'
import { useContact, useMarkRead } from './contacts.queries.ts'
import { Conversation } from './conversation.tsx'
import { SaveScenario } from './save-scenario.tsx'

/** All conversations next to the conversation in the path. On a phone, only one of the two. */
export function ContactsPage() {
  const { id } = useParams({ strict: false })
  return (
    <>
      {id === undefined ? <ListHeader /> : <ContactHeader id={id} />}
      <div className={styles.panes} data-open={id !== undefined || undefined}>
        <ContactList openId={id ?? null} />
        <div className={styles.main}>{id === undefined ? <NoneOpen /> : <OpenContact key={id} id={id} />}</div>
      </div>
    </>
  )
}

function ListHeader() {
  const here = useHere()
  const maySend = useCan('messages:send')
  return (
    <PageHeader
      title="Contacts"
      actions={
        maySend && (
          <ButtonLink kind="primary" icon="plus" to={here.path('messages?send=text')}>
            Send message
          </ButtonLink>
        )
      }
    />
  )
}

const NoneOpen = () => (
  <EmptyState icon="person" title="Choose a conversation">
    <Kbd keys="j" /> and <Kbd keys="k" /> move through the list, <Kbd keys="Enter" /> opens.
  </EmptyState>
)

function ContactHeader({ id }: { id: string }) {
  const here = useHere()
  const [q] = useSearchParam('q')
  const isPhone = useIsPhone()
  const { data, error } = useContact(id)
  const back = { to: here.path(`contacts${q === null ? '' : `?q=${encodeURIComponent(q)}`}`), title: 'Contacts' }
  if (!data || isGone(error)) return <PageHeader title="Contact" back={back} />
  const name = nameOf(data, id)
  return (
    <PageHeader
      title={<bdi className="numbers">{name}</bdi>}
      name={name}
      back={back}
      badge={!isPhone && data.phone !== null && name !== formatPhone(data.phone) && <PhoneNumber phone={data.phone} />}
      actions={!isPhone && <Actions key={id} id={id} contact={data} />}
    />
  )
}

/** Even if it was there before: a contact who has been erased is gone. */
const isGone = (error: unknown): boolean => error instanceof ApiError && error.status === 404

function OpenContact({ id }: { id: string }) {
  const contact = useContact(id)
  if (isGone(contact.error)) return <NoContact id={id} wasErased={contact.data?.erasure != null} />
  return (
    <Loaded query={contact} what="This contact">
      {(loaded) => <OpenConversation id={id} contact={loaded} />}
    </Loaded>
  )
}

const PhoneNumber = ({ phone }: { phone: string }) => <bdi className="numbers quiet small">{formatPhone(phone)}</bdi>

function Actions({ id, contact }: { id: string; contact: Contact }) {
  const name = nameOf(contact, id)
  const person = personOf(contact)
  return (
    <>
      <SaveScenario id={id} contact={contact} />
      {person && (
        <>
          <WhyButton about={'phone' in person ? person.phone : person.user_id} />
          <ContactActions person={person} name={name} isErasing={contact.erasure !== null} />
        </>
      )}
    </>
  )
}

function OpenConversation({ id, contact }: { id: string; contact: Contact }) {
  const isPhone = useIsPhone()
  useReadWhileVisible(id, contact.unread)
  return (
    <>
      {contact.erasure && <ErasureNotice erasure={contact.erasure} />}
      <div className={styles.layout}>
        <Conversation id={id} contact={contact} />
        <div className={styles.details}>
          {/* On a phone, the conversation has the space at the top. */}
          {isPhone && (
            <Row className={styles.actions ?? ''}>
              <Actions id={id} contact={contact} />
            </Row>
          )}
          <ContactDetails contact={contact} />
        </div>
      </div>
    </>
  )
}

/** Marks an open conversation as read, also what arrives later, while someone can see it. */
function useReadWhileVisible(id: string, unread: number) {
  const { run } = useMarkRead(id)
  // biome-ignore lint/correctness/useExhaustiveDependencies: only more messages are a reason to mark it again
  useEffect(() => {
    if (unread === 0) return
    const mark = () => document.visibilityState === 'visible' && run()
    mark()
    document.addEventListener('visibilitychange', mark)
    return () => document.removeEventListener('visibilitychange', mark)
  }, [id, unread])
}

/** The saved name or the profile name; without one the number, the username or the user ID. */
function nameOf({ saved_name, profile_name, phone, username, user_id }: Contact, id: string): string {
  const name = saved_name ?? profile_name
  if (name !== null) return name
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
function NoContact({ id, wasErased }: { id: string; wasErased: boolean }) {
  const here = useHere()
  return (
    <EmptyState
      icon="person"
      title={wasErased ? 'Contact erased' : 'Contact not found'}
      action={<ButtonLink to={here.path('contacts')}>View contacts</ButtonLink>}
    >
      {wasErased ? (
        'Everything that this workspace had about this contact was removed. Their messages stay in the list without content, number and name.'
      ) : (
        <>
          This workspace has no messages with <bdi className="numbers">{/^\d+$/.test(id) ? formatPhone(id) : id}</bdi>.
          Check the address for typos. The contact may also have been erased.
        </>
      )}
    </EmptyState>
  )
}
