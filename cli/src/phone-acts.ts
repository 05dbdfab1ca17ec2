import { readFile } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { Unfit } from '@parley/server/lib/refuse'
import { Misuse } from './command.ts'

/** What a person wants their phone to do. */
export interface Wish {
  value: string
  to: string
  replyTo: string | undefined
  caption: string | undefined
  /** Words that go with an order. */
  note: string | undefined
  files: readonly string[]
  /** The files of the form lie enciphered, as those of a form with an endpoint do. */
  encrypted: boolean
  /** Their chat with the sender, the oldest message first. */
  conversation(): Promise<ChatMessage[]>
}

interface ChatMessage {
  id: string
  direction: 'in' | 'out'
  type: string
  options: unknown[]
}

/** An action of the simulator's phones, with what it takes. */
export type Act = (wish: Wish) => Promise<{ action: string; body: Record<string, unknown> }>

export const mediaKinds = ['image', 'video', 'audio', 'voice', 'document', 'sticker'] as const

/** What `phone send` can send, by the option that says so. */
export const phoneActs: Readonly<Record<string, Act>> = {
  text: async (wish) => ({ action: 'say', body: { ...place(wish), text: wish.value } }),
  ...Object.fromEntries(mediaKinds.map((kind) => [kind, sendFile(kind)])),
  location: async (wish) => ({ action: 'location', body: { ...place(wish), ...readPlace(wish.value) } }),
  contacts: async (wish) => ({
    action: 'contacts',
    body: { ...place(wish), contacts: readJson('contacts', wish.value, Array.isArray) },
  }),
  button: tap,
  'list-row': tap,
  async reaction(wish) {
    const message = await target(wish, (one) => one.direction === 'out')
    if (wish.value === '') return { action: 'unreact', body: message }
    return { action: 'react', body: { ...message, emoji: wish.value } }
  },
  async order(wish) {
    const note = wish.note === undefined ? {} : { text: wish.note }
    return { action: 'order', body: { ...place(wish), items: readItems(wish.value), ...note } }
  },
  async 'flow-json'(wish) {
    const values = readJson('flow-json', wish.value, isPlainObject)
    const message = wish.replyTo === undefined ? {} : { message: wish.replyTo }
    const encrypted = wish.encrypted ? { encrypted: true } : {}
    return { action: 'fillForm', body: { ...message, values, files: await readFiles(wish.files), ...encrypted } }
  },
}

const place = ({ to, replyTo }: Wish) => ({ to, ...(replyTo === undefined ? {} : { replyTo }) })

function sendFile(kind: string): Act {
  return async (wish) => {
    const file = wish.value === 'sample' ? {} : await readOne(kind, wish.value)
    const caption = wish.caption === undefined ? {} : { caption: wish.caption }
    return { action: kind, body: { ...place(wish), ...file, ...caption } }
  }
}

async function tap(wish: Wish) {
  const message = await target(wish, (one) => one.options.length > 0)
  return { action: 'tap', body: { ...message, button: wish.value } }
}

/** The message that is meant: the one named, or the latest of this chat that fits; without any, the simulator says what it takes. */
async function target(wish: Wish, fits: (message: ChatMessage) => boolean): Promise<{ message?: string }> {
  if (wish.replyTo !== undefined) return { message: wish.replyTo }
  const latest = (await wish.conversation()).findLast(fits)
  return latest ? { message: latest.id } : {}
}

function readPlace(text: string) {
  const [latitude = '', longitude = '', name, ...address] = text.split(',')
  const isNumber = (part: string) => /^\s*-?\d+(\.\d+)?\s*$/.test(part)
  if (!isNumber(latitude) || !isNumber(longitude)) {
    throw new Misuse(`--location is "${text}", but it takes LAT,LON[,NAME,ADDRESS], such as 52.52,13.40,Tower,Alex 1.`)
  }
  return {
    latitude: Number(latitude),
    longitude: Number(longitude),
    ...(name ? { name: name.trim() } : {}),
    ...(address.length > 0 ? { address: address.join(',').trim() } : {}),
  }
}

function readItems(text: string) {
  return text.split(',').map((part) => {
    const [, retailerId, quantity, price, currency] =
      /^([^:@]+)(?::(\d+))?(?:@(\d+(?:\.\d+)?)([A-Z]{3})?)?$/.exec(part.trim()) ?? []
    if (!retailerId) throw new Misuse(`--order is "${text}", but it takes products such as SKU-1:2,SKU-3@9.99EUR.`)
    return {
      retailerId,
      quantity: Number(quantity ?? 1),
      ...(price ? { price: Number(price) } : {}),
      ...(currency ? { currency } : {}),
    }
  })
}

const isPlainObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

function readJson(name: string, text: string, fits: (value: unknown) => boolean): unknown {
  try {
    const value: unknown = JSON.parse(text)
    if (fits(value)) return value
  } catch {
    // Told below, like JSON of another kind.
  }
  throw new Misuse(`--${name} takes JSON ${name === 'contacts' ? 'such as [{"name":{…}}]' : 'such as {"age":"41"}'}.`)
}

async function readFiles(wanted: readonly string[]) {
  const files: Record<string, unknown[]> = {}
  for (const text of wanted) {
    const [, field, path] = /^([^=]+)=(.+)$/s.exec(text) ?? []
    if (!field || !path) throw new Misuse(`--flow-file is "${text}", but it takes FIELD=FILE.`)
    files[field] = [...(files[field] ?? []), await readOne('flow-file', path)]
  }
  return files
}

async function readOne(option: string, path: string) {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new Unfit(`--${option} is "${path}", but that file cannot be read (${error.code ?? error.message}).`)
  })
  const mimeType = mimeTypes[extname(path).toLowerCase()]
  return { filename: basename(path), base64: bytes.toString('base64'), ...(mimeType ? { mimeType } : {}) }
}

const mimeTypes: Readonly<Record<string, string>> = {
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.mp4': 'video/mp4',
  '.3gp': 'video/3gpp',
  '.aac': 'audio/aac',
  '.amr': 'audio/amr',
  '.mp3': 'audio/mpeg',
  '.m4a': 'audio/mp4',
  '.ogg': 'audio/ogg; codecs=opus',
  '.pdf': 'application/pdf',
  '.txt': 'text/plain',
  '.csv': 'text/csv',
  '.doc': 'application/msword',
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
}
