import { readFile } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { StartupError } from '@parley/server/lib/refuse'
import { UsageError } from './command.ts'
import { isPlainObject, parseJson } from './json.ts'

/** The options of `phone send`. */
interface PhoneActionArgs {
  value: string
  to: string
  replyTo: string | undefined
  caption: string | undefined
  /** Text that is sent with an order. */
  note: string | undefined
  files: readonly string[]
  /** Whether the files of a form are encrypted, as WhatsApp does for forms with an endpoint. */
  encrypted: boolean
  /** The chat with the sender, oldest message first. */
  conversation(): Promise<ChatMessage[]>
}

interface ChatMessage {
  id: string
  direction: 'in' | 'out'
  type: string
  options: unknown[]
}

/** Builds the request for an action of the simulator's control API. */
export type PhoneAction = (input: PhoneActionArgs) => Promise<{ action: string; body: Record<string, unknown> }>

export const mediaKinds = ['image', 'video', 'audio', 'voice', 'document', 'sticker'] as const

/** What `phone send` does, by the name of the option. */
export const phoneActions: Readonly<Record<string, PhoneAction>> = {
  text: async (input) => ({ action: 'say', body: { ...addressOf(input), text: input.value } }),
  ...Object.fromEntries(mediaKinds.map((kind) => [kind, sendFile(kind)])),
  location: async (input) => ({ action: 'location', body: { ...addressOf(input), ...readLocation(input.value) } }),
  contacts: async (input) => ({
    action: 'contacts',
    body: { ...addressOf(input), contacts: readJson('contacts', input.value, Array.isArray) },
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
    return { action: 'order', body: { ...addressOf(input), items: readItems(input.value), ...note } }
  },
  edit: async (input) => ({ action: 'edit', body: { ...targetOf(input), text: input.value } }),
  delete: async (input) => ({ action: 'delete', body: targetOf(input) }),
  'call-permission': async (input) => ({
    action: 'callPermission',
    body: { ...targetOf(input), response: input.value },
  }),
  welcome: async ({ to }) => ({ action: 'welcome', body: { to } }),
  async 'flow-json'(input) {
    const values = readJson('flow-json', input.value, isPlainObject)
    const message = input.replyTo === undefined ? {} : { message: input.replyTo }
    const encrypted = input.encrypted ? { encrypted: true } : {}
    return { action: 'fillForm', body: { ...message, values, files: await readFiles(input.files), ...encrypted } }
  },
}

const addressOf = ({ to, replyTo }: PhoneActionArgs) => ({ to, ...(replyTo === undefined ? {} : { replyTo }) })

/** The message of --reply-to. Without it, the simulator takes the latest matching one in the chat. */
const targetOf = ({ to, replyTo }: PhoneActionArgs) => ({ to, ...(replyTo === undefined ? {} : { message: replyTo }) })

function sendFile(kind: string): PhoneAction {
  return async (input) => {
    const file = await readMedia(kind, input.value)
    const caption = input.caption === undefined ? {} : { caption: input.caption }
    return { action: kind, body: { ...addressOf(input), ...file, ...caption } }
  }
}

async function tap(input: PhoneActionArgs) {
  const message = await target(input, (one) => one.options.length > 0)
  return { action: 'tap', body: { ...message, button: input.value } }
}

/** The message of --reply-to, or the latest matching one in the chat. If there is none, the simulator responds with an error. */
async function target(input: PhoneActionArgs, fits: (message: ChatMessage) => boolean): Promise<{ message?: string }> {
  if (input.replyTo !== undefined) return { message: input.replyTo }
  const latest = (await input.conversation()).findLast(fits)
  return latest ? { message: latest.id } : {}
}

function readLocation(text: string) {
  const [latitude = '', longitude = '', name, ...address] = text.split(',')
  const isNumber = (part: string) => /^\s*-?\d+(\.\d+)?\s*$/.test(part)
  if (!isNumber(latitude) || !isNumber(longitude)) {
    throw new UsageError(
      `Invalid --location "${text}". Enter LAT,LON[,NAME,ADDRESS], such as 52.52,13.40,Tower,Alex 1.`,
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
    if (!retailerId) throw new UsageError(`Invalid --order "${text}". Enter products such as SKU-1:2,SKU-3@9.99EUR.`)
    return {
      retailerId,
      quantity: Number(quantity ?? 1),
      ...(price ? { price: Number(price) } : {}),
      ...(currency ? { currency } : {}),
    }
  })
}

function readJson(name: string, text: string, fits: (value: unknown) => boolean): unknown {
  const value = parseJson(text)
  if (fits(value)) return value
  throw new UsageError(
    `Invalid --${name}. Enter JSON such as ${name === 'contacts' ? '[{"name":{…}}]' : '{"age":"41"}'}.`,
  )
}

async function readFiles(fields: readonly string[]) {
  const files: Record<string, unknown[]> = {}
  for (const text of fields) {
    const [, field, path] = /^([^=]+)=(.+)$/s.exec(text) ?? []
    if (!field || !path) throw new UsageError(`Invalid --flow-file "${text}". Enter FIELD=FILE.`)
    files[field] = [...(files[field] ?? []), await readOne('flow-file', path)]
  }
  return files
}

/** The file of an option, for the simulator. Without a file, the simulator sends its sample. */
export async function readMedia(kind: string, path: string): Promise<Record<string, unknown>> {
  return path === 'sample' ? {} : readOne(kind, path)
}

async function readOne(option: string, path: string) {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new StartupError(`Cannot read the file "${path}" of --${option} (${error.code ?? error.message}).`)
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
