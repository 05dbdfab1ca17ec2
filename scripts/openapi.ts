// Writes docs/openapi.json, the same OpenAPI document that the service serves, and the types of the Python SDK.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pythonTypes, pythonTypesFile } from '../sdk/build/python-types.ts'
import { describe, routes } from '../server/src/api.ts'

export const openApiFile = join(import.meta.dirname, '..', 'docs', 'openapi.json')

/** The server URL is a placeholder. */
export const openApiText = (): string =>
  `${JSON.stringify(describe('https://parley.example.com', routes).document(), null, 2)}\n`

if (process.argv[1] === import.meta.filename) {
  writeFileSync(openApiFile, openApiText())
  writeFileSync(pythonTypesFile, pythonTypes())
  console.log('Wrote docs/openapi.json and sdk/python/src/parley/types.py.')
}
