import type { EventType } from '@parley/contract/events'
import { StartupError } from '@parley/server/lib/refuse'
import { change } from './audit.ts'
import type { Call } from './command.ts'
import type { Source } from './source.ts'
import { readWorkspace } from './workspace-option.ts'

/** More templates than WhatsApp allows for an account. */
const maxTemplates = 10_000

/** A workspace in the database. Each part is loaded when it is used: a command needs few of them. */
export async function openDatabaseSource(call: Call): Promise<Source> {
  const { config, clock } = call
  const workspace = await readWorkspace(call)
  const { id, name } = workspace
  const db = (await call.db()).within(id)
  return {
    title: async () => `workspace ${name}`,
    get isServing() {
      const running = call.running()
      return config.databaseUrl !== null || (running !== undefined && running !== 'stopped')
    },
    demoPhone() {
      const running = call.running()
      if (running === 'stopped') throw new StartupError('The service is not running. Start it with: npm start')
      return running?.phone ?? null
    },
    async senders() {
      const { listedSenders } = await import('./send-message.ts')
      return listedSenders(call, workspace)
    },
    async templates(ofName) {
      const { listTemplates, toTemplate } = await import('@parley/server/domain/templates/templates')
      const all = { take: maxTemplates, after: null, order: 'asc' } as const
      return (await listTemplates(db, id, ofName ? { name: ofName } : {}, all)).rows.map(toTemplate)
    },
    checkReading: async () => {},
    async send(body, keys) {
      const { sendFromCommandLine } = await import('./send-message.ts')
      const result = await sendFromCommandLine(call, workspace, body, keys)
      if (!result.replayed) {
        await change(call, (_tx, audit) => {
          const { to, type, sender_id } = result.message
          const after = { to, type, sender: sender_id }
          return audit({ action: 'message.send', workspaceId: id, target: result.message.id, after })
        })
      }
      return result
    },
    pollMs: 200,
    async status(messageId) {
      const { readTimeline } = await import('@parley/server/domain/messages/reading/timeline')
      return readTimeline(db, id, 'admin', messageId)
    },
    async isWindowClosed({ type, to, sender_id }) {
      const [{ findReplyWindow }, { withoutPrefix }] = await Promise.all([
        import('@parley/server/domain/messages/reading/reply-window'),
        import('@parley/server/lib/ids'),
      ])
      const senderId = withoutPrefix('snd', sender_id)
      if (type === 'template' || to === null || !senderId) return false
      const expiresAt = await findReplyWindow(db, id, senderId, { phone: to })
      return expiresAt === null || new Date(expiresAt) <= clock.now()
    },
    async openFeed(signal) {
      const { openFeed } = await import('./database-feed.ts')
      return openFeed(call, workspace, signal)
    },
    async secretParts() {
      const [key] = config.secretKeys().values()
      if (!key) throw new Error('there is no secret key')
      return { key, workspaceId: id }
    },
    async makerOf(type) {
      const [{ makers }, { findSimulatedSender }] = await Promise.all([
        import('./trigger-events.ts'),
        import('./simulated-sender.ts'),
      ])
      const make = makers[type]
      const sender = make ? await findSimulatedSender(call, workspace) : null
      return make && sender ? () => make({ call, workspace, sender }) : null
    },
    sendTestEvents: (type) => sendTestEvents(call, { id, name }, type),
  }
}

async function sendTestEvents(call: Call, { id: workspaceId, name }: { id: string; name: string }, type: EventType) {
  const [{ listAllWebhooks }, { sendTestEvent }] = await Promise.all([
    import('@parley/server/domain/webhooks/webhooks'),
    import('@parley/server/domain/webhooks/test-event'),
  ])
  const webhooks = (await listAllWebhooks(await call.db())).filter(
    ({ workspaceId: owner, webhook }) =>
      owner === workspaceId && webhook.enabled && webhook.events.some((each) => each === type),
  )
  if (webhooks.length === 0) {
    throw new StartupError(
      `No enabled webhook of workspace ${name} receives ${type}. Create one with: ./parley webhook create --name NAME --url URL --event ${type}`,
    )
  }
  return change(call, async (tx, audit) => {
    const sent = []
    for (const { webhook } of webhooks) {
      const eventId = await sendTestEvent(tx, call.clock, webhook.id, type)
      const target = { workspaceId, target: webhook.id, targetName: webhook.name }
      await audit({ action: 'webhook.test', ...target, after: { type, event: eventId } })
      sent.push({ webhook_id: webhook.id, event_id: eventId })
    }
    return sent
  })
}
