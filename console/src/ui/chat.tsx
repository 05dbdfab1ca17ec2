import type { ReactNode, Ref } from 'react'
import type { Bubble } from '../lib/bubble.ts'
import styles from './chat.module.css'
import { Icon, type IconName } from './icon.tsx'
import { ExternalLink } from './link.tsx'

/** The background on which messages are shown as on a phone. */
export function ChatPaper({
  children,
  label,
  className = '',
  ref,
  onScroll,
}: {
  children: ReactNode
  label: string
  className?: string | undefined
  ref?: Ref<HTMLElement>
  /** Set if it scrolls. */
  onScroll?: () => void
}) {
  return (
    // A scrollable area must be reachable by keyboard.
    <section
      className={`${styles.paper} ${className}`}
      aria-label={label}
      ref={ref}
      onScroll={onScroll}
      {...(onScroll ? { tabIndex: 0 } : {})}
    >
      {children}
    </section>
  )
}

interface ChatBubbleProps {
  bubble: Bubble
  /** Our messages are on the right. */
  isOurs?: boolean
  /** Small, below the text: time and status. */
  foot?: ReactNode
  /** The file of the message, in place of its placeholder. */
  file?: ReactNode
  /** Above the text: the message that it replies to. */
  quote?: ReactNode
  /** Below the text: more parts, links, an error. */
  after?: ReactNode
  /** Below the message. */
  reactions?: readonly { emoji: string; who: string }[]
  isMarked?: boolean
}

/** A message as a phone shows it. Text is rendered as text, so no content from outside can run. */
export function ChatBubble({ bubble, isOurs = true, isMarked = false, reactions = [], ...parts }: ChatBubbleProps) {
  return (
    <div className={`${styles.line} ${isOurs ? styles.ours : styles.theirs} ${isMarked ? styles.marked : ''}`}>
      <BubbleBody bubble={bubble} {...parts} />
      {bubble.cards && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
        <div className={styles.cards} tabIndex={0}>
          {bubble.cards.map((card, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: cards have no other key than their position
            <BubbleBody key={index} bubble={card} />
          ))}
        </div>
      )}
      {reactions.length > 0 && (
        <span className={styles.reactions}>
          {reactions.map(({ emoji, who }) => (
            <span key={who} className={styles.reaction} title={who}>
              <span className="unseen">{who} </span>
              <bdi>{emoji}</bdi>
            </span>
          ))}
        </span>
      )}
    </div>
  )
}

type BodyProps = Pick<ChatBubbleProps, 'bubble' | 'foot' | 'file' | 'quote' | 'after'>

function BubbleBody({ bubble, foot, file, quote, after }: BodyProps) {
  const { header, body, footer, buttons = [], location } = bubble
  return (
    <div className={styles.bubble}>
      {quote}
      {header?.kind === 'media' && (file ?? <MediaPlaceholder type={header.type} detail={header.detail ?? null} />)}
      {location && <Place {...location} />}
      {header?.kind === 'text' && (
        <div className={styles.header}>
          <RichText text={header.text} />
        </div>
      )}
      {body && (
        <div className={styles.body}>
          <RichText text={body} />
        </div>
      )}
      {footer && (
        <div className={styles.footer}>
          <bdi>{footer}</bdi>
        </div>
      )}
      {after}
      {foot && <div className={styles.foot}>{foot}</div>}
      {buttons.length > 0 && (
        <ul className={styles.buttons}>
          {buttons.map(({ icon, text }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: buttons have no other key than their position
            <li key={index}>
              <Icon name={buttonIcons[icon]} size={13} />
              <bdi>{text}</bdi>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

const buttonIcons: Record<NonNullable<Bubble['buttons']>[number]['icon'], IconName> = {
  reply: 'message',
  link: 'external',
  phone: 'sender',
  copy: 'copy',
  form: 'form',
  list: 'menu',
  product: 'order',
}

function MediaPlaceholder({ type, detail }: { type: string; detail: string | null }) {
  return (
    <div className={styles.media}>
      <Icon
        name={
          type === 'image' || type === 'sticker' || type === 'gif'
            ? 'image'
            : type === 'video'
              ? 'play'
              : type === 'location'
                ? 'globe'
                : type === 'order'
                  ? 'order'
                  : 'file'
        }
        size={22}
      />
      <span className={styles.mediaType}>{type}</span>
      {detail && <bdi className={styles.mediaDetail}>{detail}</bdi>}
    </div>
  )
}

function Place({ latitude, longitude, name, address }: NonNullable<Bubble['location']>) {
  const at = `${latitude},${longitude}`
  return (
    <div className={styles.media}>
      <Icon name="globe" size={22} />
      {name && <bdi>{name}</bdi>}
      {address && <bdi className={styles.mediaDetail}>{address}</bdi>}
      <ExternalLink
        href={`https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=16/${latitude}/${longitude}`}
      >
        {at}
      </ExternalLink>
    </div>
  )
}

const marks = /(```[^`]+```|\*[^*\n]+\*|_[^_\n]+_|~[^~\n]+~|\{\{\s*\w+\s*\}\})/g

/** Characters that reverse the direction of the text after them: they make `gpj.exe` look like `exe.jpg`. */
const directionMarks = /[\u202a-\u202e\u2066-\u2069]/g

/** Renders WhatsApp's marks for bold, italic, strikethrough and monospace. Variables without a value are highlighted. */
function RichText({ text }: { text: string }) {
  return (
    <bdi>
      {text
        .slice(0, 5000)
        .replaceAll(directionMarks, '')
        .split(marks)
        .map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other key than their position
          <Part key={index} text={part} />
        ))}
    </bdi>
  )
}

function Part({ text }: { text: string }) {
  if (/^```[^`]+```$/.test(text)) return <code className="mono">{text.slice(3, -3)}</code>
  if (/^\{\{.*\}\}$/.test(text)) return <mark className={styles.variable}>{text}</mark>
  const inner = text.slice(1, -1)
  if (inner.length > 0 && text[0] === text.at(-1)) {
    if (text[0] === '*') return <strong>{inner}</strong>
    if (text[0] === '_') return <em>{inner}</em>
    if (text[0] === '~') return <s>{inner}</s>
  }
  return text
}
