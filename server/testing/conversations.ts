import { expect } from 'vitest'
import type { WebhookInput } from '../src/domain/webhooks/check-input.ts'
import { createWebhook } from '../src/domain/webhooks/webhooks.ts'
import { localRules } from './deliveries.ts'
import { newApp, newSender, text, webhookOf } from './network-app.ts'
import type { Receiver } from './receiver.ts'
import type { TestServer } from './test-server.ts'
import { newWorkspace, type TestWorkspace } from './workspace.ts'

let numbers = 0

/** A workspace with numbers that people write to. */
export interface Conversations {
  workspace: TestWorkspace
  /** The IDs of the senders, with their prefix. */
  senders: readonly string[]
  /** People write to the first number, all in one webhook of the network. */
  write(...written: readonly Written[]): Promise<void>
  /** People write to the number with this index. */
  writeTo(sender: number, ...written: readonly Written[]): Promise<void>
  /** Creates an endpoint that keeps the order of conversations, unless `options` say otherwise. Returns its ID. */
  listen(receiver: Pick<Receiver, 'url'>, options?: Partial<WebhookInput>): Promise<string>
}

type Written = readonly [person: string, body: string]

export async function newConversations(server: TestServer, count = 1): Promise<Conversations> {
  const workspace = await newWorkspace(server)
  const app = await newApp(server)
  const senders: Awaited<ReturnType<typeof newSender>>[] = []
  while (senders.length < count) {
    senders.push(await newSender(server, workspace.id, app.id, String(78_000_000_000 + ++numbers)))
  }
  let messages = 0
  const writeTo: Conversations['writeTo'] = async (index, ...written) => {
    const { id = '', phoneNumberId = '' } = senders[index] ?? {}
    const texts = written.map(([from, body]) => ({ ...text(`wamid.${id}.${++messages}`, body), from }))
    expect(await app.post(webhookOf(phoneNumberId, texts))).toBe(200)
  }
  return {
    workspace,
    senders: senders.map(({ id }) => `snd_${id}`),
    write: (...written) => writeTo(0, ...written),
    writeTo,
    async listen({ url }, options = { ordering: 'conversation' }) {
      const input = { workspaceId: workspace.id, name: 'receiver', url, events: ['message.received'], ...options }
      return (await createWebhook(server.db, server.clock, server.secretKeys, localRules, input)).webhook.id
    },
  }
}

/** What arrived at a receiver, as `person text`, in order. */
export const textsAt = ({ received }: Pick<Receiver, 'received'>): string[] =>
  received.map(({ body }) => {
    const { data } = JSON.parse(body) as { data: Partial<Record<'from' | 'to' | 'text' | 'status', string | null>> }
    return `${data.from ?? data.to ?? 'unknown'} ${data.text ?? data.status}`
  })

/** Leaves out attempts that repeat the one before. */
export const withoutRetries = (texts: readonly string[]): string[] =>
  texts.filter((each, index) => each !== texts[index - 1])
