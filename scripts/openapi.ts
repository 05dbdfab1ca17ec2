// Writes docs/openapi.json: the description of the API as the service serves it, for those who want it without a service.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, routes } from '../server/src/api.ts'

export const openApiFile = join(import.meta.dirname, '..', 'docs', 'openapi.json')

/** With a placeholder for where the service is. */
export const openApiText = (): string =>
  `${JSON.stringify(describe('https://parley.example.com', routes).document, null, 2)}\n`

if (process.argv[1] === import.meta.filename) {
  writeFileSync(openApiFile, openApiText())
  console.log('docs/openapi.json is written.')
}
