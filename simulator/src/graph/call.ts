import type { FastifyReply } from 'fastify'
import type { Json } from '../json.ts'
import type { Network } from '../network.ts'
import type { AccessToken, App, Catalog, Flow, Media, PhoneNumber, Template, Waba, World } from '../world.ts'

/** An authenticated Graph API request. */
export interface Call {
  network: Network
  method: string
  version: string
  token: AccessToken
  query: Record<string, string>
  body: Json
  form: FormData | null
  /** For handlers that write the response themselves and return `handled`. */
  reply: FastifyReply
}

/** Returned by a handler that has written the response itself. */
export const handled = Symbol('handled')

interface NodeKinds {
  app: App
  waba: Waba
  number: PhoneNumber
  template: Template
  flow: Flow
  media: Media
  catalog: Catalog
}

export type NodeKind = keyof NodeKinds

/** An API operation on a kind of object. `edge` is null for the object itself. */
export interface Edge {
  method: 'GET' | 'POST' | 'DELETE'
  node: NodeKind
  edge: string | null
  handle: (call: Call, id: string) => unknown
}

export function edge<K extends NodeKind>(
  method: Edge['method'],
  node: K,
  name: string | null,
  handle: (call: Call, node: NodeKinds[K]) => unknown,
): Edge {
  return { method, node, edge: name, handle: (call, id) => handle(call, nodeIn(call.network.world, node, id)) }
}

/** The kind of the object with this ID, if the token can access it. */
export function findNode(world: World, token: AccessToken, id: string): NodeKind | undefined {
  if (world.apps.has(id)) return token.appId === id ? 'app' : undefined
  const kinds: [NodeKind, Map<string, { wabaId: string } | Waba>][] = [
    ['waba', world.wabas],
    ['number', world.numbers],
    ['template', world.templates],
    ['flow', world.flows],
    ['media', world.media],
    ['catalog', world.catalogs],
  ]
  for (const [kind, objects] of kinds) {
    const object = objects.get(id)
    if (!object) continue
    return canAccess(token, 'wabaId' in object ? object.wabaId : object.id) ? kind : undefined
  }
  return undefined
}

export function canAccess(token: AccessToken, wabaId: string): boolean {
  return token.wabaIds === null || token.wabaIds.includes(wabaId)
}

function nodeIn<K extends NodeKind>(world: World, kind: K, id: string): NodeKinds[K] {
  const maps: { [N in NodeKind]: Map<string, NodeKinds[N]> } = {
    app: world.apps,
    waba: world.wabas,
    number: world.numbers,
    template: world.templates,
    flow: world.flows,
    media: world.media,
    catalog: world.catalogs,
  }
  const node = maps[kind].get(id)
  if (!node) throw new Error(`${kind} ${id} not found`)
  return node
}
