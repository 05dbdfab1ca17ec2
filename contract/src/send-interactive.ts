/** The types of interactive messages, in WhatsApp's own format and with its limits. */
import { type Static, Type } from 'typebox'
import { httpLink } from './formats.ts'
import { OrderDetailsAction, OrderStatusAction } from './send-orders.ts'

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
          flow_cta: text(30),
          mode: Type.Optional(Type.Enum(['published', 'draft'])),
          flow_action: Type.Optional(Type.Enum(['navigate', 'data_exchange'])),
          flow_action_payload: Type.Optional(
            Type.Object(
              {
                screen: Type.Optional(
                  Type.String({
                    minLength: 1,
                    maxLength: 200,
                    description: 'The screen to open. Without it, WhatsApp opens the first screen of the form.',
                  }),
                ),
                data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
              },
              strict,
            ),
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

const contactRequest = {
  body: shortBody,
  action: Type.Object({ name: Type.Literal('request_contact_info') }, strict),
}
// WhatsApp accepts both names.
const ContactRequest = kind('contact_request', contactRequest)
const ContactInfoRequest = kind('request_contact_info', contactRequest)

const CallPermission = kind('call_permission_request', {
  body: Type.Optional(shortBody),
  action: Type.Object({ name: Type.Literal('call_permission_request') }, strict),
})

const CallButton = kind('voice_call', {
  header: Type.Optional(Header),
  body: shortBody,
  footer,
  action: Type.Object(
    {
      name: Type.Literal('voice_call'),
      parameters: Type.Optional(
        Type.Object(
          {
            display_text: optionalText(20),
            ttl_minutes: Type.Optional(
              Type.Integer({ minimum: 1, maximum: 43_200, description: 'How long the button can be used.' }),
            ),
            payload: Type.Optional(
              Type.String({
                minLength: 1,
                maxLength: 512,
                description: 'WhatsApp returns it in the webhooks of a call.',
              }),
            ),
          },
          strict,
        ),
      ),
    },
    strict,
  ),
})

const OrderDetails = kind('order_details', {
  header: Type.Optional(Header),
  body: shortBody,
  footer,
  action: OrderDetailsAction,
})

const OrderStatus = kind('order_status', { body: shortBody, footer, action: OrderStatusAction })

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

const file = Type.Object({ id: optionalText(256), link }, strict)

const Card = Type.Object(
  {
    card_index: Type.Integer({ minimum: 0, maximum: 9, description: 'The position of the card, from 0.' }),
    type: Type.Enum(['cta_url', 'product'], {
      description: '`cta_url`: an image or a video with a link button or reply buttons. `product`: a product.',
    }),
    header: Type.Optional(
      Type.Object(
        { type: Type.Enum(['image', 'video']), image: Type.Optional(file), video: Type.Optional(file) },
        { ...strict, description: 'Required for `cta_url`. Set `type`, and the field of the same name.' },
      ),
    ),
    body: Type.Optional(textObject(160)),
    action: Type.Object(
      {
        name: Type.Optional(Type.Literal('cta_url')),
        parameters: Type.Optional(Type.Object({ display_text: text(20), url: httpLink(2000) }, strict)),
        buttons: Type.Optional(
          Type.Array(
            Type.Object(
              {
                type: Type.Literal('quick_reply'),
                quick_reply: Type.Object({ id: text(256), title: text(20) }, strict),
              },
              strict,
            ),
            { minItems: 1, maxItems: 3 },
          ),
        ),
        catalog_id: optionalText(64),
        product_retailer_id: optionalText(256),
      },
      {
        ...strict,
        description:
          'For `cta_url`, set `name` and `parameters`, or `buttons`. For `product`, set `catalog_id` and `product_retailer_id`.',
      },
    ),
  },
  strict,
)

const Carousel = kind('carousel', {
  body: shortBody,
  action: Type.Object(
    {
      cards: Type.Array(Card, {
        minItems: 2,
        maxItems: 10,
        description: 'All cards have the same type, and the same kind and number of buttons.',
      }),
    },
    strict,
  ),
})

const addressValues = (description: string) =>
  Type.Record(Type.String(), Type.String({ maxLength: 1000 }), { description })

const Address = kind('address_message', {
  body: shortBody,
  footer,
  action: Type.Object(
    {
      name: Type.Literal('address_message'),
      parameters: Type.Object(
        {
          country: Type.String({
            pattern: '^[A-Z]{2}$',
            description: 'The country of the address, in ISO 3166 format. WhatsApp supports India (`IN`).',
            errorMessage: 'Enter a country code of two capital letters such as IN.',
          }),
          values: Type.Optional(addressValues('Values to fill in, such as `name` and `in_pin_code`.')),
          validation_errors: Type.Optional(addressValues('An error message for each value that must be corrected.')),
          saved_addresses: Type.Optional(
            Type.Array(Type.Object({ id: text(256), value: addressValues('The values of the address.') }, strict), {
              minItems: 1,
              maxItems: 20,
              description: 'Addresses that the recipient can choose from.',
            }),
          ),
        },
        strict,
      ),
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
  request_contact_info: ContactInfoRequest,
  product: Product,
  product_list: Products,
  catalog_message: Catalog,
  carousel: Carousel,
  address_message: Address,
  call_permission_request: CallPermission,
  voice_call: CallButton,
  order_details: OrderDetails,
  order_status: OrderStatus,
} as const

export type InteractiveKind = keyof typeof interactiveSchemas

export const SendInteractive = Type.Union(
  [
    Buttons,
    Rows,
    UrlButton,
    Form,
    LocationRequest,
    ContactRequest,
    ContactInfoRequest,
    Product,
    Products,
    Catalog,
    Carousel,
    Address,
    CallPermission,
    CallButton,
    OrderDetails,
    OrderStatus,
  ],
  {
    description:
      'An interactive message. Reply buttons, a list, a link button, a form, products, a catalog or a carousel. A request for a location, a contact, an address or the permission to call. A call button, an order to pay or its status.',
  },
)
export type SendInteractive = Static<typeof SendInteractive>

function kind<K extends string, P extends Type.TProperties>(type: K, parts: P) {
  return Type.Object({ type: Type.Literal(type), ...parts }, { ...strict, title: type })
}
