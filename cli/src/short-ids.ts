import type { Db } from '@parley/server/db/db'
import { type Command, type IdNoun, UsageError } from './command.ts'
import type { Parsed } from './parse.ts'

/** Shorter parts would match by chance. */
const shortest = 4

const wholeId = /^(\w+_)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

interface Named {
  id: string
  name: string
}

/** Loaded on demand: a command needs one of them, and only for a part of an ID. */
const lists: Readonly<Record<IdNoun, (db: Db) => Promise<Named[]>>> = {
  workspace: async (db) => (await import('@parley/server/domain/workspaces/workspaces')).listWorkspaces(db),
  key: async (db) => (await import('@parley/server/domain/keys/keys')).listKeys(db),
  webhook: async (db) =>
    (await (await import('@parley/server/domain/webhooks/webhooks')).listAllWebhooks(db)).map(({ webhook }) => webhook),
  replay: async (db) =>
    (await (await import('@parley/server/domain/deliveries/replays/replays')).listAllReplays(db, undefined)).map(
      ({ id, webhook_id }) => ({ id, name: webhook_id }),
    ),
  app: async (db) => (await import('@parley/server/domain/connections/apps')).listApps(db),
  connection: async (db) =>
    (await (await import('@parley/server/domain/connections/connections')).listConnections(db)).map(
      ({ id, wabaId }) => ({ id, name: wabaId }),
    ),
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
    if (noun && given) values[name] = await Promise.all(given.map((text) => wholeIdOf(db, noun, text)))
  }
}

async function wholeIdOf(db: () => Promise<Db>, noun: IdNoun, text: string): Promise<string> {
  if (wholeId.test(text)) return text
  const all = await lists[noun](await db())
  const typed = text.toLowerCase()
  const hasPart = ({ id }: Named) =>
    typed.length >= shortest &&
    [id, id.slice(id.indexOf('_') + 1)].some((each) => each.startsWith(typed) || each.endsWith(typed))
  const byName = noun === 'workspace' ? all.filter(({ name }) => name === text) : []
  const found = byName.length > 0 ? byName : all.filter(hasPart)
  const [one, another] = found
  // The command itself says that there is none.
  if (!one) return text
  if (!another) return one.id
  const candidates = found.slice(0, 20).map(({ id, name }) => `  ${id}  ${name}`)
  throw new UsageError([`"${text}" fits ${found.length} ${noun}s. Enter more of the ID:`, ...candidates].join('\n'))
}
