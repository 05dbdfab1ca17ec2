import { readFile } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { StartupError } from '@parley/server/lib/refuse'
import { UsageError } from './command.ts'

/** What a person wants their phone to do. */
export interface PhoneActionArgs {
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
export type PhoneAct = (input: PhoneActionArgs) => Promise<{ action: string; body: Record<string, unknown> }>

export const mediaKinds = ['image', 'video', 'audio', 'voice', 'document', 'sticker'] as const

/** What `phone send` can send, by the option that says so. */
export const phoneActs: Readonly<Record<string, PhoneAct>> = {
  text: async (input) => ({ action: 'say', body: { ...place(input), text: input.value } }),
  ...Object.fromEntries(mediaKinds.map((kind) => [kind, sendFile(kind)])),
  location: async (input) => ({ action: 'location', body: { ...place(input), ...readPlace(input.value) } }),
  contacts: async (input) => ({
    action: 'contacts',
    body: { ...place(input), contacts: readJson('contacts', input.value, Array.isArray) },
  }),
  button: tap,
  'list-row': tap,
  async reaction(input) {
    const message = await target(input, (one) => one.direction === 'out')
    if (input.value === '') return { action: 'unreact', body: message }
    return { action: 'react', body: { ...message, emoji: input.value } }
  },
  async order(input) {
    const note = input.note === undefined ? {} : { text: input.note }
    return { action: 'order', body: { ...place(input), items: readItems(input.value), ...note } }
  },
  async 'flow-json'(input) {
    const values = readJson('flow-json', input.value, isPlainObject)
    const message = input.replyTo === undefined ? {} : { message: input.replyTo }
    const encrypted = input.encrypted ? { encrypted: true } : {}
    return { action: 'fillForm', body: { ...message, values, files: await readFiles(input.files), ...encrypted } }
  },
}

const place = ({ to, replyTo }: PhoneActionArgs) => ({ to, ...(replyTo === undefined ? {} : { replyTo }) })

function sendFile(kind: string): PhoneAct {
  return async (input) => {
    const file = input.value === 'sample' ? {} : await readOne(kind, input.value)
    const caption = input.caption === undefined ? {} : { caption: input.caption }
    return { action: kind, body: { ...place(input), ...file, ...caption } }
  }
}

async function tap(input: PhoneActionArgs) {
  const message = await target(input, (one) => one.options.length > 0)
  return { action: 'tap', body: { ...message, button: input.value } }
}

/** The message that is meant: the one named, or the latest of this chat that fits; without any, the simulator says what it takes. */
async function target(input: PhoneActionArgs, fits: (message: ChatMessage) => boolean): Promise<{ message?: string }> {
  if (input.replyTo !== undefined) return { message: input.replyTo }
  const latest = (await input.conversation()).findLast(fits)
  return latest ? { message: latest.id } : {}
}

function readPlace(text: string) {
  const [latitude = '', longitude = '', name, ...address] = text.split(',')
  const isNumber = (part: string) => /^\s*-?\d+(\.\d+)?\s*$/.test(part)
  if (!isNumber(latitude) || !isNumber(longitude)) {
    throw new UsageError(
      `--location is "${text}", but it takes LAT,LON[,NAME,ADDRESS], such as 52.52,13.40,Tower,Alex 1.`,
    )
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
    if (!retailerId) throw new UsageError(`--order is "${text}", but it takes products such as SKU-1:2,SKU-3@9.99EUR.`)
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
  throw new UsageError(
    `--${name} takes JSON ${name === 'contacts' ? 'such as [{"name":{…}}]' : 'such as {"age":"41"}'}.`,
  )
}

async function readFiles(wanted: readonly string[]) {
  const files: Record<string, unknown[]> = {}
  for (const text of wanted) {
    const [, field, path] = /^([^=]+)=(.+)$/s.exec(text) ?? []
    if (!field || !path) throw new UsageError(`--flow-file is "${text}", but it takes FIELD=FILE.`)
    files[field] = [...(files[field] ?? []), await readOne('flow-file', path)]
  }
  return files
}

async function readOne(option: string, path: string) {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new StartupError(`--${option} is "${path}", but that file cannot be read (${error.code ?? error.message}).`)
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
