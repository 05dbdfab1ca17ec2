import { setTimeout as sleep } from 'node:timers/promises'
import type { EventType } from '@parley/contract/events'
import { giveCredits, lockBalance, readBalance } from '@parley/server/domain/credits/credits'
import { readTimeline } from '@parley/server/domain/messages/reading/timeline'
import { checkInput } from '@parley/server/domain/webhooks/check-input'
import { deleteWebhook, disableWebhook, saveNewWebhook, settingsOf } from '@parley/server/domain/webhooks/webhooks'
import { readSettings } from '@parley/server/domain/workspaces/settings'
import type { Workspace } from '@parley/server/domain/workspaces/workspaces'
import { StartupError } from '@parley/server/lib/refuse'
import { change } from './audit.ts'
import type { Call } from './command.ts'
import { plural } from './format.ts'
import { sendFromCommandLine } from './send-message.ts'
import type { SimulatedSender } from './simulated-sender.ts'
import { helloTo, sentHello, testNumbers } from './test-numbers.ts'

/** How long it waits for what the service and the simulator have to do first. */
const waitMs = 30_000

export interface Trigger {
  call: Call
  workspace: Workspace
  sender: SimulatedSender
}

/** What makes an event of each type happen, through the simulator. Types that are not listed cannot be made that way. */
export const makers: Readonly<Partial<Record<EventType | 'network.update', (trigger: Trigger) => Promise<string>>>> = {
  'message.received': async ({ sender }) => {
    await sender.request('POST', `/phones/${sender.phone}/say`, { to: sender.number, text: 'Hello from the simulator' })
    return `Wrote from ${sender.phone} to ${sender.number}.`
  },
  async 'message.echoed'({ sender }) {
    await sender.request('POST', `/numbers/${sender.numberId}/echo`, {
      phone: sender.phone,
      text: 'Hello from the app',
    })
    return `Wrote from ${sender.number} to ${sender.phone} in the Business app.`
  },
  async 'conversation.control_changed'({ sender }) {
    const { withAgent = [] } = (await sender.request('GET', `/phones/${sender.phone}`)) as { withAgent?: string[] }
    const owners = withAgent.includes(sender.numberId) ? ['business'] : ['agent', 'business']
    for (const owner of owners)
      await sender.request('POST', `/numbers/${sender.numberId}/handover`, { phone: sender.phone, owner })
    return `An agent handed the conversation of ${sender.phone} with ${sender.number} back.`
  },
  async 'history.imported'({ sender }) {
    await sender.request('POST', `/numbers/${sender.numberId}/history`, {})
    return `Shared past chats of ${sender.number} in the Business app.`
  },
  ...Object.fromEntries(
    Object.entries(testNumbers).map(([type, to]) => [type, (trigger: Trigger) => sendHello(trigger, to)]),
  ),
  async 'flow.completed'(trigger) {
    const { sender } = trigger
    const { id, wamid } = await sendTemplate(trigger, sender.phone, {
      name: 'intake_form',
      language: 'en',
      variables: { 'body.1': 'Ana' },
    })
    const values = { full_name: 'Ana Ruiz', email: 'ana@example.com', complaint: 'Headache' }
    await sender.request('POST', `/phones/${sender.phone}/fillForm`, { message: wamid, values })
    return `Sent the form in message ${id}, and submitted it from ${sender.phone}.`
  },
  async 'template.status_changed'({ sender }) {
    const all = (await sender.request('GET', '/templates')) as SimulatedTemplate[]
    const ours = all.filter(({ wabaId }) => wabaId === sender.wabaId)
    // No one sends it: in the demo it is paused.
    const template = ours.find(({ name }) => name === 'spring_sale') ?? ours.at(-1)
    if (!template) throw new StartupError('The account has no template in the simulator.')
    const status = template.status === 'PAUSED' ? 'APPROVED' : 'PAUSED'
    await sender.request('PATCH', `/templates/${template.id}`, { status })
    return `Changed template ${template.name} from ${template.status} to ${status} in the simulator.`
  },
  async 'sender.status_changed'({ sender }) {
    const qualityRating = sender.qualityRating === 'GREEN' ? 'YELLOW' : 'GREEN'
    await sender.request('PATCH', `/numbers/${sender.numberId}`, { qualityRating })
    await sender.request('POST', `/wabas/${sender.wabaId}/notify`, {
      field: 'phone_number_quality_update',
      value: { display_phone_number: sender.number, event: 'FLAGGED', current_limit: 'TIER_1K' },
    })
    return `Changed the quality of ${sender.number} from ${sender.qualityRating} to ${qualityRating} in the simulator.`
  },
  async 'contact.preference_changed'({ sender }) {
    // Someone new: a choice that was made before changes nothing.
    const person = `1650556${String(Math.floor(Math.random() * 10_000)).padStart(4, '0')}`
    await sender.request('POST', `/wabas/${sender.wabaId}/notify`, {
      field: 'user_preferences',
      value: {
        messaging_product: 'whatsapp',
        metadata: { display_phone_number: sender.number, phone_number_id: sender.numberId },
        contacts: [{ profile: { name: 'Ana' }, wa_id: person }],
        user_preferences: [
          {
            wa_id: person,
            detail: 'User requested to stop marketing messages',
            category: 'marketing_messages',
            value: 'stop',
            timestamp: Math.floor(Date.now() / 1000),
          },
        ],
      },
    })
    return `${person} stopped marketing messages of ${sender.number} in the simulator.`
  },
  async 'network.update'({ sender }) {
    const value = { messaging_product: 'whatsapp', hello: 'from the simulator' }
    await sender.request('POST', `/wabas/${sender.wabaId}/notify`, { field: 'unknown_field', value })
    return `Posted a webhook of ${sender.number} with an unknown field.`
  },
  'webhook.disabled': disableTemporaryWebhook,
  'credits.low': crossLowBalance,
}

interface SimulatedTemplate {
  id: string
  wabaId: string
  name: string
  status: string
}

async function sendHello({ call, workspace, sender }: Trigger, to: string): Promise<string> {
  const { message } = await sendFromCommandLine(call, workspace, helloTo(to, sender.id))
  return sentHello(message.id, to)
}

/** Sends a template, and returns the ID that the network gave the message. */
async function sendTemplate(
  { call, workspace, sender }: Trigger,
  to: string,
  template: { name: string; language: string; variables?: Record<string, string> },
): Promise<{ id: string; wamid: string }> {
  const body = { sender_id: sender.id, to, type: 'template', template }
  const { message } = await sendFromCommandLine(call, workspace, body)
  const db = (await call.db()).within(workspace.id)
  for (const until = Date.now() + waitMs; Date.now() < until; await sleep(100)) {
    const { wa_message_id: wamid } = await readTimeline(db, workspace.id, 'admin', message.id)
    if (wamid !== null) return { id: message.id, wamid }
  }
  throw new StartupError(
    `Message ${message.id} was not sent to the simulator within 30 seconds. Is the service running?`,
  )
}

/** Creates an endpoint that gets nothing, disables it and deletes it. The others get the event about it. */
async function disableTemporaryWebhook({ call, workspace }: Trigger): Promise<string> {
  const { clock, config } = call
  const input = { name: 'Temporary', url: `${config.publicUrl}/`, events: ['webhook.disabled'], headers: [] }
  const checked = await checkInput({ ...config.targetRules, allowHttp: true }, input, workspace.id)
  await change(call, async (tx, audit) => {
    const { webhook } = await saveNewWebhook(tx, clock, config.secretKeys(), workspace.id, checked)
    const target = { workspaceId: workspace.id, target: webhook.id, targetName: webhook.name }
    await audit({ action: 'webhook.create', ...target, after: settingsOf(webhook) })
    await disableWebhook(tx, clock, webhook.id, 'Triggered on the command line')
    await deleteWebhook(tx, clock, webhook.id)
    await audit({ action: 'webhook.delete', ...target, before: settingsOf(webhook) })
  })
  return 'Created a webhook, disabled it and deleted it.'
}

/**
 * Takes credits until the balance is at the mark of the workspace, and refunds them, in one transaction: no message is rejected.
 * The database notices the first step, and the running service publishes the event.
 */
async function crossLowBalance({ call, workspace: { id, name } }: Trigger): Promise<string> {
  const mark = (await readSettings((await call.db()).within(id), id)).lowBalance
  const note = 'Triggered credits.low on the command line'
  await change(call, async (tx, audit) => {
    const give = async (amount: number) => {
      if (amount !== 0) await giveCredits(tx, call.clock, id, amount, note)
    }
    await lockBalance(tx, id)
    const before = await readBalance(tx, id)
    // The event is about a balance that falls to the mark.
    await give(Math.max(0, mark + 1 - before))
    const above = await readBalance(tx, id)
    await give(mark - above)
    await give(before - mark)
    const after = { amount: 0, note, balance: before }
    await audit({ action: 'workspace.credit', workspaceId: id, target: id, targetName: name, after })
  })
  return `The balance of workspace ${name} fell to ${plural(mark, 'credit')}, and was restored.`
}
