import { expect, test } from 'vitest'
import { uploadBody } from './upload-body.ts'

test('the body of an upload has the announced length, and a file name cannot add headers', async () => {
  const bytes = Buffer.from('the bytes')
  const body = uploadBody({
    name: 'a"\r\nX-Injected: 1\r\n\r\nüé.pdf',
    mimeType: 'application/pdf',
    size: bytes.length,
    async *open() {
      yield bytes
    },
  })
  const pieces: Buffer[] = []
  for await (const piece of body.open()) pieces.push(piece)
  const text = Buffer.concat(pieces).toString()
  expect(text.length).toBe(body.length)
  const form = await new Response(text, { headers: { 'content-type': body.contentType } }).formData()
  const file = form.get('file') as File
  expect([form.get('messaging_product'), form.get('type'), file.type, file.name, await file.text()]).toEqual([
    'whatsapp',
    'application/pdf',
    'application/pdf',
    'a___X-Injected__1______.pdf',
    'the bytes',
  ])
})
