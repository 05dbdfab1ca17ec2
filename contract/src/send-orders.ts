/**
 * The actions of payment messages, in WhatsApp's own format. Payment methods differ by country and change often, so only
 * the fields that all of them share are checked. The others are sent as given.
 */
import { type Static, Type } from 'typebox'

const text = (maxLength: number, description?: string) =>
  Type.String({ minLength: 1, maxLength, ...(description && { description }) })
const optionalText = (maxLength: number) => Type.Optional(text(maxLength))

/** An object that may have other fields. */
const open = <P extends Type.TProperties>(properties: P, options: Type.TObjectOptions = {}) =>
  Type.Unsafe<Static<Type.TObject<P>> & Record<string, unknown>>(
    Type.Object(properties, { ...options, additionalProperties: true }),
  )

const reference_id = Type.String({
  pattern: '^[A-Za-z0-9_.-]{1,60}$',
  description: 'Your ID of the order. It is unique, and names the order in its payments and status messages.',
  examples: ['order-1001'],
  errorMessage: 'Enter an ID of at most 60 letters, digits, underscores, dashes and dots, such as order-1001.',
})

const amount = (description: string) =>
  open(
    {
      value: Type.Integer({ minimum: 0, description: 'The amount multiplied by `offset`: 1234 for 12.34.' }),
      offset: Type.Integer({ minimum: 1, description: '100 for currencies with two decimals.' }),
    },
    { description },
  )

const Item = open({
  name: text(60, 'The name of the product, as the recipient sees it.'),
  retailer_id: optionalText(256),
  amount: amount('The price of one.'),
  sale_amount: Type.Optional(amount('The reduced price of one.')),
  quantity: Type.Integer({ minimum: 1 }),
})

export const OrderDetailsAction = Type.Object(
  {
    name: Type.Literal('review_and_pay'),
    parameters: open({
      reference_id,
      type: Type.Enum(['digital-goods', 'physical-goods']),
      currency: Type.String({
        pattern: '^[A-Z]{3}$',
        description: 'The currency, in ISO 4217 format.',
        errorMessage: 'Enter a currency code of three capital letters such as BRL.',
      }),
      total_amount: amount('The amount to pay.'),
      payment_type: optionalText(64),
      payment_configuration: optionalText(256),
      payment_settings: Type.Optional(
        Type.Array(open({ type: text(64) }), {
          minItems: 1,
          maxItems: 10,
          description: 'The ways to pay: each has a `type`, and the field of the same name.',
        }),
      ),
      order: Type.Optional(
        open({
          status: Type.Literal('pending'),
          items: Type.Optional(Type.Array(Item, { minItems: 1, maxItems: 999 })),
          subtotal: Type.Optional(amount('The sum of the items.')),
          tax: Type.Optional(amount('The tax.')),
          shipping: Type.Optional(amount('The cost of shipping.')),
          discount: Type.Optional(amount('The discount.')),
        }),
      ),
    }),
  },
  { additionalProperties: false },
)

export const OrderStatusAction = Type.Object(
  {
    name: Type.Literal('review_order'),
    parameters: open({
      reference_id,
      order: Type.Optional(
        open({
          status: text(
            64,
            '`pending`, `processing`, `partially_shipped`, `shipped`, `completed` or `canceled`; WhatsApp may add others.',
          ),
          description: optionalText(120),
        }),
      ),
      payment: Type.Optional(open({ status: text(64, '`pending`, `captured` or `failed`.') })),
    }),
  },
  { additionalProperties: false },
)
