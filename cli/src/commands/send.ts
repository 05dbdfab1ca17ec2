import { setTimeout as sleep } from 'node:timers/promises'
import type { Message } from '@parley/contract/message'
import type { ParleyError } from '@parley/sdk/error'
import type { Refusal } from '@parley/server/lib/refuse'
import { keyOptions, keyOrIdOption } from '../by-key.ts'
import { type Call, type Command, UsageError } from '../command.ts'
import { findSender } from '../find-sender.ts'
import { plural } from '../format.ts'
import { isPlainObject, parseJson } from '../json.ts'
import { openSource } from '../open-source.ts'
import { program } from '../program.ts'
import { newProgress } from '../progress.ts'
import type { Source } from '../source.ts'
import { workspaceOption } from '../workspace-option.ts'

/** How long `--wait` waits for the network. */
const waitMs = 30_000
/** WhatsApp's error code for a message that is no template, more than 24 hours after the contact wrote. */
const closedWindow = 131047

export const commands: readonly Command[] = [
  {
    name: 'send',
    details:
      'As POST /v1/messages: it costs credits, and the running service sends it. A text needs a message of the contact in the last 24 hours. With an --idempotency-key, the same command sends once.',
    withDatabase: 'In the demo, leave out --to and --from: the message goes to the handset.',
    options: {
      to: program.hasDatabase
        ? { value: 'NUMBER', help: 'Phone number of the contact (default: the handset, if there is one)' }
        : { value: 'NUMBER', required: true, help: 'Phone number of the contact' },
      text: { value: 'TEXT', help: 'Send a text' },
      template: { value: 'NAME[:LANGUAGE]', help: 'Send a template; the language is needed if it has several' },
      var: { value: 'KEY=VALUE', repeated: true, help: 'Variable of the template: body.1=Ana, header.image=https://…' },
      body: { value: 'JSON', help: 'Any other message: the members of POST /v1/messages besides to and sender_id' },
      from: { value: 'SENDER', help: 'Sender, by ID or phone number (default: the only sender)' },
      reference: { value: 'TEXT', help: 'Your own reference, stored with the message' },
      'idempotency-key': { value: 'KEY', help: 'Send once, however often you repeat the command' },
      url: keyOptions.url,
      key: keyOrIdOption('the message then belongs to that key (default: none)'),
      workspace: workspaceOption('Workspace that sends'),
      wait: { help: 'Wait until it was delivered or failed' },
    },
    examples: [
      'send --template appointment_reminder:en_US --var header.1=Ana --var 1=Monday --var 2=10:30 --var buttons.2.url=A-17',
      'send --text "Your order has shipped" --idempotency-key order-1001 --wait',
      'send --to 491701234567 --from 15550780001 --template intake_form --var 1=Ana',
    ],
    async run(call) {
      const { option, flag } = call
      const content = await readContent(call)
      const source = await openSource(call, 'keyOrId')
      const body = { ...(await addressOf(call, source)), ...(await content(source)), ...referenceOf(call) }
      if (flag('wait')) await source.checkReading()
      const keys = { idempotencyKey: option('idempotency-key'), keyId: option('key') }
      const { message, replayed } = await source.send(body, keys).catch(explainSender)
      const lines = [
        replayed
          ? `Message ${message.id} was sent with this idempotency key before. Nothing was sent now.`
          : `Accepted message ${message.id} to ${message.to ?? message.to_user_id} for ${plural(message.credits, 'credit')}.`,
      ]
      if (!flag('wait')) {
        const hints = source.isServing ? await windowHint(source, message) : [notRunning]
        return { lines: [...lines, ...hints], json: message }
      }
      const { status, error, explained } = await waitFor(source, message.id)
      const hints = explained?.code === closedWindow ? await windowHint(source, message) : []
      if (explained && hints.length === 0) hints.push(explained.fix)
      return {
        lines: [...lines, `Status: ${status}${error ? ` (${error})` : ''}.`, ...hints],
        json: { ...message, status },
        failed: status === 'failed' || status === 'queued',
      }
    },
  },
]

/** The API names its own field. */
function explainSender(error: ParleyError | Refusal): never {
  const [first, second] = ('parts' in error ? error.parts.errors : error.errors) ?? []
  if (second || first?.param !== 'sender_id' || first.code !== 'missing') throw error
  throw new UsageError('This workspace has more than one sender. Choose one with --from.')
}

const notRunning = 'The service is not running. It sends the message when you start it: npm start'

/** Without this, a first text to the handset would fail for a reason that no one expects. */
async function windowHint(source: Source, message: Message): Promise<string[]> {
  if (!(await source.isWindowClosed(message))) return []
  return [
    `${message.to} has not written to this sender within 24 hours, so WhatsApp delivers only templates to it. In the demo, write first: ./parley phone send --from ${message.to} --to SENDER_NUMBER --text hi`,
  ]
}

const referenceOf = ({ option }: Call) => (option('reference') === undefined ? {} : { reference: option('reference') })

/** In the demo, the first sender writes to the simulated phone. Otherwise a person has to choose both. */
async function addressOf({ option }: Call, source: Source): Promise<Record<string, unknown>> {
  const to = option('to')
  const from = option('from')
  if (to !== undefined) {
    return { to: to.replaceAll(/[\s()-]/g, ''), ...(from && { sender_id: (await findSender(source, from)).id }) }
  }
  const phone = source.demoPhone()
  if (!phone) throw new UsageError('Missing option: --to NUMBER. Without it, a running simulator is needed.')
  return { to: phone, sender_id: (await findSender(source, from)).id }
}

/** Reads the options first, so that a mistake is reported before the database is opened. */
async function readContent({ option, options }: Call) {
  const [text, template, body] = [option('text'), option('template'), option('body')]
  const given = [text, template, body].filter((each) => each !== undefined)
  if (given.length !== 1) throw new UsageError('Pass one of --text, --template and --body.')
  if (options('var').length > 0 && template === undefined) throw new UsageError('--var needs --template.')
  if (text !== undefined) return async () => ({ type: 'text', text: { body: text } })
  if (body !== undefined) {
    const json = readObject(body)
    return async () => json
  }
  const variables = readVariables(options('var'))
  return async (source: Source) => {
    const named = await findTemplate(source, template ?? '')
    return { type: 'template', template: { ...named, ...(Object.keys(variables).length > 0 && { variables }) } }
  }
}

function readObject(text: string): object {
  const value = parseJson(text)
  if (isPlainObject(value)) return value
  throw new UsageError('Invalid --body. Enter JSON such as {"type":"location","location":{…}}.')
}

/** `1=Ana` is short for `body.1=Ana`. A value that is JSON is passed on as such, for headers with a file or a location. */
function readVariables(given: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    given.map((text) => {
      const [, key, value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? []
      if (!key) throw new UsageError(`Invalid --var "${text}". Enter KEY=VALUE, such as body.1=Ana.`)
      return [key.includes('.') ? key : `body.${key}`, value.startsWith('{') ? readObject(value) : value]
    }),
  )
}

async function findTemplate(source: Source, text: string) {
  if (text.startsWith('tpl_')) return { id: text }
  const [name = '', language] = text.split(':', 2)
  if (language) return { name, language }
  const rows = await source.templates(name)
  const [first, second] = rows
  if (!first) throw new UsageError(`Template "${name}" not found in this workspace.`)
  if (!second) return { name, language: first.language }
  const choices = rows.map((row) => `${name}:${row.language}`).join(', ')
  throw new UsageError(`Template "${name}" has several languages. Choose one of ${choices}.`)
}

async function waitFor(source: Source, id: string) {
  const progress = newProgress()
  progress.say('Waiting for WhatsApp')
  try {
    for (const until = Date.now() + waitMs; ; await sleep(source.pollMs)) {
      const message = await source.status(id)
      if (/^(delivered|read|failed)$/.test(message.status) || Date.now() > until) return message
    }
  } finally {
    progress.end()
  }
}
