/** Finds and replaces the IDs of uploaded files (`med_…`) in messages. */
import type { MediaKind } from '../media-kinds.ts'
import { type JsonObject, readObject } from '../read-json.ts'

/** Where a request names an uploaded file, and as what it is sent. */
export interface MediaReference {
  /** The path of the ID, such as `image.id`. */
  param: string
  kind: MediaKind
  id: string
}

/** More than any message can have: a carousel has ten cards. */
const maxReferences = 20
/** A message is nested less deeply. */
const maxDepth = 12

const kinds: ReadonlyMap<string, MediaKind> = new Map([
  ['image', 'image'],
  ['video', 'video'],
  ['audio', 'audio'],
  ['document', 'document'],
  ['sticker', 'sticker'],
  // The header of a template; WhatsApp takes a video for it.
  ['gif', 'video'],
])

/** The members of a request that may name files. */
const members = new Set(['image', 'video', 'audio', 'document', 'sticker', 'interactive', 'template'])

/** The files that a send request names. The request may be invalid. */
export function mediaReferences(request: unknown): MediaReference[] {
  const send = readObject(request)
  const type = send?.type
  if (send === null || typeof type !== 'string' || !members.has(type)) return []
  const found: MediaReference[] = []
  visit({ [type]: send[type] }, '', (file, kind, param) => {
    if (found.length < maxReferences) found.push({ param: `${param}.id`, kind, id: file.id })
  })
  return found
}

/** The message with the network's IDs in place of ours. */
export function withNetworkIds(message: JsonObject, networkIds: ReadonlyMap<string, string>): JsonObject {
  if (networkIds.size === 0) return message
  const copy = structuredClone(message)
  visit(copy, '', (file) => {
    file.id = networkIds.get(file.id) ?? file.id
  })
  return copy
}

type OnFile = (file: { id: string }, kind: MediaKind, path: string) => void

/** Calls `onFile` for each member such as `image` that has the ID of an upload. */
function visit(value: unknown, path: string, onFile: OnFile, depth = 0): void {
  if (typeof value !== 'object' || value === null || depth > maxDepth) return
  for (const [name, inner] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`
    // The variables of a template have names such as `header.image`.
    const kind = kinds.get(name.slice(name.lastIndexOf('.') + 1))
    if (kind !== undefined && isUpload(inner)) onFile(inner, kind, at)
    else visit(inner, at, onFile, depth + 1)
  }
}

const isUpload = (value: unknown): value is { id: string } => {
  const id = readObject(value)?.id
  return typeof id === 'string' && id.startsWith('med_')
}
