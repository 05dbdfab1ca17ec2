import { type ListedContact, unreadMax } from '@parley/contract/console/contacts'
import { type KeyboardEvent, useRef } from 'react'
import { useDrafts } from '../../lib/drafts.ts'
import { plainWord } from '../../lib/format.ts'
import { useLetterKey } from '../../lib/keyboard.ts'
import { formatPhone } from '../../lib/phone.ts'
import { useHere } from '../../lib/session.ts'
import { useSearchParam } from '../../lib/url.ts'
import { personOf } from '../../parts/recipient.tsx'
import { removedText } from '../../parts/removed-text.ts'
import { useIsOpen } from '../../parts/reply-window.tsx'
import { Avatar } from '../../ui/avatar.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { PageLink, SafeText } from '../../ui/link.tsx'
import { Menu } from '../../ui/menu.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { EmptyState, FailedState, Skeleton } from '../../ui/states.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { useDraftKey } from './composer.tsx'
import styles from './contact-list.module.css'
import { pathOf, useContacts, useMarkAllRead } from './contacts.queries.ts'
import { useKeptPlace } from './use-kept-place.ts'

/** All conversations, the newest first, or the results of a search. */
export function ContactList({ openId }: { openId: string | null }) {
  const [q, setQ] = useSearchParam('q')
  const contacts = useContacts(q)
  const markAll = useMarkAllRead()
  return (
    <section className={styles.pane} aria-label="All contacts">
      <div className={styles.bar}>
        <SearchInput
          label="Search by name, number or text"
          placeholder="Name, number or text"
          value={q ?? ''}
          onChange={setQ}
        />
        <Menu
          label="Actions for all conversations"
          groups={[[{ title: 'Mark all as read', icon: 'check', onSelect: () => markAll.run() }]]}
        />
      </div>
      <Rows contacts={contacts} openId={openId} q={q} />
    </section>
  )
}

interface RowsProps {
  contacts: ReturnType<typeof useContacts>
  openId: string | null
  q: string | null
}

/** How close to the end the next conversations are loaded. */
const nearEndPx = 400

function Rows({ contacts, openId, q }: RowsProps) {
  const { rows, error, hasMore, isLoadingMore, loadMore } = contacts
  const list = useRef<HTMLUListElement>(null)
  const onScroll = useKeptPlace(list, rows)
  const draftKey = useDraftKey()
  const drafts = useDrafts()
  const focusNext = (step: 1 | -1) => {
    const links = [...(list.current?.querySelectorAll<HTMLElement>('a[data-contact]') ?? [])]
    const focused = links.indexOf(document.activeElement as HTMLElement)
    const opened = links.findIndex(({ dataset }) => dataset.contact === openId)
    const from = focused >= 0 ? focused : opened
    links[Math.max(0, Math.min(links.length - 1, from + step))]?.focus()
  }
  useLetterKey('j', () => focusNext(1))
  useLetterKey('k', () => focusNext(-1))
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    event.preventDefault()
    focusNext(event.key === 'ArrowDown' ? 1 : -1)
  }
  if (error && !rows) {
    return <FailedState what="The conversations could not be loaded" error={error} onRetry={contacts.retry} />
  }
  if (!rows) return <LoadingRows />
  if (rows.length === 0) return q === null ? <NoContacts /> : <EmptyState icon="search" title="No matching contacts" />
  return (
    <ul
      ref={list}
      className={styles.list}
      aria-label="Conversations"
      onKeyDown={onKeyDown}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        onScroll()
        if (scrollHeight - scrollTop - clientHeight < nearEndPx && hasMore && !isLoadingMore) loadMore()
      }}
    >
      {rows.map((contact) => {
        const person = personOf(contact)
        return (
          <li key={contact.id}>
            <ContactRow
              contact={contact}
              isOpen={contact.id === openId}
              q={q}
              draft={contact.id === openId || !person ? undefined : drafts[draftKey(person)]}
            />
          </li>
        )
      })}
      {hasMore && (
        <li className={styles.more}>
          <Button busy={isLoadingMore} onClick={loadMore}>
            Load more
          </Button>
        </li>
      )}
    </ul>
  )
}

interface ContactRowProps {
  contact: ListedContact
  isOpen: boolean
  q: string | null
  draft: string | undefined
}

function ContactRow({ contact, isOpen, q, draft }: ContactRowProps) {
  const here = useHere()
  const { id, name, phone, username, unread, last_message, match } = contact
  const number = phone === null ? (username === null ? id : `@${username}`) : formatPhone(phone)
  const isUnread = unread > 0 && !isOpen
  const search = new URLSearchParams({ ...(q === null ? {} : { q }), ...(match ? { message: match.message_id } : {}) })
  return (
    <PageLink
      to={`${here.path(pathOf(id))}?${search}`}
      className={styles.row}
      aria-current={isOpen ? 'true' : undefined}
      data-contact={id}
      data-unread={isUnread || undefined}
    >
      {name === null ? (
        <span className={styles.unnamed}>
          <Icon name="person" size={15} />
        </span>
      ) : (
        <Avatar name={name} size={32} />
      )}
      <span className={styles.name}>
        <SafeText className="clip">{name ?? number}</SafeText>
        <span className={styles.time}>
          <TimeAgo at={last_message.at} />
        </span>
      </span>
      <span className={styles.name}>
        <span className={styles.text}>
          {draft ? (
            <>
              <span className={styles.draft}>Draft:</span> <bdi>{draft}</bdi>
            </>
          ) : (
            <Excerpt contact={contact} />
          )}
        </span>
        {isUnread && (
          <span className={styles.unread}>
            {unread >= unreadMax ? `${unreadMax - 1}+` : unread}
            <span className="unseen"> unread</span>
          </span>
        )}
      </span>
      <span className={styles.foot}>
        {name === null ? <Outcome contact={contact} /> : <bdi className="numbers">{number}</bdi>}
        <Hints contact={contact} />
      </span>
    </PageLink>
  )
}

/** The words that were searched for, or the last message. */
function Excerpt({ contact: { match, last_message } }: { contact: ListedContact }) {
  const { direction, preview, type, template_name, status } = last_message
  if (match) return <bdi>{match.excerpt}</bdi>
  const isFailed = status === 'failed'
  const kind = direction === 'received' && type === 'interactive' ? 'form' : type
  return (
    <>
      {direction === 'sent' && (
        <span className={isFailed ? styles.failed : 'quiet'}>
          <Icon name={isFailed ? 'warning' : 'arrowUp'} size={12} className="inline" />
          <span className="unseen">{isFailed ? 'Not delivered:' : 'Sent:'}</span>{' '}
        </span>
      )}
      <bdi>{preview ?? removedText(last_message) ?? template_name ?? plainWord(kind)}</bdi>
    </>
  )
}

/** Whether a message to a contact without a name arrived. */
function Outcome({ contact: { last_message } }: { contact: ListedContact }) {
  const { direction, status, error } = last_message
  if (direction === 'received') return null
  return status === 'failed' ? (
    <SafeText className={`${styles.failed} clip`}>{error ?? 'Failed'}</SafeText>
  ) : (
    <span>{plainWord(status)}</span>
  )
}

function Hints({ contact: { window_expires_at, opted_out } }: { contact: ListedContact }) {
  const isOpen = useIsOpen(window_expires_at)
  return (
    <>
      {isOpen && <span className={styles.window}>Window open</span>}
      {opted_out && <span className={styles.optedOut}>Opted out</span>}
    </>
  )
}

const LoadingRows = () => (
  <div className={styles.list} role="status" aria-label="Loading">
    {Array.from({ length: 8 }, (_, row) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the rows are identical
      <div key={row} className={styles.row}>
        <Skeleton width={32} height={32} />
        <Skeleton width={`${[70, 50, 60][row % 3]}%`} />
      </div>
    ))}
  </div>
)

const NoContacts = () => (
  <EmptyState icon="person" title="No contacts yet">
    Everyone you exchange messages with appears here.
  </EmptyState>
)
