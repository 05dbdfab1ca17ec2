import type { Dataset } from '../control/shapes.ts'

type DemoTemplate = Omit<NonNullable<Dataset['templates']>[number], 'wabaId'>

const plantCard = (name: string, sku: string) => ({
  components: [
    { type: 'HEADER', format: 'IMAGE', example: { header_handle: ['https://scontent.whatsapp.net/v/t61/plant'] } },
    { type: 'BODY', text: `${name}, for {{1}}.`, example: { body_text: [['$10']] } },
    {
      type: 'BUTTONS',
      buttons: [
        { type: 'QUICK_REPLY', text: `More like ${name}` },
        { type: 'URL', text: 'Shop', url: 'https://shop.example/p/{{1}}', example: [`https://shop.example/p/${sku}`] },
      ],
    },
  ],
})

/** One template for each kind of component that a template can have. */
export const demoTemplates: DemoTemplate[] = [
  {
    id: '700000000000001',
    name: 'appointment_reminder',
    language: 'en_US',
    category: 'UTILITY',
    components: [
      { type: 'HEADER', format: 'TEXT', text: 'Hi {{1}}', example: { header_text: ['Ana'] } },
      {
        type: 'BODY',
        text: 'Your visit is on {{1}} at {{2}}. Again: {{1}}.',
        example: { body_text: [['Mon 3', '10:00']] },
      },
      { type: 'FOOTER', text: 'Harbour Clinic' },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'Confirm' },
          { type: 'QUICK_REPLY', text: 'Cancel' },
          {
            type: 'URL',
            text: 'Details',
            url: 'https://clinic.example/v/{{1}}',
            example: ['https://clinic.example/v/abc'],
          },
          { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+15550780001' },
        ],
      },
    ],
  },
  {
    id: '700000000000002',
    name: 'order_update',
    language: 'es',
    category: 'UTILITY',
    parameterFormat: 'NAMED',
    components: [
      { type: 'HEADER', format: 'IMAGE', example: { header_handle: ['https://scontent.whatsapp.net/v/t61/box'] } },
      {
        type: 'BODY',
        text: '{{first_name}}, tu pedido {{order_id}} está en camino.',
        example: {
          body_text_named_params: [
            { param_name: 'first_name', example: 'Ana' },
            { param_name: 'order_id', example: 'A-1001' },
          ],
        },
      },
      {
        type: 'BUTTONS',
        buttons: [
          {
            type: 'URL',
            text: 'Seguir',
            url: 'https://shop.example/o/{{1}}',
            example: ['https://shop.example/o/A-1001'],
          },
        ],
      },
    ],
  },
  {
    id: '700000000000003',
    name: 'invoice_ready',
    language: 'en',
    category: 'UTILITY',
    components: [
      {
        type: 'HEADER',
        format: 'DOCUMENT',
        example: { header_handle: ['https://scontent.whatsapp.net/v/t61/invoice'] },
      },
      {
        type: 'BODY',
        text: 'Dear {{1}}, your invoice over {{2}} is attached.',
        example: { body_text: [['Ana', '$120']] },
      },
    ],
  },
  {
    id: '700000000000004',
    name: 'courier_arriving',
    language: 'en_US',
    category: 'UTILITY',
    components: [
      { type: 'HEADER', format: 'LOCATION' },
      { type: 'BODY', text: 'On its way, {{1}}.', example: { body_text: [['Ana']] } },
    ],
  },
  {
    id: '700000000000005',
    name: 'summer_offer',
    language: 'en',
    category: 'MARKETING',
    components: [
      { type: 'BODY', text: 'Hello {{1}}, use the code below.', example: { body_text: [['Ana']] } },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'COPY_CODE', text: 'Copy offer code', example: ['25OFF'] },
          { type: 'QUICK_REPLY', text: 'Stop promotions' },
        ],
      },
    ],
  },
  {
    id: '700000000000006',
    name: 'otp_login',
    language: 'en',
    category: 'AUTHENTICATION',
    components: [
      {
        type: 'BODY',
        text: '*{{1}}* is your verification code. For your security, do not share this code.',
        add_security_recommendation: true,
        example: { body_text: [['123456']] },
      },
      { type: 'FOOTER', text: 'This code expires in 5 minutes.', code_expiration_minutes: 5 },
      {
        type: 'BUTTONS',
        buttons: [
          {
            type: 'URL',
            text: 'Copy code',
            url: 'https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code_expiration_minutes=5&code=otp{{1}}',
            example: ['https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code_expiration_minutes=5&code=otp123456'],
          },
        ],
      },
    ],
  },
  {
    id: '700000000000007',
    name: 'intake_form',
    language: 'en',
    category: 'UTILITY',
    components: [
      { type: 'BODY', text: 'Please tell us about you, {{1}}.', example: { body_text: [['Ana']] } },
      {
        type: 'BUTTONS',
        buttons: [
          {
            type: 'FLOW',
            text: 'Open form',
            flow_id: 800000000000001,
            flow_action: 'NAVIGATE',
            navigate_screen: 'DETAILS',
          },
        ],
      },
    ],
  },
  {
    id: '700000000000008',
    name: 'plant_carousel',
    language: 'en',
    category: 'MARKETING',
    components: [
      { type: 'BODY', text: 'New plants for you, {{1}}.', example: { body_text: [['Ana']] } },
      { type: 'CAROUSEL', cards: [plantCard('Aloe', 'ALOE'), plantCard('Fern', 'FERN')] },
    ],
  },
  {
    id: '700000000000009',
    name: 'spring_sale',
    language: 'en',
    category: 'MARKETING',
    status: 'PAUSED',
    components: [{ type: 'BODY', text: 'Everything must go.' }],
  },
  {
    id: '700000000000010',
    name: 'badly_formed',
    language: 'en',
    category: 'UTILITY',
    status: 'REJECTED',
    rejectedReason: 'INVALID_FORMAT',
    components: [{ type: 'BODY', text: '{{1}} {{2}}', example: { body_text: [['a', 'b']] } }],
  },
  {
    id: '700000000000011',
    name: 'hello_world',
    language: 'en_US',
    category: 'UTILITY',
    components: [
      { type: 'HEADER', format: 'TEXT', text: 'Hello World' },
      { type: 'BODY', text: 'Welcome. This message needs no variables.' },
      { type: 'FOOTER', text: 'Harbour Clinic' },
    ],
  },
]
