import type { ReactNode } from 'react'
import type { Bubble } from '../lib/bubble.ts'
import styles from './chat.module.css'
import { Icon, type IconName } from './icon.tsx'
import { ExternalLink } from './link.tsx'

/** A place on which messages are drawn as on a handset. */
export function ChatPaper({ children, label }: { children: ReactNode; label: string }) {
  return (
    <section className={styles.paper} aria-label={label}>
      {children}
    </section>
  )
}

interface ChatBubbleProps {
  bubble: Bubble
  /** Ours stand at the right. */
  isOurs?: boolean
  /** Below the words, small: the time and the status. */
  foot?: ReactNode
}

/** One message as a handset shows it. All of it is text: nothing that somebody wrote can act. */
export function ChatBubble({ bubble, isOurs = true, foot }: ChatBubbleProps) {
  return (
    <div className={`${styles.line} ${isOurs ? styles.ours : styles.theirs}`}>
      <BubbleBody bubble={bubble} foot={foot} />
      {bubble.cards && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <div className={styles.cards} tabIndex={0}>
          {bubble.cards.map((card, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: cards have no other name than their place
            <BubbleBody key={index} bubble={card} />
          ))}
        </div>
      )}
    </div>
  )
}

function BubbleBody({ bubble, foot }: { bubble: Bubble; foot?: ReactNode }) {
  const { header, body, footer, buttons = [], location } = bubble
  return (
    <div className={styles.bubble}>
      {header?.kind === 'media' && <MediaPlace type={header.type} detail={header.detail ?? null} />}
      {location && <Place {...location} />}
      {header?.kind === 'text' && (
        <div className={styles.header}>
          <Words text={header.text} />
        </div>
      )}
      {body && (
        <div className={styles.body}>
          <Words text={body} />
        </div>
      )}
      {footer && (
        <div className={styles.footer}>
          <bdi>{footer}</bdi>
        </div>
      )}
      {foot && <div className={styles.foot}>{foot}</div>}
      {buttons.length > 0 && (
        <ul className={styles.buttons}>
          {buttons.map(({ icon, text }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: buttons have no other name than their place
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

function MediaPlace({ type, detail }: { type: string; detail: string | null }) {
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

/** Characters that turn the direction of what follows: they make `exe.jpg` out of `gpj.exe`. */
const turning = /[\u202a-\u202e\u2066-\u2069]/g

/** WhatsApp's own marks for bold, italic, struck and mono text; a hole that is not filled stands out. */
function Words({ text }: { text: string }) {
  return (
    <bdi>
      {text
        .slice(0, 5000)
        .replaceAll(turning, '')
        .split(marks)
        .map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other name than their place
          <Part key={index} text={part} />
        ))}
    </bdi>
  )
}

function Part({ text }: { text: string }) {
  if (/^```[^`]+```$/.test(text)) return <code className="mono">{text.slice(3, -3)}</code>
  if (/^\{\{.*\}\}$/.test(text)) return <mark className={styles.hole}>{text}</mark>
  const inner = text.slice(1, -1)
  if (inner.length > 0 && text[0] === text.at(-1)) {
    if (text[0] === '*') return <strong>{inner}</strong>
    if (text[0] === '_') return <em>{inner}</em>
    if (text[0] === '~') return <s>{inner}</s>
  }
  return text
}
