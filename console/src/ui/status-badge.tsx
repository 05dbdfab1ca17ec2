import type { ReactNode } from 'react'
import { plainWord } from '../lib/format.ts'
import { Icon, type IconName } from './icon.tsx'
import styles from './status-badge.module.css'
import tones from './tones.module.css'

export type Tone = 'good' | 'bad' | 'warn' | 'note' | 'calm'

const toneIcons: Record<Tone, IconName> = {
  good: 'checkCircle',
  bad: 'crossCircle',
  warn: 'warning',
  note: 'progress',
  calm: 'circle',
}

/** Known states with their label, tone and icon. An unknown state is shown in gray with its own name. */
const states: Record<string, readonly [word: string, tone: Tone, icon?: IconName]> = {
  queued: ['Queued', 'calm', 'clock'],
  accepted: ['Accepted', 'calm', 'check'],
  sending: ['Sending', 'note'],
  sent: ['Sent', 'note', 'check'],
  delivered: ['Delivered', 'good', 'checkCircle'],
  read: ['Read', 'good', 'read'],
  received: ['Received', 'note', 'arrowDown'],
  failed: ['Failed', 'bad'],
  pending: ['Pending', 'note', 'clock'],
  retrying: ['Retrying', 'warn', 'retry'],
  held: ['Held', 'warn', 'pause'],
  cancelled: ['Cancelled', 'calm', 'minusCircle'],
  active: ['Active', 'good'],
  enabled: ['Enabled', 'good'],
  disabled: ['Disabled', 'calm', 'pause'],
  failing: ['Failing', 'bad', 'warning'],
  suspended: ['Suspended', 'bad', 'pause'],
  revoked: ['Revoked', 'calm', 'minusCircle'],
  expired: ['Expired', 'calm', 'clock'],
  expiring: ['Expiring', 'warn', 'clock'],
  connected: ['Connected', 'good'],
  disconnected: ['Disconnected', 'bad'],
  approved: ['Approved', 'good'],
  rejected: ['Rejected', 'bad'],
  paused: ['Paused', 'warn', 'pause'],
  new: ['New', 'note', 'circle'],
  confirmed: ['Confirmed', 'note', 'check'],
  shipped: ['Shipped', 'warn', 'arrowRight'],
  done: ['Done', 'good'],
  running: ['Running', 'note'],
  completed: ['Completed', 'good'],
  ok: ['OK', 'good'],
  on: ['On', 'good'],
}

interface StatusBadgeProps {
  status: string
  /** Replaces the state's label, tone or icon. */
  word?: ReactNode
  tone?: Tone
  icon?: IconName
}

/** A state as icon, label and color, never color alone. */
export function StatusBadge({ status, word, tone, icon }: StatusBadgeProps) {
  const look = lookOf(status)
  return (
    <span className={`${styles.badge} ${tones[tone ?? look.tone]}`}>
      <Icon name={icon ?? (tone ? toneIcons[tone] : look.icon)} size={12} />
      {word ?? look.word}
    </span>
  )
}

/** The label, tone and icon of a state. */
export function lookOf(status: string): { word: string; tone: Tone; icon: IconName } {
  const [word, tone, icon] = states[status.toLowerCase()] ?? [plainWord(status), 'calm']
  return { word, tone, icon: icon ?? toneIcons[tone] }
}

/** An HTTP status as a badge: 2xx good, 4xx warn, 5xx and no response bad. */
export function HttpBadge({ status }: { status: number | null }) {
  if (status === null) return <StatusBadge status="failed" word="No response" />
  const tone: Tone = status < 300 ? 'good' : status < 400 ? 'note' : status < 500 ? 'warn' : 'bad'
  return <StatusBadge status={String(status)} word={<span className="mono">{status}</span>} tone={tone} />
}

/** A small gray label: a scope, an event, a language. */
export function Chip({ children, mono = false }: { children: ReactNode; mono?: boolean }) {
  return <span className={`${styles.chip} ${mono ? 'mono' : ''}`}>{children}</span>
}
