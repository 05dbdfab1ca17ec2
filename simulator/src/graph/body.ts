import type { FastifyRequest } from 'fastify'
import { isObject, type Json } from '../json.ts'
import { refuse } from '../network/errors.ts'

/** Graph accepts JSON, URL-encoded and multipart bodies. Form fields may contain JSON. */
export async function readBody(request: FastifyRequest): Promise<{ body: Json; form: FormData | null }> {
  const raw = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  if (raw.length === 0) return { body: {}, form: null }
  const type = request.headers['content-type'] ?? ''
  if (type.startsWith('multipart/form-data')) {
    const form = await parseMultipart(raw, type)
    return { body: fieldsOf(form.entries()), form }
  }
  if (type.startsWith('application/x-www-form-urlencoded'))
    return { body: fieldsOf(new URLSearchParams(raw.toString('utf8')).entries()), form: null }
  return { body: parseJson(raw), form: null }
}

function parseJson(raw: Buffer): Json {
  let value: unknown
  try {
    value = JSON.parse(raw.toString('utf8'))
  } catch {
    refuse(100, 'The request body is not valid JSON.')
  }
  return isObject(value) ? value : refuse(100, 'The request body is not a JSON object.')
}

async function parseMultipart(raw: Buffer, type: string): Promise<FormData> {
  try {
    return await new Response(new Uint8Array(raw), { headers: { 'content-type': type } }).formData()
  } catch {
    return refuse(100, 'The multipart body could not be read.')
  }
}

function fieldsOf(entries: Iterable<[string, unknown]>): Json {
  const body: Json = {}
  for (const [name, value] of entries) if (typeof value === 'string') body[name] = parseIfJson(value)
  return body
}

function parseIfJson(value: string): unknown {
  if (!/^[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
