import { expect, test } from 'vitest'
import { explainFailure } from './explain-failure.ts'

test('a successful attempt has no explanation', () => {
  expect(explainFailure(null, 204)).toBeNull()
})

test.each(['dns', 'connect', 'tls', 'timeout', 'blocked', 'protocol'])(
  '%s has a title and a remedy in plain words',
  (error) => {
    const explanation = explainFailure(error, null)
    expect(explanation?.title).not.toContain('(')
    expect(explanation?.remedy.length).toBeGreaterThan(30)
  },
)

test.each([
  [301, 'Redirects are not followed'],
  [401, 'signing secret'],
  [404, 'path'],
  [429, 'rate of requests'],
  [418, 'rejected the event'],
  [500, 'failed while processing'],
  [503, 'running'],
  [599, 'failed while processing'],
])('status %i has a remedy', (status, text) => {
  const explanation = explainFailure('http', status)
  expect(explanation?.title).toContain(String(status))
  expect(explanation?.remedy).toContain(text)
})

test('an unknown error kind is named in the title', () => {
  expect(explainFailure('gremlins', null)?.title).toContain('gremlins')
})
