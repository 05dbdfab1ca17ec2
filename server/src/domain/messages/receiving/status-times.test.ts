import { expect, test } from 'vitest'
import type { NetworkStatus } from '../../../whatsapp/incoming/status-rank.ts'
import { type StatusTimes, statusTime } from './status-times.ts'

const createdAt = new Date('2026-08-01T09:30:00.700Z')
const none: StatusTimes = { sent: null, delivered: null, read: null, failed: null }
const second = (seconds: number) => new Date(Date.parse('2026-08-01T09:30:00Z') + seconds * 1000)

test.each<[status: NetworkStatus, network: number, expected: string]>([
  ['sent', 0, '00.701'],
  ['delivered', 0, '00.702'],
  ['read', 0, '00.703'],
  ['failed', 0, '00.703'],
  ['sent', 1, '01.001'],
  ['delivered', 1, '01.002'],
  ['read', 1, '01.003'],
  ['failed', 2, '02.003'],
  ['delivered', -60, '00.702'],
])('%s at second %i is recorded at %s', (status, network, expected) => {
  expect(statusTime(status, second(network), createdAt, none).toISOString()).toBe(`2026-08-01T09:30:${expected}Z`)
})

test('times grow along sent, delivered, read, whatever the network says and in whatever order they arrive', () => {
  const orders: NetworkStatus[][] = [
    ['sent', 'delivered', 'read'],
    ['sent', 'read', 'delivered'],
    ['delivered', 'sent', 'read'],
    ['delivered', 'read', 'sent'],
    ['read', 'sent', 'delivered'],
    ['read', 'delivered', 'sent'],
  ]
  for (const order of orders) {
    for (let sample = 0; sample < 64; sample++) {
      const known = { ...none }
      for (const [index, status] of order.entries()) {
        known[status] = statusTime(status, second(((sample >> (2 * index)) & 3) - 1), createdAt, known)
      }
      const times = [createdAt, known.sent, known.delivered, known.read].map((time) => time?.getTime() ?? 0)
      expect(times, order.join()).toEqual([...new Set(times)].sort((left, right) => left - right))
    }
  }
})
