import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openApiFile, openApiText } from './openapi.ts'

test('docs/openapi.json is up to date', () => {
  const isCurrent = readFileSync(openApiFile, 'utf8') === openApiText()
  expect(isCurrent, 'docs/openapi.json is out of date: run npm run openapi').toBe(true)
})
