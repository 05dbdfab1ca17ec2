import { expect, test } from 'vitest'
import { findError } from './errors.ts'
import { readNetworkError, unknownError } from './network-error.ts'

const long = 'x'.repeat(9000)
const lengths = (error: object) => {
  const { title, message, details } = readNetworkError(error) ?? unknownError
  return [title.length, message.length, details?.length ?? null]
}

test('long texts are cut, wherever they are', () => {
  expect(lengths({ title: long, message: long, error_data: { details: long } })).toEqual([500, 2000, 4000])
  expect(lengths({ error_user_title: long, error_user_msg: long, error_data: long })).toEqual([500, 2000, 4000])
  expect(lengths({ title: long, details: long })).toEqual([500, 500, 4000])
})

test('a missing or blank text is replaced by another one', () => {
  expect(readNetworkError({})).toEqual(unknownError)
  expect(readNetworkError({ code: 1.5, title: ' ', message: '' })).toEqual(unknownError)
  expect(readNetworkError({ code: 131026 })).toMatchObject({
    code: 131026,
    title: expect.not.stringMatching(/^Unknown/),
  })
  expect(readNetworkError({ message: 'No' })).toEqual({ code: 'unknown', title: 'No', message: 'No', details: null })
  expect(readNetworkError('text')).toBeNull()
})

test.each([
  [199, 'message'],
  [200, 'credentials'],
  [299, 'credentials'],
  [300, 'message'],
])('an error with code %i, from 200 to 299 a missing permission, has the scope %s', (code, scope) => {
  expect(findError({ code }).scope).toBe(scope)
})
