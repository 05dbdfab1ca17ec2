/** The types of interactive messages, in WhatsApp's own format and with its limits. */
import { type Static, Type } from 'typebox'
import { httpLink } from './formats.ts'

const strict = { additionalProperties: false } as const
const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const optionalText = (maxLength: number) => Type.Optional(text(maxLength))
const textObject = (maxLength: number) => Type.Object({ text: text(maxLength) }, strict)

const link = Type.Optional(httpLink(2048))
const media = Type.Optional(Type.Object({ id: optionalText(256), link }, strict))

const TextHeader = Type.Object({ type: Type.Literal('text'), text: text(60) }, strict)
const Header = Type.Object(
  {
    type: Type.Enum(['text', 'image', 'video', 'document']),
    text: optionalText(60),
    image: media,
    video: media,
    document: Type.Optional(Type.Object({ id: optionalText(256), link, filename: optionalText(240) }, strict)),
  },
  { ...strict, description: 'Set `type`, and the field of the same name.' },
)

const footer = Type.Optional(textObject(60))
const shortBody = textObject(1024)
const longBody = textObject(4096)

const Buttons = kind('button', {
  header: Type.Optional(Header),
  body: shortBody,
  footer,
  action: Type.Object(
    {
      buttons: Type.Array(
        Type.Object(
          { type: Type.Literal('reply'), reply: Type.Object({ id: text(256), title: text(20) }, strict) },
          strict,
        ),
        { minItems: 1, maxItems: 3 },
      ),
    },
    strict,
  ),
})

const Rows = kind('list', {
  header: Type.Optional(TextHeader),
  body: longBody,
  footer,
  action: Type.Object(
    {
      button: text(20),
      sections: Type.Array(
        Type.Object(
          {
            title: optionalText(24),
            rows: Type.Array(Type.Object({ id: text(200), title: text(24), description: optionalText(72) }, strict), {
              minItems: 1,
              maxItems: 10,
            }),
          },
          strict,
        ),
        { minItems: 1, maxItems: 10, description: 'At most 10 rows in all sections together.' },
      ),
    },
    strict,
  ),
})

const UrlButton = kind('cta_url', {
  header: Type.Optional(Header),
  body: shortBody,
  footer,
  action: Type.Object(
    {
      name: Type.Literal('cta_url'),
      parameters: Type.Object({ display_text: text(20), url: httpLink(2000) }, strict),
    },
    strict,
  ),
})

const Form = kind('flow', {
  header: Type.Optional(Header),
  body: shortBody,
  footer,
  action: Type.Object(
    {
      name: Type.Literal('flow'),
      parameters: Type.Object(
        {
          flow_message_version: Type.Optional(Type.Literal('3')),
          flow_token: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 200,
              description: 'Returned with the submission. Generated if you omit it.',
            }),
          ),
          flow_id: optionalText(64),
          flow_name: optionalText(200),
          flow_cta: text(20),
          mode: Type.Optional(Type.Enum(['published', 'draft'])),
          flow_action: Type.Optional(Type.Enum(['navigate', 'data_exchange'])),
          flow_action_payload: Type.Optional(
            Type.Object({ screen: text(200), data: Type.Optional(Type.Record(Type.String(), Type.Unknown())) }, strict),
          ),
        },
        { ...strict, description: 'Set either `flow_id` or `flow_name`.' },
      ),
    },
    strict,
  ),
})

const LocationRequest = kind('location_request_message', {
  body: shortBody,
  action: Type.Object({ name: Type.Literal('send_location') }, strict),
})

const ContactRequest = kind('contact_request', {
  body: shortBody,
  action: Type.Object({ name: Type.Literal('request_contact_info') }, strict),
})

const Product = kind('product', {
  body: Type.Optional(shortBody),
  footer,
  action: Type.Object({ catalog_id: text(64), product_retailer_id: text(256) }, strict),
})

const Products = kind('product_list', {
  header: TextHeader,
  body: shortBody,
  footer,
  action: Type.Object(
    {
      catalog_id: text(64),
      sections: Type.Array(
        Type.Object(
          {
            title: optionalText(24),
            product_items: Type.Array(Type.Object({ product_retailer_id: text(256) }, strict), {
              minItems: 1,
              maxItems: 30,
            }),
          },
          strict,
        ),
        { minItems: 1, maxItems: 10, description: 'At most 30 products in all sections together.' },
      ),
    },
    strict,
  ),
})

const Catalog = kind('catalog_message', {
  body: shortBody,
  footer,
  action: Type.Object(
    {
      name: Type.Literal('catalog_message'),
      parameters: Type.Optional(Type.Object({ thumbnail_product_retailer_id: optionalText(256) }, strict)),
    },
    strict,
  ),
})

export const interactiveSchemas = {
  button: Buttons,
  list: Rows,
  cta_url: UrlButton,
  flow: Form,
  location_request_message: LocationRequest,
  contact_request: ContactRequest,
  product: Product,
  product_list: Products,
  catalog_message: Catalog,
} as const

export type InteractiveKind = keyof typeof interactiveSchemas

export const SendInteractive = Type.Union(
  [Buttons, Rows, UrlButton, Form, LocationRequest, ContactRequest, Product, Products, Catalog],
  {
    description:
      'An interactive message: reply buttons, a list, a link button, a form, a location or contact request, products or a catalog.',
  },
)
export type SendInteractive = Static<typeof SendInteractive>

function kind<K extends string, P extends Type.TProperties>(type: K, parts: P) {
  return Type.Object({ type: Type.Literal(type), ...parts }, { ...strict, title: type })
}
