import type { Db } from '../../db/db.ts'
import { type AddedObject, addNumbers, addObjects, endBlocks, storedKeys } from './blocks.sql.ts'
import { keyOf } from './keys.ts'
import { type Found, type Identified, type Kind, objectsById } from './sources.sql.ts'
import { textOf } from './text.ts'
import { wordsOf } from './words.ts'

/** Objects of a block. More make the words smaller on disk, and removing one of them slower. */
export const blockSize = 4_000

/** Words of names begin with this, to tell them from words of contents. */
export const nameMark = '='

/** Adds the words of objects that have none yet, to the blocks with the newest or the oldest objects of their workspace. */
export async function addIds(tx: Db, kind: Kind, ids: readonly Identified[], end: 'newest' | 'oldest'): Promise<void> {
  const missing = await withoutStored(tx, kind, ids)
  if (missing.length === 0) return
  const order = new Map(missing.map(({ id }, index) => [id, index]))
  const found = await objectsById(tx, kind, [...order.keys()])
  found.sort((left, right) => (order.get(left.id) ?? 0) - (order.get(right.id) ?? 0))
  const added = await placed(tx, kind, withWords(kind, found), end)
  if (added.length > 0) await addObjects(tx, kind, added)
  const numbers = found.flatMap(({ workspaceId, number }) => (number === null ? [] : [{ workspaceId, number }]))
  if (numbers.length > 0) await addNumbers(tx, numbers)
}

async function withoutStored(tx: Db, kind: Kind, ids: readonly Identified[]): Promise<Identified[]> {
  const sorted = ids.map(({ id }) => id).sort()
  const [first, last] = [sorted[0], sorted.at(-1)]
  if (first === undefined || last === undefined) return []
  const stored = await storedKeys(tx, kind, workspacesOf(ids), keyOf(first), keyOf(last))
  return ids.filter(({ workspaceId, id }) => !stored.has(`${workspaceId} ${keyOf(id)}`))
}

type WithWords = Identified & { words: string[] }

/** Objects without words are left out. Of several messages of a person, one has the words of their name. */
function withWords(kind: Kind, found: readonly Found[]): WithWords[] {
  const named = new Map<string, string>()
  for (const { workspaceId, id, number, userId, name } of found) {
    if (kind === 'inbound' && name !== null) named.set(`${workspaceId} ${number ?? userId} ${name}`, id)
  }
  const withName = new Set(named.values())
  return found.flatMap((object) => {
    const { workspaceId, id, name } = object
    const words = wordsOf(textOf(kind, object))
    if (withName.has(id)) words.push(...wordsOf(name ?? '').map((word) => `${nameMark}${word}`))
    return words.length === 0 ? [] : [{ workspaceId, id, words }]
  })
}

/** Chooses the block of each object. A full block is followed by a new one. */
async function placed(
  tx: Db,
  kind: Kind,
  objects: readonly WithWords[],
  end: 'newest' | 'oldest',
): Promise<AddedObject[]> {
  const open = new Map(
    (await endBlocks(tx, kind, workspacesOf(objects), end)).map((block) => [block.workspaceId, block]),
  )
  return objects.flatMap(({ workspaceId, id, words }) => {
    const place = open.get(workspaceId)
    if (!place) return []
    if (place.block === null || (place.objects ?? 0) >= blockSize) {
      place.block = ++place.lastBlock
      place.objects = 0
    }
    place.objects = (place.objects ?? 0) + 1
    return [{ workspaceId, block: place.block, key: keyOf(id), words }]
  })
}

const workspacesOf = (objects: readonly Identified[]): string[] => [
  ...new Set(objects.map(({ workspaceId }) => workspaceId)),
]
