// Sends a template and waits until it is delivered: send.ts 16505550123 hello_world en_US
import { setTimeout as sleep } from 'node:timers/promises'
import { type Outgoing, Parley, ParleyError } from '@parley/sdk'

const { PARLEY_URL = 'http://127.0.0.1:8080', PARLEY_API_KEY = '' } = process.env
const [to, name, language, ...pairs] = process.argv.slice(2)

try {
  const parley = new Parley({ baseUrl: PARLEY_URL, key: PARLEY_API_KEY })
  if (to && name && language) {
    const variables = Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s).slice(0, 2)))
    // Any number may send a template, also to a person who has not written to it.
    const [sender] = await parley.senders.list().all({ max: 1 })
    await sendAndWait(parley, {
      ...(sender && { sender_id: sender.id }),
      to,
      type: 'template',
      template: { name, language, variables },
    })
  } else {
    console.log('Usage: send.ts <phone number> <template> <language> <variable>=<value> …\nTemplates:')
    for await (const { name, language, variables } of parley.templates.list({ status: 'APPROVED' })) {
      console.log(' ', name, language, ...variables.map(({ key, example }) => `${key}=${example ?? '…'}`))
    }
  }
} catch (error) {
  if (!(error instanceof ParleyError || error instanceof TypeError)) throw error
  console.error(error.message)
  if (error instanceof ParleyError)
    for (const { param, message } of error.errors) console.error(` ${param}: ${message}`)
  process.exitCode = 1
}

async function sendAndWait(parley: Parley, message: Outgoing) {
  const { id } = await parley.messages.send(message)
  for (let seen = ''; ; await sleep(3000)) {
    const { status, error } = await parley.messages.get(id)
    if (status !== seen) console.log(id, status, error ? `${error.code} ${error.title}` : '')
    if (status === 'failed') process.exitCode = 1
    if (status === 'delivered' || status === 'read' || status === 'failed') return
    seen = status
  }
}
