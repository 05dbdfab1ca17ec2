import type { AlertKind } from '@parley/contract/console/alerts'

/** What each alert is about, and when there is one. */
export const alertLabels: Readonly<Record<AlertKind, { title: string; detail: string }>> = {
  webhook_failing: {
    title: 'A webhook is failing',
    detail: 'Ten attempts in a row have failed. After 20 it is disabled.',
  },
  webhook_disabled: {
    title: 'A webhook was disabled',
    detail: 'After 20 failed attempts in a row. Its events are held.',
  },
  credits_low: { title: 'Credits are low', detail: 'The balance fell to the low-credit warning of the workspace.' },
  key_expiring: {
    title: 'An API key expires soon',
    detail: 'A week before, or half of its lifetime before if that is shorter. Not for keys that were rotated.',
  },
  token_expiring: {
    title: 'A WhatsApp access token expires soon',
    detail: 'A week before, or half of its time before. Without a new one, the numbers of the account cannot send.',
  },
  template_status: {
    title: 'The status of a template changed',
    detail: 'WhatsApp approved, rejected or paused it.',
  },
  sender_status: {
    title: 'The status of a sender changed',
    detail: 'Its connection or its quality rating.',
  },
}
