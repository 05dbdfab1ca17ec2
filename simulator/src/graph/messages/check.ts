import { isObject, type Json, lengthOf, scalarIn, textIn } from '../../json.ts'
import { refuse, refuseParameter } from '../../network/errors.ts'
import type { PhoneNumber, World } from '../../world.ts'
import { kindOfMime, type MediaKind } from '../media-kinds.ts'

/** Input and results of the content checks. */
export interface Check {
  world: World
  now: Date
  number: PhoneNumber
  /** The code with which the message fails after the request was accepted. */
  failsWith: number | null
  /** Links that the network fetches before delivery. */
  links: string[]
}

/** A path in Graph's notation: text['body']. */
function pathOf(root: string, ...keys: (string | number)[]): string {
  return root + keys.map((key) => (typeof key === 'number' ? `[${key}]` : `['${key}']`)).join('')
}

export function needText(object: unknown, key: string, path: string, max: number): string {
  const text = isObject(object) ? object[key] : undefined
  const full = pathOf(path, key)
  if (text === undefined || text === null || text === '') refuseParameter(`The parameter ${full} is required.`)
  if (typeof text !== 'string') return refuseParameter(`Param ${full} must be a string.`)
  if (lengthOf(text) > max) refuseParameter(`Param ${full} must be at most ${max} characters long.`)
  return text
}

export function optionalText(object: unknown, key: string, path: string, max: number): string | undefined {
  const text = isObject(object) ? object[key] : undefined
  return text === undefined || text === null || text === '' ? undefined : needText(object, key, path, max)
}

/** A media object of a message or header: either a media ID of this account or a link. */
export function checkMedia(check: Check, kind: MediaKind, object: unknown, path: string): void {
  if (!isObject(object)) refuse(131008, `Parameter '${kind}' is mandatory for type '${kind}'`)
  const id = scalarIn(object, 'id')
  const link = textIn(object, 'link')
  if (id && link) refuse(131009, `${path}: only one of 'id' and 'link' may be given`)
  if (!id && !link) refuse(131008, `${path}: one of 'id' or 'link' is required`)
  if (id) checkMediaId(check, kind, id, path)
  if (link) checkLink(check, link, path)
}

function checkMediaId(check: Check, kind: MediaKind, id: string, path: string): void {
  const media = check.world.media.get(id)
  if (!media || media.wabaId !== check.number.wabaId || new Date(media.expiresAt) <= check.now)
    refuseParameter(`Param ${pathOf(path, 'id')} is not a valid whatsapp business account media attachment ID`)
  const actual = kindOfMime(media.mimeType)
  // A document may be any type of file; other kinds must match the MIME type.
  if (kind !== 'document' && actual !== kind) check.failsWith ??= 131053
}

function checkLink(check: Check, link: string, path: string): void {
  const url = URL.canParse(link) ? new URL(link) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) refuseParameter(`Param ${pathOf(path, 'link')} is not a valid URI.`)
  if (url.hostname.endsWith('.invalid')) check.failsWith ??= 131053
  check.links.push(link)
}

export function checkCoordinates(location: Json, path: string): void {
  for (const [key, limit] of [
    ['latitude', 90],
    ['longitude', 180],
  ] as const) {
    const text = scalarIn(location, key)
    if (text === undefined || text === '') refuse(131008, `Parameter '${pathOf(path, key)}' is mandatory`)
    if (!(Math.abs(Number(text)) <= limit)) refuse(131009, `${pathOf(path, key)} is not a valid ${key}`)
  }
}
