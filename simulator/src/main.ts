import { parseArgs } from 'node:util'
import { ManualClock } from './clock.ts'
import { type Simulator, startSimulator } from './start.ts'

const help = `A simulated WhatsApp network: the Graph API, phones and signed webhooks on one port.

  node simulator/src/main.ts [options]

  --port N          port to listen on (default: 8090)
  --host H          address to listen on (default: 127.0.0.1)
  --public-url URL  URL under which other machines reach the simulator, used in media links; its host name is accepted
  --dataset NAME    demo or empty (default: demo)
  --state FILE      save the state to this file and load it on the next start
  --callback URL    verify this webhook URL and set it as the callback of every app
  --manual-clock    stop the clock; POST /control/clock/advance moves it
  --quiet           do not print API calls and webhooks
  --help            show this help

The demo dataset has the account 102290000000001 and the numbers 106540000000001 (+1 555-078-0001) and
106540000000002 (+1 555-078-0002). Its access token and app secret are random: GET /control/tokens, /control/apps.

  curl http://127.0.0.1:8090/v25.0/106540000000001/messages -H "Authorization: Bearer $TOKEN" \\
    -H 'Content-Type: application/json' -d '{"messaging_product":"whatsapp","to":"+16505550123","type":"template",
    "template":{"name":"hello_world","language":{"code":"en_US"}}}'
  curl -X POST http://127.0.0.1:8090/control/phones/16505550123/say -d '{"to":"15550780001","text":"Hello"}'
`

try {
  await run()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

async function run(): Promise<void> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '8090' },
      host: { type: 'string', default: '127.0.0.1' },
      'public-url': { type: 'string' },
      dataset: { type: 'string', default: 'demo' },
      state: { type: 'string' },
      callback: { type: 'string' },
      'manual-clock': { type: 'boolean', default: false },
      quiet: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return void process.stdout.write(help)
  const port = Number(values.port)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error('--port must be a number from 0 to 65535.')
  if (values.dataset !== 'demo' && values.dataset !== 'empty') throw new Error('--dataset must be demo or empty.')
  const simulator = await startSimulator({
    host: values.host,
    port,
    dataset: values.dataset,
    ...(values['public-url'] === undefined ? {} : { publicUrl: values['public-url'] }),
    ...(values.state === undefined ? {} : { stateFile: values.state }),
    ...(values['manual-clock'] ? { clock: new ManualClock(new Date()) } : {}),
    ...(values.quiet ? {} : { log: (line: string) => console.log(`${new Date().toISOString()}  ${line}`) }),
  })
  console.log(`The simulated network is listening on ${simulator.url}`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void simulator.stop().then(() => process.exit(0)))
  if (values.callback !== undefined) await setCallbacks(simulator, values.callback)
}

/** Keeps running when an app is not up yet: its callback can be set later. */
async function setCallbacks({ control, url }: Simulator, callback: string): Promise<void> {
  for (const { id } of control.apps.list())
    try {
      await control.apps.setCallback(id, { url: callback })
    } catch (error) {
      console.error(`Could not set the callback. ${error instanceof Error ? error.message : String(error)}`)
      console.error(`Set it later: curl -X PUT ${url}/control/apps/${id}/callback -d '{"url":"${callback}"}'`)
    }
}
