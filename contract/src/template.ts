/** Message templates and their variables. */
import { type Static, Type } from 'typebox'
import { described, TemplateId, Timestamp } from './ids.ts'

export const templateCategories = ['MARKETING', 'UTILITY', 'AUTHENTICATION'] as const

/** WhatsApp's names. Only `APPROVED` can be sent. */
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

const variablePlaces = ['header', 'body', 'button', 'offer', 'card'] as const

const variableTypes = [
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
        'The key of the variable in `template.variables`: `header.<n|name|image|video|document|location>`, `body.<n|name>`, `buttons.<index>.<url|code|payload|products|thumbnail>`, or `offer.expires_at`. In a carousel the key starts with `cards.<n>.`',
    }),
    in: Type.Enum([...variablePlaces], { description: 'The part of the template that contains the variable.' }),
    type: Type.Enum([...variableTypes], {
      description:
        'The type of the value. `text`: a string without line breaks. In the header and the body, `text` can be an amount, `{currency: {fallback_value, code, amount_1000}}`, or a date, `{date_time: {fallback_value}}`. A date can have `day_of_week`, `year`, `month`, `day_of_month`, `hour`, `minute` and `calendar`. `image`, `video`, `gif`, `document`: a link, `{id}` or `{link}` (a document also takes `filename`). `location`: `{latitude, longitude, name, address}`. `timestamp`: a time in ISO 8601 format. `product`: `{catalog_id, product_retailer_id}`. `products`: `{thumbnail_product_retailer_id, sections: [{title, product_retailer_ids}]}`.',
    }),
    required: Type.Boolean({ description: 'Whether the request fails without this variable.' }),
    example: Type.Union([Type.String(), Type.Null()], {
      description: 'The example value that the template was approved with.',
    }),
  },
  { description: 'A variable of a template.' },
)

export const TemplateFlow = Type.Object(
  {
    flow_id: Type.Union([Type.String(), Type.Null()], { description: "WhatsApp's ID of the form." }),
    button_index: Type.Integer({ minimum: 0, description: 'The index of the button that opens the form.' }),
  },
  { description: 'The form that a button of the template opens.' },
)

export const Template = Type.Object(
  {
    id: described(TemplateId, 'The ID of the template.'),
    object: Type.Literal('template', { description: 'The object type.' }),
    name: Type.String({ description: 'The name of the template at WhatsApp.' }),
    language: Type.String({ description: "WhatsApp's language code, such as `en_US` or `es`." }),
    category: Type.String({ description: `One of ${listed(templateCategories)}; values may be added.` }),
    status: Type.String({
      description: `One of ${listed(templateStatuses)}; values may be added. Only \`APPROVED\` can be sent.`,
    }),
    sendable: Type.Boolean({
      description:
        'False if the template has parts that this service does not support, such as order details. Such a template cannot be sent, whatever its status.',
    }),
    not_sendable_reason: Type.Union([Type.String(), Type.Null()], {
      description: 'Which parts are not supported, for people. Null if `sendable` is true.',
    }),
    variables: Type.Array(TemplateVariable, {
      description:
        'The variables of the template. In an authentication template, set the code once, as `body.1`; it is also used for the button. Some buttons also accept optional variables: a quick-reply button `buttons.<index>.payload`, a catalog button `buttons.<index>.thumbnail`, and a call button `buttons.<index>.ttl_minutes`, an integer, and `buttons.<index>.payload`.',
    }),
    flow: Type.Union([TemplateFlow, Type.Null()], {
      description: 'The form that the template opens. Null if it has no form button.',
    }),
    components: Type.Array(Type.Unknown(), { description: 'The components of the template, as WhatsApp stores them.' }),
    updated_at: described(Timestamp, 'When the template last changed. ISO 8601, UTC.'),
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
        sendable: true,
        not_sendable_reason: null,
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

/** The filters of `GET /v1/templates`, in addition to those of every list. */
export const TemplateFilters = Type.Object({
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 512,
      description: 'The name of the template. Exact match.',
      examples: ['order_update'],
    }),
  ),
  language: Type.Optional(
    Type.String({ minLength: 1, maxLength: 35, description: 'The language code. Exact match.', examples: ['en_US'] }),
  ),
  status: Type.Optional(Type.Enum([...templateStatuses], { description: 'Only templates with this status.' })),
  category: Type.Optional(Type.Enum([...templateCategories], { description: 'Only templates of this category.' })),
})

export type TemplateVariable = Static<typeof TemplateVariable>
export type TemplateFlow = Static<typeof TemplateFlow>
export type Template = Static<typeof Template>
export type TemplateFilters = Static<typeof TemplateFilters>

function listed(values: readonly string[]) {
  return values.map((value) => `\`${value}\``).join(', ')
}
