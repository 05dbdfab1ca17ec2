import { expect, test } from 'vitest'
import { emptyDraft, errorsIn } from './key-form.ts'

test('a new key starts without scopes, and at least one has to be chosen', () => {
  expect(emptyDraft.scopes).toEqual([])
  expect(errorsIn({ ...emptyDraft, name: 'Order service' }).scopes).toBe('Choose at least one scope.')
  expect(errorsIn({ ...emptyDraft, name: 'Order service', scopes: ['messages:send'] }).scopes).toBeUndefined()
})
