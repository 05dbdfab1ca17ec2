import type { Scope } from '@parley/contract/scopes'
import { expect, test } from 'vitest'
import { widens } from './key-input.ts'

const limits = (change: object = {}) => ({
  scopes: ['messages:send', 'messages:read'] as Scope[],
  rateLimitPerMin: 30,
  allowedRanges: ['10.0.0.0/8', '2001:db8::/32'],
  expiresAt: new Date('2027-01-01') as Date | null,
  ...change,
})
const from = limits()
const anyAddress = limits({ allowedRanges: [] })
const forever = limits({ expiresAt: null })

test.each([
  [from, from, false],
  [from, limits({ scopes: ['messages:read'] }), false],
  [from, limits({ scopes: ['messages:read', 'senders:read'] }), true],
  [from, limits({ rateLimitPerMin: 29 }), false],
  [from, limits({ rateLimitPerMin: 31 }), true],
  [from, limits({ expiresAt: new Date('2026-12-31') }), false],
  [from, limits({ expiresAt: new Date('2027-01-02') }), true],
  [from, forever, true],
  [forever, from, false],
  [from, limits({ allowedRanges: ['10.1.0.0/16', '10.9.9.9/32', '2001:db8:1::/48'] }), false],
  [from, limits({ allowedRanges: ['10.0.0.0/7'] }), true],
  [from, limits({ allowedRanges: ['10.0.0.0/8', '192.0.2.1/32'] }), true],
  [from, limits({ allowedRanges: ['::/0'] }), true],
  [limits({ allowedRanges: ['0.0.0.0/0'] }), limits({ allowedRanges: ['2001:db8::/32'] }), true],
  [from, anyAddress, true],
  [anyAddress, from, false],
  [anyAddress, anyAddress, false],
])('from %j to %j: %s', (before, after, expected) => {
  expect(widens(before, after)).toBe(expected)
})
