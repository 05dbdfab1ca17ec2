import { type Call, type Command, UsageError } from '../command.ts'
import { mediaKinds, type PhoneAct, phoneActs } from '../phone-acts.ts'
import { callSimulator } from '../simulator-call.ts'

export const phoneCommands: readonly Command[] = [
  {
    name: 'phone send',
    summary: 'Send a message to a sender, as a person’s phone in the simulator would',
    options: {
      from: { value: 'NUMBER', required: true, help: 'the person’s number; any will do' },
      to: { value: 'SENDER_NUMBER', required: true, help: 'the sender’s number, such as 15550780001' },
      text: { value: 'T', help: 'a text message' },
      ...Object.fromEntries(
        mediaKinds.map((kind) => [kind, { value: 'FILE', help: `a file, as ${kind}; "sample" sends a small one` }]),
      ),
      location: { value: 'LAT,LON[,NAME,ADDRESS]', help: 'a place' },
      contacts: { value: 'JSON', help: 'contact cards, as an array in the network’s form' },
      button: { value: 'ID|TITLE', help: 'taps a button of a message, by its id or its words' },
      'list-row': { value: 'ID|TITLE', help: 'chooses a row of a list, by its id or its words' },
      reaction: { value: 'EMOJI', help: 'reacts to a message; "" takes the reaction back' },
      order: { value: 'SKU[:N][@PRICE[CURRENCY]],…', help: 'orders products of the catalogue' },
      note: { value: 'T', help: 'words with an order' },
      'flow-json': { value: 'JSON', help: 'fills in the form of a message, {} for an empty one' },
      'flow-file': { value: 'FIELD=FILE', repeated: true, help: 'a file in that form' },
      'flow-encrypted': { help: 'its files lie enciphered, as those of a form with an endpoint do' },
      caption: { value: 'T', help: 'words under a file' },
      'reply-to': {
        value: 'WAMID',
        help: 'the message that is answered, tapped or filled in (default the latest that fits)',
      },
    },
    async run(call) {
      const from = digitsOf(call, 'from')
      const to = digitsOf(call, 'to')
      const { name, act } = actOf(call)
      const ask = (method: 'GET' | 'POST', path: string, body?: unknown) =>
        callSimulator(call.config.simulatorPort, method, `/phones/${from}${path}`, body)
      const { action, body } = await act({
        value: call.option(name) ?? '',
        to,
        replyTo: call.option('reply-to'),
        caption: call.option('caption'),
        note: call.option('note'),
        files: call.options('flow-file'),
        encrypted: call.flag('flow-encrypted'),
        conversation: async () => (await ask('GET', `/messages?to=${to}`)) as never,
      })
      const { id } = (await ask('POST', `/${action}`, body)) as { id?: string }
      const json = { wa_message_id: id ?? null, from, to, type: name.replace('-', '_') }
      return { lines: [`${from} sent ${id ?? 'it'} to ${to}.`], json }
    },
  },
]

function actOf(call: Call): { name: string; act: PhoneAct } {
  const given = Object.entries(phoneActs).filter(([name]) => call.option(name) !== undefined)
  const names = Object.keys(phoneActs).map((name) => `--${name}`)
  const [first, second] = given
  if (!first) throw new UsageError(`Say what to send: one of ${names.join(', ')}.`)
  if (second) throw new UsageError(`--${first[0]} and --${second[0]} are two messages; send them one by one.`)
  return { name: first[0], act: first[1] }
}

function digitsOf({ option }: Call, name: string): string {
  const text = option(name) ?? ''
  const digits = text.replaceAll(/[\s()+-]/g, '')
  if (!/^\d{6,20}$/.test(digits))
    throw new UsageError(`--${name} is "${text}", but it takes a number such as 491701234567.`)
  return digits
}
