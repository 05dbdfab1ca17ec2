import { cleanJson, cleanText, type JsonObject, readId, readObject, readText, readWords } from './read-json.ts'
import type { SealedFile } from './sealed-file.ts'
import { sha256Hex } from './sha256.ts'

/** A submitted form. The network does not say which form it was; the token or the quoted message tells. */
export interface FormSubmission {
  /** `flow`, or `address_message` for the network's own address form. */
  name: string | null
  flowToken: string | null
  /** The answers by field, without the token and without the keys of files. Empty when they could not be read. */
  response: Record<string, unknown>
  /** The answers as they came, kept only when they could not be read as an object. */
  raw: string | null
  files: FormFile[]
}

export interface FormFile extends FileSource {
  field: string
  index: number
  file_name: string
  mime_type: string
}

/** Where the network has a file: under an id, or, of a form that exchanges data, enciphered on its file host. */
export interface FileSource {
  media_id: string
  sha256: string | null
  sealed: SealedFile | null
}

const maxRawLength = 262_144
const maxFiles = 100

export function readForm(reply: JsonObject | null): FormSubmission | null {
  if (reply === null) return null
  const name = readWords(reply.name, 256)
  const raw = reply.response_json
  const responses = readObject(cleanJson(parse(raw)))
  if (responses === null) {
    return { name, flowToken: null, response: {}, raw: readText(raw, maxRawLength), files: [] }
  }
  const { flow_token: flowToken, ...rest } = responses
  const { response, files } = takeFiles(rest)
  return { name, flowToken: readId(flowToken, 4096), response, raw: null, files }
}

/** The answers are JSON inside a string; older payloads have been seen with the object itself. */
function parse(raw: unknown): unknown {
  if (typeof raw !== 'string') return raw
  try {
    return JSON.parse(raw)
  } catch {
    return null
  }
}

/** A picker's answer is a list of files, known by their shape. The keys of enciphered ones stay out of the answers. */
function takeFiles(responses: JsonObject): { response: Record<string, unknown>; files: FormFile[] } {
  const files: FormFile[] = []
  const search = (value: unknown, field: string): unknown => {
    if (Array.isArray(value)) {
      return value.map((item) => {
        const file = files.length < maxFiles ? readFile(item, field, files.length) : null
        if (file !== null) files.push(file)
        return withoutKeys(item)
      })
    }
    const inner = readObject(withoutKeys(value))
    if (inner === null) return value
    return Object.fromEntries(
      Object.entries(inner).map(([key, part]) => [key, search(part, field ? `${field}.${key}` : key)]),
    )
  }
  return { response: search(responses, '') as Record<string, unknown>, files }
}

function withoutKeys(item: unknown): unknown {
  const file = readObject(item)
  if (readObject(file?.encryption_metadata) === null) return item
  const { encryption_metadata: _, cdn_url: __, ...rest } = file as JsonObject
  return rest
}

function readFile(value: unknown, field: string, index: number): FormFile | null {
  const file = readObject(value)
  if (file === null) return null
  const keys = readObject(file.encryption_metadata)
  const sealed = keys === null ? null : readSealed(file, keys)
  const fileName = readWords(file.file_name, 1024)
  const mediaId = readId(file.id) ?? (sealed === null ? null : (readId(file.media_id) ?? sealed.url))
  const mimeType = readWords(file.mime_type, 256) ?? (sealed === null ? null : typeOfName(fileName))
  if (mediaId === null || mimeType === null) return null
  return {
    field: cleanText(field, 1024),
    index,
    file_name: fileName ?? `file-${index}`,
    mime_type: mimeType,
    media_id: mediaId,
    sha256: sealed === null ? readId(file.sha256, 128) : readId(keys?.plaintext_hash, 128),
    sealed,
  }
}

function readSealed(file: JsonObject, keys: JsonObject): SealedFile | null {
  const url = readId(file.cdn_url, 4096)
  const [iv, key, hmacKey] = [bytesOf(keys.iv, 16), bytesOf(keys.encryption_key, 32), bytesOf(keys.hmac_key, 32)]
  if (url === null || iv === null || key === null || hmacKey === null) return null
  return { url, iv, key, hmacKey, sha256: sha256Hex(readId(keys.encrypted_hash, 128)) }
}

/** Base64 of exactly so many bytes. */
function bytesOf(value: unknown, length: number): string | null {
  const text = readId(value, 128)
  return text !== null && Buffer.from(text, 'base64').length === length ? text : null
}

/** An enciphered file comes without its type. */
function typeOfName(fileName: string | null): string {
  const ending = /\.([a-z0-9]{1,5})$/i.exec(fileName ?? '')?.[1]?.toLowerCase()
  return typesByEnding.get(ending ?? '') ?? 'application/octet-stream'
}

const typesByEnding = new Map([
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['png', 'image/png'],
  ['webp', 'image/webp'],
  ['heic', 'image/heic'],
  ['mp4', 'video/mp4'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
])

/** What is kept of a source while its file is fetched; it was written by us and is read back as it was. */
export const toSource = ({ media_id, sha256, sealed }: FormFile): FileSource => ({ media_id, sha256, sealed })
