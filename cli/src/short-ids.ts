import type { Db } from '@parley/server/db/db'
import { StartupError } from '@parley/server/lib/refuse'
import { isApiKey } from './by-key.ts'
import type { Command, IdNoun } from './command.ts'
import type { Parsed } from './parse.ts'
import { visible } from './visible.ts'

/** Shorter parts would match by chance. */
const shortest = 4
/** How many are listed if a part fits several. */
const candidatesMax = 20

const wholeId = /^(\w+_)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

interface Named {
  id: string
  name: string
}

/** Loaded on demand: a command needs one of them, and only for a part of an ID. */
const lists: Readonly<Record<IdNoun, (db: Db, typed: string) => Promise<Named[]>>> = {
  workspace: async (db) => (await import('@parley/server/domain/workspaces/workspaces')).listWorkspaces(db),
  key: async (db) => (await import('@parley/server/domain/keys/keys')).listKeys(db),
  webhook: async (db) =>
    (await (await import('@parley/server/domain/webhooks/webhooks')).listAllWebhooks(db)).map(({ webhook }) => webhook),
  replay: async (db) =>
    (await (await import('@parley/server/domain/deliveries/replays/replays')).listReplays(db)).map(
      ({ id, webhook_id }) => ({ id, name: webhook_id }),
    ),
  app: async (db) => (await import('@parley/server/domain/connections/apps')).listApps(db),
  connection: async (db) =>
    (await (await import('@parley/server/domain/connections/connections')).listConnections(db)).map(
      ({ id, wabaId }) => ({ id, name: wabaId }),
    ),
  // There may be millions: only the beginning of an ID is looked up, in the index.
  event: async (db, typed) => {
    const { findEvents } = await import('@parley/server/domain/deliveries/reading/events')
    return (await findEvents(db, typed, candidatesMax + 1)).map(({ id, type }) => ({ id, name: type }))
  },
}

/**
 * Replaces parts of IDs by the whole ID, in the first argument and in options. The beginning or the end is enough, with or
 * without the prefix: IDs that were made together begin alike. A workspace may also be given by its name.
 */
export async function completeIds(
  { idOf, options = {} }: Command,
  { args, values }: Parsed,
  db: () => Promise<Db>,
): Promise<void> {
  const [first] = args
  if (idOf && first !== undefined) args[0] = await wholeIdOf(db, idOf, first)
  for (const [name, rule] of Object.entries(options)) {
    const given = values[name]
    const noun = rule.idOf
    if (!noun || !given || (noun === 'key' && given.some((text) => isApiKey(text, values.url?.[0])))) continue
    values[name] = await Promise.all(given.map((text) => wholeIdOf(db, noun, text)))
  }
}

async function wholeIdOf(db: () => Promise<Db>, noun: IdNoun, text: string): Promise<string> {
  if (wholeId.test(text)) return text
  const typed = text.toLowerCase()
  const all = await lists[noun](await db(), typed)
  const hasPart = ({ id }: Named) =>
    typed.length >= shortest &&
    [id, id.slice(id.indexOf('_') + 1)].some((each) => each.startsWith(typed) || each.endsWith(typed))
  const byName = noun === 'workspace' ? all.filter(({ name }) => name === text) : []
  const found = byName.length > 0 ? byName : all.filter(hasPart)
  const [one, another] = found
  if (!one) throw new StartupError(notFound(noun, text))
  if (!another) return one.id
  const candidates = found.slice(0, candidatesMax).map(({ id, name }) => `  ${id}  ${visible(name)}`)
  const count = noun === 'event' && found.length > candidatesMax ? `more than ${candidatesMax}` : found.length
  throw new StartupError([`"${text}" fits ${count} ${noun}s. Enter more of the ID:`, ...candidates].join('\n'))
}

/** Says that an ID was not found, and where to find existing IDs. */
export function notFound(noun: IdNoun, text: string): string {
  if (noun === 'event')
    return `No event has an ID that begins with "${text}". Run "./parley delivery list" to see the latest.`
  const what = noun === 'workspace' ? 'ID or name' : 'ID'
  return `No ${noun} has the ${what} "${text}". Run "./parley ${noun} list" to see all ${noun}s.`
}
