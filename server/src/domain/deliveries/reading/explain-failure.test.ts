import { expect, test } from 'vitest'
import { explainFailure } from './explain-failure.ts'

test('what arrived had no trouble', () => {
  expect(explainFailure(null, 204)).toBeNull()
})

test.each(['dns', 'connect', 'tls', 'timeout', 'blocked', 'protocol'])(
  '%s is told in words, with a remedy',
  (error) => {
    const trouble = explainFailure(error, null)
    expect(trouble?.title).not.toContain('(')
    expect(trouble?.remedy.length).toBeGreaterThan(30)
  },
)

test.each([
  [301, 'Redirects are not followed'],
  [401, 'signing secret'],
  [404, 'path'],
  [429, 'fewer requests'],
  [418, 'refused the event'],
  [500, 'broke'],
  [503, 'running'],
  [599, 'broke'],
])('an answer of %i says what helps', (status, words) => {
  const trouble = explainFailure('http', status)
  expect(trouble?.title).toContain(String(status))
  expect(trouble?.remedy).toContain(words)
})

test('a kind that is not known yet is told all the same', () => {
  expect(explainFailure('gremlins', null)?.title).toContain('gremlins')
})
