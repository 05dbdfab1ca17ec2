// Receives Parley's webhooks, verifies each delivery, acknowledges it and prints its event once, on one line.
import { createServer } from 'node:http'
import { parleyWebhook } from '@parley/sdk/express'

const { PARLEY_WEBHOOK_SECRET: secret, HOST = '127.0.0.1', PORT = '9000' } = process.env
if (!secret) {
  console.error('Set PARLEY_WEBHOOK_SECRET to the "whsec_…" value that was shown when the endpoint was created.')
  process.exit(1)
}

const receive = parleyWebhook(
  secret,
  (event) => {
    console.log(event.type, event.id, JSON.stringify(event.data))
  },
  // Responds before the event is printed. Keep the IDs of events in a database (seen) if you run more than one process.
  { acknowledge: 'before' },
)

createServer(receive).listen(Number(PORT), HOST, () => console.log(`Listening at http://${HOST}:${PORT}/`))
