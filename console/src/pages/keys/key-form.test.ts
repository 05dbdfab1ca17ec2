import { expect, test } from 'vitest'
import { emptyDraft, errorsIn } from './key-form.ts'

test('a new key starts without scopes, and at least one has to be chosen', () => {
  expect(emptyDraft.scopes).toEqual([])
  expect(errorsIn({ ...emptyDraft, name: 'Order service' }).scopes).toBe('Choose at least one scope.')
  expect(errorsIn({ ...emptyDraft, name: 'Order service', scopes: ['messages:send'] }).scopes).toBeUndefined()
})

test('an invalid entry of the IP allowlist is an error, so that no key without the restriction is created', () => {
  const errorOf = (...ranges: string[]) => errorsIn({ ...emptyDraft, ip_allow_list: ranges }).ip_allow_list
  expect(errorOf('203.0.113.7', '203.0.113.7/33')).toContain('“203.0.113.7/33”')
  expect(errorOf('203.0.113.7')).toBeUndefined()
  expect(errorOf()).toBeUndefined()
})
