import { readService } from './by-key.ts'
import type { Call } from './command.ts'
import type { Source } from './source.ts'

/** Loads only what is needed: with an API key, nothing of the database. */
export async function openSource(call: Call, takes?: 'key' | 'keyOrId'): Promise<Source> {
  const service = readService(call, takes)
  if (service) return (await import('./key-source.ts')).newKeySource(call, service)
  return (await import('./database-source.ts')).openDatabaseSource(call)
}
