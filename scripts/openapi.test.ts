import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openApiFile, openApiText } from './openapi.ts'

test('docs/openapi.json is what the service serves', () => {
  const isCurrent = readFileSync(openApiFile, 'utf8') === openApiText()
  expect(isCurrent, 'docs/openapi.json is not what the routes say any more: run npm run openapi').toBe(true)
})
