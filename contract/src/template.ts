/** Message templates and the variables each one needs. */
import { type Static, Type } from 'typebox'
import { TemplateId, Timestamp } from './ids.ts'

export const templateCategories = ['MARKETING', 'UTILITY', 'AUTHENTICATION'] as const

/** As the network names them. Only `APPROVED` can be sent. */
export const templateStatuses = [
  'APPROVED',
  'PENDING',
  'REJECTED',
  'PAUSED',
  'DISABLED',
  'IN_APPEAL',
  'PENDING_DELETION',
  'DELETED',
  'LIMIT_EXCEEDED',
  'ARCHIVED',
  'FLAGGED',
  'LOCKED',
] as const
export type TemplateStatus = (typeof templateStatuses)[number]

export const variablePlaces = ['header', 'body', 'button', 'offer', 'card'] as const

export const variableTypes = [
  'text',
  'image',
  'video',
  'gif',
  'document',
  'location',
  'timestamp',
  'product',
  'products',
] as const
export type VariableType = (typeof variableTypes)[number]

export const TemplateVariable = Type.Object(
  {
    key: Type.String({
      description:
        'The name to send the value under: `header.<n|name|image|video|document|location>`, `body.<n|name>`, `buttons.<index>.<url|code>`, `offer.expires_at`, and `cards.<n>.` before any of them for a carousel.',
    }),
    in: Type.Enum([...variablePlaces], { description: 'The part of the template that holds it.' }),
    type: Type.Enum([...variableTypes], {
      description:
        'What the value is. `text`: a string of one line. `image`, `video`, `gif`, `document`: an https link, or `{id}` or `{link}` (`filename` too for a document). `location`: `{latitude, longitude, name, address}`. `timestamp`: an ISO 8601 time. `product`: `{catalog_id, product_retailer_id}`. `products`: `{thumbnail_product_retailer_id, sections: [{title, product_retailer_ids}]}`.',
    }),
    required: Type.Boolean({ description: 'A message without it is refused.' }),
    example: Type.Union([Type.String(), Type.Null()], { description: 'The example the template was approved with.' }),
  },
  { description: 'A variable of a template.' },
)

export const TemplateFlow = Type.Object(
  {
    flow_id: Type.Union([Type.String(), Type.Null()], { description: "The network's id of the form." }),
    button_index: Type.Integer({ minimum: 0, description: 'The button that opens it.' }),
  },
  { description: 'The form that a button of the template opens.' },
)

export const Template = Type.Object(
  {
    id: TemplateId,
    object: Type.Literal('template'),
    name: Type.String(),
    language: Type.String({ description: "The network's language code, such as `en_US` or `es`." }),
    category: Type.String({ description: `One of ${listed(templateCategories)}; new values may appear.` }),
    status: Type.String({
      description: `One of ${listed(templateStatuses)}; new values may appear. Only \`APPROVED\` can be sent.`,
    }),
    variables: Type.Array(TemplateVariable, {
      description:
        'What the template needs. In a one-time-code template the code is given once, as `body.1`, and fills the button as well. A quick-reply button also takes an optional `buttons.<index>.payload`, a catalogue button an optional `buttons.<index>.thumbnail`.',
    }),
    flow: Type.Union([TemplateFlow, Type.Null()], { description: 'Null without a form button.' }),
    components: Type.Array(Type.Unknown(), { description: 'As the network holds them.' }),
    updated_at: Timestamp,
  },
  {
    $id: 'Template',
    description: 'A message template.',
    examples: [
      {
        id: 'tpl_9e8d7c6b-5a49-4382-9716-05f4e3d2c1b0',
        object: 'template',
        name: 'order_update',
        language: 'en',
        category: 'UTILITY',
        status: 'APPROVED',
        variables: [
          { key: 'body.first_name', in: 'body', type: 'text', required: true, example: 'Ana' },
          { key: 'buttons.0.url', in: 'button', type: 'text', required: true, example: 'A-1001' },
        ],
        flow: null,
        components: [
          { type: 'BODY', text: '{{first_name}}, your order is on its way.' },
          { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Track', url: 'https://shop.example/o/{{1}}' }] },
        ],
        updated_at: '2026-08-01T09:30:00.000Z',
      },
    ],
  },
)

/** The filters of `GET /v1/templates`, besides those of every list. */
export const TemplateFilters = Type.Object({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 512, description: 'The exact name.' })),
  language: Type.Optional(Type.String({ minLength: 1, maxLength: 35, description: 'The exact language code.' })),
  status: Type.Optional(Type.Enum([...templateStatuses])),
  category: Type.Optional(Type.Enum([...templateCategories])),
})

export type TemplateVariable = Static<typeof TemplateVariable>
export type TemplateFlow = Static<typeof TemplateFlow>
export type Template = Static<typeof Template>
export type TemplateFilters = Static<typeof TemplateFilters>

function listed(words: readonly string[]) {
  return words.map((word) => `\`${word}\``).join(', ')
}
