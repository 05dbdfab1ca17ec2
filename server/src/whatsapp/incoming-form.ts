import { cleanJson, cleanText, type JsonObject, readId, readObject, readText, readWords } from './read-json.ts'

/** A submitted form. The network does not say which form it was; the token or the quoted message tells. */
export interface FormSubmission {
  /** `flow`, or `address_message` for the network's own address form. */
  name: string | null
  flowToken: string | null
  /** The answers by field, without the token. Empty when they could not be read. */
  response: Record<string, unknown>
  /** The answers as they came, kept only when they could not be read as an object. */
  raw: string | null
  files: FormFile[]
}

export interface FormFile {
  field: string
  index: number
  file_name: string
  mime_type: string
  media_id: string
  sha256: string | null
}

const maxRawLength = 262_144
const maxFiles = 100

export function readForm(reply: JsonObject | null): FormSubmission | null {
  if (reply === null) return null
  const name = readWords(reply.name, 256)
  const raw = reply.response_json
  const answers = readObject(cleanJson(parse(raw)))
  if (answers === null) {
    return { name, flowToken: null, response: {}, raw: readText(raw, maxRawLength), files: [] }
  }
  const { flow_token: flowToken, ...response } = answers
  return { name, flowToken: readId(flowToken, 4096), response, raw: null, files: filesIn(response) }
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

/** A picker's answer is a list of files, known by their shape: an id and a media type. */
function filesIn(response: JsonObject): FormFile[] {
  const files: FormFile[] = []
  const search = (value: unknown, field: string) => {
    if (Array.isArray(value)) {
      for (const item of value) {
        const file = readFile(item, field, files.length)
        if (file !== null && files.length < maxFiles) files.push(file)
      }
      return
    }
    for (const [key, inner] of Object.entries(readObject(value) ?? {})) search(inner, field ? `${field}.${key}` : key)
  }
  search(response, '')
  return files
}

function readFile(value: unknown, field: string, index: number): FormFile | null {
  const file = readObject(value)
  const mediaId = readId(file?.id)
  const mimeType = readWords(file?.mime_type, 256)
  if (file === null || mediaId === null || mimeType === null) return null
  return {
    field: cleanText(field, 1024),
    index,
    file_name: readWords(file.file_name, 1024) ?? `file-${index}`,
    mime_type: mimeType,
    media_id: mediaId,
    sha256: readId(file.sha256, 128),
  }
}
