import { StartupError } from '@parley/server/lib/refuse'
import { type Call, type Command, type OptionRule, UsageError } from '../command.ts'
import { parseJson } from '../json.ts'
import { mediaKinds, readMedia } from '../phone-actions.ts'
import { callSimulator, simulatorPort } from '../simulator-client.ts'
import { digitsOf, kindNames } from './phone.ts'

const sender: OptionRule = {
  value: 'SENDER_NUMBER',
  required: true,
  help: 'Phone number of the sender, such as 15550780001',
}
const person: OptionRule = { value: 'NUMBER', required: true, help: 'Phone number of the contact' }

/** What the business does outside the API: in the Business app, and through an agent. */
export const commands: readonly Command[] = [
  {
    name: 'phone echo',
    details: 'The app gets it in a webhook with the field smb_message_echoes, or standby with --agent.',
    options: {
      from: sender,
      to: person,
      text: { value: 'TEXT', help: 'Write a text' },
      ...Object.fromEntries(
        mediaKinds.map((kind) => [
          kind,
          { value: 'FILE', help: `Write ${kindNames[kind]}; "sample" sends a built-in file` },
        ]),
      ),
      edit: { value: 'TEXT', help: 'Edit a text, or the caption of a file, from the Business app' },
      delete: { help: 'Delete a message from the Business app' },
      caption: { value: 'TEXT', help: 'Caption of a file' },
      agent: { help: 'The agent writes the text; it must handle the conversation' },
      'reply-to': { value: 'WAMID', help: 'Message to reply to, edit or delete (default: the latest one)' },
    },
    examples: [
      'phone echo --from 15550780001 --to 491701234567 --text "We are open until six"',
      'phone echo --from 15550780001 --to 491701234567 --edit "We are open until seven"',
      'phone echo --from 15550780001 --to 491701234567 --agent --text "I am looking that up"',
    ],
    async run(call) {
      const [from, to] = [digitsOf(call, 'from'), digitsOf(call, 'to')]
      const { type, action, body } = await echoOf(call)
      const { id } = await act(call, from, action, { phone: to, ...body })
      return {
        lines: [`Sent message ${id} from ${from} to ${to}.`],
        json: { wa_message_id: id, from, to, type, source: call.flag('agent') ? 'agent' : 'business_app' },
      }
    },
  },
  {
    name: 'phone handover',
    details:
      'The app gets it in a webhook with the field messaging_handovers. While the agent handles the conversation, messages and statuses arrive in standby webhooks.',
    options: {
      from: person,
      to: sender,
      owner: { value: 'agent|business', required: true, help: 'Who handles the conversation from now on' },
      how: { value: 'taken|passed', help: 'How (default: the agent takes it, and passes it back)' },
      summary: { value: 'TEXT', help: 'Summary of the conversation that the agent writes' },
    },
    examples: [
      'phone handover --from 491701234567 --to 15550780001 --owner agent',
      'phone handover --from 491701234567 --to 15550780001 --owner business --summary "Asks for the price"',
    ],
    async run(call) {
      const [from, to] = [digitsOf(call, 'from'), digitsOf(call, 'to')]
      const owner = call.option('owner') ?? ''
      await act(call, to, 'handover', { phone: from, owner, ...given(call, 'how'), ...given(call, 'summary') })
      return {
        lines: [`The ${owner} now handles the conversation of ${from} with ${to}.`],
        json: { from, to, owner },
      }
    },
  },
  {
    name: 'phone history',
    details: 'Sends one chunk in a webhook with the field history. Without --threads, it sends a sample.',
    options: {
      to: sender,
      threads: {
        value: 'JSON',
        help: 'Array of {phone, messages: [{from: "person" or "business", text, at, status}]}',
      },
      phase: { value: '0|1|2', help: 'Phase (default: 0, the last day)' },
      progress: { value: 'PERCENT', help: 'Progress of the phase (default: 100)' },
      declined: { help: 'The business does not share its chats' },
    },
    examples: [
      'phone history --to 15550780001',
      'phone history --to 15550780001 --progress 55 --threads \'[{"phone":"491701234567","messages":[{"text":"hi"}]}]\'',
      'phone history --to 15550780001 --declined',
    ],
    async run(call) {
      const to = digitsOf(call, 'to')
      const threads = call.option('threads')
      await act(call, to, 'history', {
        ...(threads === undefined ? {} : { threads: readJson('threads', threads) }),
        ...numberOf(call, 'phase'),
        ...numberOf(call, 'progress'),
        ...(call.flag('declined') ? { declined: true } : {}),
      })
      return { lines: [`Sent a chunk of history of ${to}.`], json: { to, field: 'history' } }
    },
  },
  {
    name: 'phone contacts',
    details: 'Sends them in a webhook with the field smb_app_state_sync.',
    options: {
      to: sender,
      from: { value: 'NUMBER', repeated: true, help: 'Phone number of a contact (default: all phones)' },
      remove: { help: 'Remove the contacts instead of adding them' },
    },
    examples: ['phone contacts --to 15550780001', 'phone contacts --to 15550780001 --from 491701234567 --remove'],
    async run(call) {
      const to = digitsOf(call, 'to')
      const phones = call.options('from').map((text) => digitsOf(call, 'from', text))
      const action = call.flag('remove') ? 'remove' : 'add'
      await act(call, to, 'contacts', { action, ...(phones.length === 0 ? {} : { phones }) })
      return { lines: [`Sent contacts of ${to}.`], json: { to, field: 'smb_app_state_sync', action } }
    },
  },
  {
    name: 'phone update',
    details: 'The value is posted exactly as given, and signed. Use it for fields that the simulator does not know.',
    options: {
      to: sender,
      field: { value: 'FIELD', required: true, help: 'Field of the webhook, such as calls' },
      value: { value: 'JSON', required: true, help: 'Value of the change: any JSON' },
    },
    examples: [
      'phone update --to 15550780001 --field new_field --value \'{"any":["shape"]}\'',
      'phone update --to 15550780001 --field calls --value "$(cat calls.json)"',
    ],
    async run(call) {
      const to = digitsOf(call, 'to')
      const field = call.option('field') ?? ''
      const value = readJson('value', call.option('value') ?? '')
      const port = simulatorPort(call)
      const numbers = (await callSimulator(port, 'GET', '/numbers')) as { phoneNumber: string; wabaId: string }[]
      const account = numbers.find(({ phoneNumber }) => phoneNumber === to)?.wabaId
      if (account === undefined) throw new StartupError(`The simulator has no business number ${to}.`)
      await callSimulator(port, 'POST', `/wabas/${account}/notify`, { field, value })
      return { lines: [`Posted a webhook with the field ${field}.`], json: { to, field } }
    },
  },
]

async function act(call: Call, number: string, action: string, body: unknown): Promise<{ id?: string }> {
  return (await callSimulator(simulatorPort(call), 'POST', `/numbers/${number}/${action}`, body)) as { id?: string }
}

/** The request for the only kind of message that is given. */
async function echoOf(call: Call): Promise<{ type: string; action: string; body: Record<string, unknown> }> {
  const kinds = ['text', ...mediaKinds, 'edit', 'delete']
  const [type, second] = kinds.filter((name) => call.option(name) !== undefined || call.flag(name))
  if (!type) throw new UsageError(`Nothing to write. Pass one of ${kinds.map((name) => `--${name}`).join(', ')}.`)
  if (second) throw new UsageError(`--${type} and --${second} are separate messages. Send one at a time.`)
  if (call.flag('agent') && type !== 'text')
    throw new UsageError(`An agent writes only texts. Use --agent with --text.`)
  const value = call.option(type) ?? ''
  const replyTo = call.option('reply-to')
  if (type === 'edit' || type === 'delete') {
    const message = replyTo === undefined ? {} : { message: replyTo }
    return { type, action: type, body: type === 'edit' ? { ...message, text: value } : message }
  }
  const quoted = replyTo === undefined ? {} : { replyTo }
  if (type === 'text')
    return { type, action: call.flag('agent') ? 'agentSay' : 'echo', body: { text: value, ...quoted } }
  const file = await readMedia(type, value)
  return { type, action: 'echo', body: { media: type, ...file, ...given(call, 'caption'), ...quoted } }
}

function given(call: Call, name: string): Record<string, string> {
  const value = call.option(name)
  return value === undefined ? {} : { [name]: value }
}

function numberOf(call: Call, name: string): Record<string, number> {
  const value = call.option(name)
  if (value === undefined) return {}
  if (!/^\d{1,3}$/.test(value)) throw new UsageError(`Invalid --${name} "${value}". Enter a number.`)
  return { [name]: Number(value) }
}

function readJson(name: string, text: string): unknown {
  const value = parseJson(text)
  if (value === undefined) throw new UsageError(`Invalid --${name}. Enter JSON.`)
  return value
}
