import { expect, test } from 'vitest'
import { type MessageStatus, type NetworkStatus, type StatusEffect, statusEffect } from './status-rank.ts'

const table: [MessageStatus, Record<NetworkStatus, StatusEffect>][] = [
  ['queued', { sent: 'advance', delivered: 'advance', read: 'advance', failed: 'advance' }],
  ['sent', { sent: 'none', delivered: 'advance', read: 'advance', failed: 'advance' }],
  ['delivered', { sent: 'fill', delivered: 'none', read: 'advance', failed: 'none' }],
  ['read', { sent: 'fill', delivered: 'fill', read: 'none', failed: 'none' }],
  ['failed', { sent: 'fill', delivered: 'advance', read: 'advance', failed: 'none' }],
]

test.each(table)('the effects of statuses on a message that is %s: %j', (current, effects) => {
  for (const [next, effect] of Object.entries(effects)) {
    expect([next, statusEffect(current, next as NetworkStatus)]).toEqual([next, effect])
  }
})
