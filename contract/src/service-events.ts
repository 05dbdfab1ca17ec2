/** The data of events about the service: templates, senders, preferences, control of conversations, imports, webhooks and credits. */
import { type Static, Type } from 'typebox'
import { described, nullable, SenderId, TemplateId, Timestamp, WebhookId } from './ids.ts'
import { qualityRatings, senderStatuses } from './sender.ts'
import { templateStatuses } from './template.ts'

const oneOf = (values: readonly string[]) => `${values.map((value) => `\`${value}\``).join(', ')}; values may be added.`

export const TemplateStatusData = Type.Object({
  template_id: described(TemplateId, 'The ID of the template.'),
  name: Type.String({ description: 'The name of the template.' }),
  language: Type.String({ description: 'The language code of the template.' }),
  status: Type.String({ description: `The new status: ${oneOf(templateStatuses)} Only \`APPROVED\` can be sent.` }),
  previous_status: Type.String({ description: 'The status until this event. `PENDING` for a new template.' }),
  reason: nullable(Type.String(), 'Why, as far as WhatsApp says: for a rejection, its reason.'),
})

export const SenderStatusData = Type.Object({
  sender_id: described(SenderId, 'The ID of the sender.'),
  status: Type.String({ description: `The new status: ${oneOf(senderStatuses)} Only \`CONNECTED\` can send.` }),
  previous_status: Type.String({
    description: 'The status until this event. Equal to `status` if only the quality rating changed.',
  }),
  quality_rating: Type.String({
    description: `WhatsApp's quality rating of the number: ${oneOf(qualityRatings)}`,
  }),
  reason: nullable(Type.String(), 'Why, as far as WhatsApp says.'),
})

export const ContactPreferenceData = Type.Object({
  from: nullable(Type.String(), "The contact's phone number, digits only. Null if WhatsApp does not provide it."),
  from_user_id: nullable(Type.String(), "WhatsApp's ID of the contact, unique within your business."),
  sender_id: described(SenderId, 'The ID of the sender that the choice is about.'),
  marketing: Type.Union([Type.Literal('stop'), Type.Literal('resume')], {
    description:
      '`stop`: the contact wants no marketing messages from this sender. `resume`: the contact wants them again.',
  }),
})

export const ControlChangedData = Type.Object({
  from: nullable(Type.String(), "The contact's phone number, digits only. Null if WhatsApp does not provide it."),
  from_user_id: nullable(Type.String(), "WhatsApp's ID of the contact, unique within your business."),
  sender_id: described(SenderId, 'The ID of the sender.'),
  change: Type.Union([Type.Literal('passed'), Type.Literal('taken')], {
    description: '`passed`: the previous owner handed the conversation over. `taken`: the new owner took it.',
  }),
  previous_owner: nullable(
    Type.String(),
    'Who handled the conversation before: the role or the app ID that WhatsApp names.',
  ),
  new_owner: nullable(Type.String(), 'Who handles the conversation now: the role or the app ID that WhatsApp names.'),
  occurred_at: described(Timestamp, 'When the change happened, according to WhatsApp. ISO 8601, UTC.'),
})

export const HistoryImportedData = Type.Object({
  sender_id: described(SenderId, 'The ID of the sender whose conversations were imported.'),
  phase: nullable(
    Type.Integer(),
    'Which part of the history: 0 is the last day, 1 the last 90 days, 2 everything before. Null if WhatsApp does not say.',
  ),
  progress: nullable(
    Type.Integer(),
    'How much of the history has arrived, in percent. 100 with the last chunk. Null if WhatsApp does not say.',
  ),
  messages: Type.Integer({ minimum: 0, description: 'How many messages of this chunk were new.' }),
})

export const WebhookDisabledData = Type.Object({
  webhook_id: described(WebhookId, 'The ID of the disabled webhook.'),
  name: Type.String({ description: 'Its name.' }),
  url: Type.String({ description: 'Its URL.' }),
  reason: Type.String({ description: 'The last failure, or the reason that the user who disabled it entered.' }),
  failing_since: nullable(
    Timestamp,
    'When the first of the failed attempts in a row ended. Null if the last attempt succeeded.',
  ),
})

export const CreditsLowData = Type.Object({
  balance: Type.Integer({ description: 'The credits that are left.' }),
  threshold: Type.Integer({
    description: "The workspace's low-credit warning. Change it under Credits in the console.",
  }),
})

export type TemplateStatusData = Static<typeof TemplateStatusData>
export type SenderStatusData = Static<typeof SenderStatusData>
export type ContactPreferenceData = Static<typeof ContactPreferenceData>
export type ControlChangedData = Static<typeof ControlChangedData>
export type HistoryImportedData = Static<typeof HistoryImportedData>
export type WebhookDisabledData = Static<typeof WebhookDisabledData>
export type CreditsLowData = Static<typeof CreditsLowData>

export const serviceSamples = {
  template: {
    template_id: 'tpl_9e8d7c6b-5a49-4382-9716-05f4e3d2c1b0',
    name: 'order_update',
    language: 'en',
    status: 'REJECTED',
    previous_status: 'PENDING',
    reason: 'INVALID_FORMAT',
  },
  sender: {
    sender_id: 'snd_3f2e1d0c-9b8a-4765-8432-10fedcba9876',
    status: 'RESTRICTED',
    previous_status: 'CONNECTED',
    quality_rating: 'RED',
    reason: 'WhatsApp restricted the account: RESTRICTED_BIZ_INITIATED_MESSAGING.',
  },
  preference: {
    from: '16505550123',
    from_user_id: 'US.13491200000000000001',
    sender_id: 'snd_3f2e1d0c-9b8a-4765-8432-10fedcba9876',
    marketing: 'stop',
  },
  control: {
    from: '16505550123',
    from_user_id: 'US.13491200000000000001',
    sender_id: 'snd_3f2e1d0c-9b8a-4765-8432-10fedcba9876',
    change: 'passed',
    previous_owner: 'meta_business_agent',
    new_owner: 'primary',
    occurred_at: '2026-08-01T09:30:00.000Z',
  },
  history: { sender_id: 'snd_3f2e1d0c-9b8a-4765-8432-10fedcba9876', phase: 0, progress: 55, messages: 120 },
  webhook: {
    webhook_id: 'whk_1d2c3b4a-5968-4776-8554-433221100fed',
    name: 'Order service',
    url: 'https://example.com/hooks/parley',
    reason: '20 attempts in a row have failed since 2026-08-01 09:12 UTC. The last one returned status 503.',
    failing_since: '2026-08-01T09:12:40.000Z',
  },
  credits: { balance: 98, threshold: 100 },
} satisfies {
  template: TemplateStatusData
  sender: SenderStatusData
  preference: ContactPreferenceData
  control: ControlChangedData
  history: HistoryImportedData
  webhook: WebhookDisabledData
  credits: CreditsLowData
}
