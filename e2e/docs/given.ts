// What the blocks in TypeScript take for granted: the reader's own values and functions. Not part of the other sources,
// because it declares globals.
import { createHmac } from 'node:crypto'
import { type Outgoing, Parley, type ParleyEvent } from '@parley/sdk'

declare global {
  var parley: Parley
  var baseUrl: string
  var key: string
  var message: Outgoing
  var secret: string
  var rawBody: string
  var headers: Record<string, string>
  var loadCursor: () => string | null
  var saveCursor: (cursor: string) => void
  var handle: (event: ParleyEvent) => void
}

const { PARLEY_URL = '', PARLEY_API_KEY = '', PARLEY_WEBHOOK_SECRET = '', SENDER_ID = '' } = process.env
const seconds = Math.floor(Date.now() / 1000)
globalThis.baseUrl = PARLEY_URL
globalThis.key = PARLEY_API_KEY
globalThis.parley = new Parley({ baseUrl, key })
globalThis.message = { sender_id: SENDER_ID, to: '16505550123', type: 'text', text: { body: 'Hello' } }
globalThis.secret = PARLEY_WEBHOOK_SECRET
globalThis.rawBody = JSON.stringify({
  id: 'e-1',
  type: 'webhook.test',
  created_at: '2026-11-15T09:00:00.000Z',
  data: {},
})
const signature = createHmac('sha256', secret).update(`${seconds}.${rawBody}`).digest('hex')
globalThis.headers = { 'Service-Signature': `t=${seconds},v1=${signature}` }
globalThis.loadCursor = () => null
globalThis.saveCursor = (cursor) => console.log(cursor)
globalThis.handle = (event) => console.log(event.type)
