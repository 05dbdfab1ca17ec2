import type { Problem } from '@parley/contract/console/overview'
import { expect, test } from 'vitest'
import { attentionLines } from './attention-lines.ts'

const problem = (changes: Partial<Problem>): Problem => ({
  kind: 'webhook_failing',
  severity: 'warning',
  title: 'CRM is failing',
  detail: '3 attempts in a row failed.',
  href: 'webhooks/whk_1',
  since: null,
  ...changes,
})

test('a line that is shown stays: with the newest text, or as resolved', () => {
  const [crm, shop] = [problem({}), problem({ title: 'Shop is failing', href: 'webhooks/whk_2' })]
  const worse = problem({ detail: '4 attempts in a row failed.' })
  expect(attentionLines([crm, shop], [worse])).toEqual({
    lines: [
      { problem: worse, isResolved: false },
      { problem: shop, isResolved: true },
    ],
    added: [],
  })
})

test('a failing webhook that is disabled is the same problem', () => {
  const disabled = problem({ kind: 'webhook_disabled', severity: 'problem', title: 'CRM is disabled' })
  expect(attentionLines([problem({})], [disabled])).toEqual({
    lines: [{ problem: disabled, isResolved: false }],
    added: [],
  })
})

test('a new problem is not a line yet', () => {
  const disabled = problem({ kind: 'webhook_disabled', severity: 'problem', title: 'CRM is disabled' })
  expect(attentionLines([], [disabled])).toEqual({ lines: [], added: [disabled] })
})

test('a balance that falls further is the same problem', () => {
  const low = problem({ kind: 'balance_low', title: '40 credits left', href: 'credits' })
  const lower = { ...low, title: '39 credits left' }
  expect(attentionLines([low], [lower])).toEqual({ lines: [{ problem: lower, isResolved: false }], added: [] })
})
