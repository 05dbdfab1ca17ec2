import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { newVectors, vectorsFile, vectorsText } from './webhook-vectors.ts'

test('sdk/vectors.json is what the service signs', () => {
  const isCurrent = readFileSync(vectorsFile, 'utf8') === vectorsText()
  expect(isCurrent, 'sdk/vectors.json is out of date: run npm run vectors').toBe(true)
})

test('every result occurs, and no name twice', () => {
  for (const vectors of [newVectors().service_signature, newVectors().standard_webhooks]) {
    expect(new Set(vectors.map(({ result }) => result)).size).toBe(6)
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length)
  }
})
