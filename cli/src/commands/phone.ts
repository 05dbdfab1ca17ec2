import { writeFile } from 'node:fs/promises'
import { StartupError } from '@parley/server/lib/refuse'
import { type Call, type Command, UsageError } from '../command.ts'
import { mediaKinds, type PhoneAction, phoneActions } from '../phone-actions.ts'
import { callSimulator, simulatorPort } from '../simulator-client.ts'

export const kindNames: Readonly<Record<(typeof mediaKinds)[number], string>> = {
  image: 'an image',
  video: 'a video',
  audio: 'an audio file',
  voice: 'a voice message',
  document: 'a document',
  sticker: 'a sticker',
}

export const commands: readonly Command[] = [
  {
    name: 'phone send',
    details: 'Needs the simulator, which "./parley start" runs by default. Pass one kind of message.',
    options: {
      from: { value: 'NUMBER', required: true, help: 'Phone number of the contact; any number works' },
      to: { value: 'SENDER_NUMBER', required: true, help: 'Phone number of the sender, such as 15550780001' },
      text: { value: 'TEXT', help: 'Send a text' },
      ...Object.fromEntries(
        mediaKinds.map((kind) => [
          kind,
          { value: 'FILE', help: `Send ${kindNames[kind]}; "sample" sends a built-in file` },
        ]),
      ),
      location: { value: 'LAT,LON[,NAME,ADDRESS]', help: 'Send a location' },
      contacts: { value: 'JSON', help: 'Send contacts, as an array in WhatsApp’s format' },
      button: { value: 'ID|TITLE', help: 'Tap a button of a message' },
      'list-row': { value: 'ID|TITLE', help: 'Choose a row of a list message' },
      reaction: { value: 'EMOJI', help: 'React to a message; "" removes the reaction' },
      order: { value: 'SKU[:N][@PRICE[CURRENCY]],…', help: 'Order products from the catalog' },
      note: { value: 'TEXT', help: 'Text to send with --order' },
      edit: { value: 'TEXT', help: 'Edit a text, or the caption of a file' },
      delete: { help: 'Delete a message' },
      'call-permission': { value: 'accept|reject', help: 'Reply to a call permission request' },
      welcome: { help: 'Open the chat for the first time, without a message' },
      'flow-json': { value: 'JSON', help: 'Submit the form of a message with these values; {} submits it empty' },
      'flow-file': { value: 'FIELD=FILE', repeated: true, help: 'File to submit with --flow-json' },
      'flow-encrypted': { help: 'Encrypt the files of the form, as forms with an endpoint do' },
      caption: { value: 'TEXT', help: 'Caption of a file' },
      'reply-to': {
        value: 'WAMID',
        help: 'Message to reply to, tap, react to, fill in, edit or delete (default: the latest matching message)',
      },
    },
    examples: [
      'phone send --from 491701234567 --to 15550780001 --text "hi"',
      'phone send --from 491701234567 --to 15550780001 --image photo.jpg --caption "Our new menu"',
      'phone send --from 491701234567 --to 15550780001 --button "Confirm"',
      'phone send --from 491701234567 --to 15550780001 --edit "hello"',
      'phone send --from 491701234567 --to 15550780001 --delete',
    ],
    async run(call) {
      const from = digitsOf(call, 'from')
      const to = digitsOf(call, 'to')
      const { name, action: prepare } = actionOf(call)
      const port = simulatorPort(call)
      const request = (method: 'GET' | 'POST', path: string, body?: unknown) =>
        callSimulator(port, method, `/phones/${from}${path}`, body)
      const { action, body } = await prepare({
        value: call.option(name) ?? '',
        to,
        replyTo: call.option('reply-to'),
        caption: call.option('caption'),
        note: call.option('note'),
        files: call.options('flow-file'),
        encrypted: call.flag('flow-encrypted'),
        conversation: async () => (await request('GET', `/messages?to=${to}`)) as never,
      })
      const { id } = (await request('POST', `/${action}`, body)) as { id?: string }
      const json = { wa_message_id: id ?? null, from, to, type: name.replace('-', '_') }
      return { lines: [id ? `Sent message ${id} from ${from} to ${to}.` : `Sent from ${from} to ${to}.`], json }
    },
  },
  {
    name: 'phone record',
    details:
      'A test plays the scenario with phone.play() of @parley/testing or of the Python SDK. Letters and digits of texts, names and form values are replaced, and files, locations and quantities by samples. IDs of buttons and products, and emojis, stay.',
    options: {
      from: { value: 'NUMBER', required: true, help: 'Phone number of the contact' },
      to: { value: 'SENDER_NUMBER', required: true, help: 'Phone number of the sender, such as 15550780001' },
      out: { value: 'FILE', help: 'Write the scenario to this file instead of printing it' },
      'with-contents': { help: 'Keep what was written, so that a test compares the texts of the bot' },
    },
    examples: [
      'phone record --from 491701234567 --to 15550780001 --out booking.json',
      'phone record --from 491701234567 --to 15550780001 --with-contents',
    ],
    async run(call) {
      const [from, to, file] = [digitsOf(call, 'from'), digitsOf(call, 'to'), call.option('out')]
      const path = `/phones/${from}/scenario?to=${to}&contents=${call.flag('with-contents')}`
      const scenario = (await callSimulator(simulatorPort(call), 'GET', path)) as { steps: unknown[] }
      const text = JSON.stringify(scenario, null, 2)
      if (file === undefined) return { lines: [text], json: scenario }
      await writeFile(file, `${text}\n`).catch((error: NodeJS.ErrnoException) => {
        throw new StartupError(`${file} cannot be written: ${error.code}.`)
      })
      const { length } = scenario.steps
      return { lines: [`Recorded ${length} ${length === 1 ? 'step' : 'steps'} in ${file}.`], json: scenario }
    },
  },
]

function actionOf(call: Call): { name: string; action: PhoneAction } {
  const given = Object.entries(phoneActions).filter(([name]) => call.option(name) !== undefined || call.flag(name))
  const names = Object.keys(phoneActions).map((name) => `--${name}`)
  const [first, second] = given
  if (!first) throw new UsageError(`Nothing to send. Pass one of ${names.join(', ')}.`)
  if (second) throw new UsageError(`--${first[0]} and --${second[0]} are separate messages. Send one at a time.`)
  return { name: first[0], action: first[1] }
}

export function digitsOf({ option }: Call, name: string, text = option(name) ?? ''): string {
  const digits = text.replaceAll(/[\s()+-]/g, '')
  if (!/^\d{6,20}$/.test(digits))
    throw new UsageError(
      `Invalid --${name} "${text}". Enter a phone number in international format, such as 491701234567.`,
    )
  return digits
}
