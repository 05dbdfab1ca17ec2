import { parseExactly } from '@parley/contract/exact-json'
import type { SealedFile } from '../graph/sealed-file.ts'
import { sha256Hex } from '../graph/sha256.ts'
import { cleanJson, cleanText, type JsonObject, readId, readNonBlank, readObject, readText } from '../read-json.ts'

/** A submitted form. WhatsApp does not send the form's ID; it is found by the token or the quoted message. */
export interface FormSubmission {
  /** `flow`, or `address_message` for WhatsApp's own address form. */
  name: string | null
  flowToken: string | null
  /** The values by field, without the token and the encryption keys of files. Empty if they could not be parsed. */
  response: Record<string, unknown>
  /** The original text, kept only if it could not be parsed as an object. */
  raw: string | null
  files: FormFile[]
}

export interface FormFile extends FileSource {
  field: string
  index: number
  file_name: string
  mime_type: string
}

/** Where WhatsApp stores a file: under an ID, or, for a form that exchanges data, encrypted on its file host. */
export interface FileSource {
  media_id: string
  sha256: string | null
  sealed: SealedFile | null
}

const maxRawLength = 262_144
const maxFiles = 100

export function readForm(reply: JsonObject | null): FormSubmission | null {
  if (reply === null) return null
  const name = readNonBlank(reply.name, 256)
  const raw = reply.response_json
  const values = readObject(cleanJson(parse(raw)))
  if (values === null) {
    return { name, flowToken: null, response: {}, raw: readText(raw, maxRawLength), files: [] }
  }
  const { flow_token: flowToken, ...rest } = values
  const { response, files } = extractFiles(rest)
  return { name, flowToken: readId(flowToken, 4096), response, raw: null, files }
}

/**
 * The values are JSON in a string, whose numbers are kept as they were sent; some older payloads have the object itself.
 */
function parse(raw: unknown): unknown {
  if (typeof raw !== 'string') return raw
  try {
    return parseExactly(raw)
  } catch {
    return null
  }
}

/**
 * The value of a file picker is a list of files, recognized by their fields. It may be nested in other lists.
 * Encryption keys are removed from all values. `cleanJson` has limited the depth.
 */
function extractFiles(values: JsonObject): { response: Record<string, unknown>; files: FormFile[] } {
  const files: FormFile[] = []
  const search = (value: unknown, field: string): unknown => {
    if (Array.isArray(value)) {
      return value.map((item) => {
        const file = files.length < maxFiles ? readFile(item, field, files.length) : null
        if (file !== null) files.push(file)
        return search(item, field)
      })
    }
    const inner = readObject(withoutKeys(value))
    if (inner === null) return value
    return Object.fromEntries(
      Object.entries(inner).map(([key, part]) => [key, search(part, field ? `${field}.${key}` : key)]),
    )
  }
  return { response: search(values, '') as Record<string, unknown>, files }
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
  const fileName = readNonBlank(file.file_name, 1024)
  const mediaId = readId(file.id) ?? (sealed === null ? null : (readId(file.media_id) ?? sealed.url))
  const mimeType = readNonBlank(file.mime_type, 256) ?? (sealed === null ? null : typeOfName(fileName))
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

/** Base64 of exactly `length` bytes. */
function bytesOf(value: unknown, length: number): string | null {
  const text = readId(value, 128)
  return text !== null && Buffer.from(text, 'base64').length === length ? text : null
}

/** An encrypted file has no media type, so it is derived from the file name. */
function typeOfName(fileName: string | null): string {
  const extension = /\.([a-z0-9]{1,5})$/i.exec(fileName ?? '')?.[1]?.toLowerCase()
  return typesByExtension.get(extension ?? '') ?? 'application/octet-stream'
}

const typesByExtension = new Map([
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['png', 'image/png'],
  ['webp', 'image/webp'],
  ['heic', 'image/heic'],
  ['mp4', 'video/mp4'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
])

/** The part of a form file that is stored while the file is downloaded. */
export const toSource = ({ media_id, sha256, sealed }: FormFile): FileSource => ({ media_id, sha256, sealed })
