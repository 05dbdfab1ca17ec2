import type { ReactNode } from 'react'
import { formatPhone } from '../lib/phone.ts'
import { useHere } from '../lib/session.ts'
import { PageLink } from '../ui/link.tsx'
import styles from './contact-link.module.css'
import type { Person } from './recipient.tsx'

/** The path of a contact's page inside the workspace: `contacts/16505550123`, or with a user ID. */
export const contactPath = (person: Person): string =>
  `contacts/${encodeURIComponent('phone' in person ? person.phone : person.user_id)}`

/** A contact as orders and forms name them: by number, or by user ID without one. Null if it is not known who it was. */
export function contactOf({ from, from_user_id }: { from: string | null; from_user_id: string | null }): Person | null {
  if (from !== null) return { phone: from }
  return from_user_id === null ? null : { user_id: from_user_id }
}

/** The formatted number, or the user ID. */
export const contactName = (person: Person): string => ('phone' in person ? formatPhone(person.phone) : person.user_id)

/** A link to the page of a contact. Without a contact, only the content. */
export function ContactLink({ person, children }: { person: Person | null; children: ReactNode }) {
  const here = useHere()
  if (person === null) return children
  return (
    <PageLink to={here.path(contactPath(person))} className={styles.link ?? ''}>
      {children}
    </PageLink>
  )
}

/** A contact by number, or by `name`, with a link to the page. */
export const LinkedContact = ({ person, name = contactName(person) }: { person: Person; name?: string | null }) => (
  <ContactLink person={person}>
    <bdi className="numbers">{name}</bdi>
  </ContactLink>
)

/** A contact in a table: the name, if it is known, above the number. */
export const NamedContact = ({ person, name }: { person: Person; name: string | null }) => (
  <ContactLink person={person}>
    <span className={styles.named}>
      {name && <bdi className="clip">{name}</bdi>}
      <bdi className={name ? 'small quiet numbers' : 'numbers'}>{contactName(person)}</bdi>
    </span>
  </ContactLink>
)

/** The contact among the details of a message, an order or a form. Null if it is not known who it was. */
export const contactFact = (person: Person | null, name?: string | null) =>
  person && { name: 'Contact', value: <LinkedContact person={person} {...(name === undefined ? {} : { name })} /> }
