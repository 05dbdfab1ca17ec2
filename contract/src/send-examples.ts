/** A request of each message type, and of interactive types with more fields than the others, for the OpenAPI document. Not in the schema, which the console loads. */
import type { SendRequest, SendType } from './send.ts'

type NewestInteractive =
  | 'request_contact_info'
  | 'call_permission_request'
  | 'voice_call'
  | 'order_details'
  | 'order_status'

const to = '491701234567'

export const sendExamples: Readonly<Record<SendType | NewestInteractive, SendRequest>> = {
  text: { to, type: 'text', text: { body: 'Your parcel has arrived.' } },
  template: {
    to,
    type: 'template',
    template: {
      name: 'order_update',
      language: 'en',
      variables: { 'body.first_name': 'Ana', 'buttons.0.url': 'A-1001' },
      tap_target_configuration: [{ url: 'https://shop.example/orders/1001', title: 'Your order' }],
    },
    reference: 'order 1001',
  },
  image: { to, type: 'image', image: { link: 'https://example.com/menu.jpg', caption: 'Our menu' } },
  video: { to, type: 'video', video: { id: 'med_0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d' } },
  audio: { to, type: 'audio', audio: { link: 'https://example.com/greeting.ogg', voice: true } },
  document: {
    to,
    type: 'document',
    document: { link: 'https://example.com/invoices/1001.pdf', filename: 'invoice-1001.pdf' },
    reference: 'invoice 1001',
  },
  sticker: { to, type: 'sticker', sticker: { link: 'https://example.com/thanks.webp' } },
  location: {
    to,
    type: 'location',
    location: { latitude: 52.5163, longitude: 13.3777, name: 'Our shop', address: 'Pariser Platz 1, Berlin' },
  },
  contacts: {
    to,
    type: 'contacts',
    contacts: [
      {
        name: { formatted_name: 'Ana Prueba', first_name: 'Ana' },
        phones: [{ phone: '+16505550123', type: 'WORK' }],
      },
    ],
  },
  interactive: {
    to,
    type: 'interactive',
    interactive: {
      type: 'button',
      body: { text: 'Does Tuesday at 10:00 suit you?' },
      action: {
        buttons: [
          { type: 'reply', reply: { id: 'confirm_1', title: 'Confirm' } },
          { type: 'reply', reply: { id: 'change_1', title: 'Another time' } },
        ],
      },
    },
    in_reply_to: 'msg_0b9a8f7e-6d5c-4b3a-9281-706f5e4d3c2b',
  },
  reaction: { to, type: 'reaction', reaction: { message_id: 'msg_0b9a8f7e-6d5c-4b3a-9281-706f5e4d3c2b', emoji: '👍' } },
  request_contact_info: {
    to,
    type: 'interactive',
    interactive: {
      type: 'request_contact_info',
      body: { text: 'Which number can we reach you at?' },
      action: { name: 'request_contact_info' },
    },
  },
  call_permission_request: {
    to,
    type: 'interactive',
    interactive: {
      type: 'call_permission_request',
      body: { text: 'May we call you about order 1001?' },
      action: { name: 'call_permission_request' },
    },
  },
  voice_call: {
    to,
    type: 'interactive',
    interactive: {
      type: 'voice_call',
      body: { text: 'Questions? Call us.' },
      action: {
        name: 'voice_call',
        parameters: { display_text: 'Call us', ttl_minutes: 1440, payload: 'order 1001' },
      },
    },
    recipient_identity_key_hash: 'DF2lS5v2W6x=',
  },
  order_details: {
    to,
    type: 'interactive',
    interactive: {
      type: 'order_details',
      body: { text: 'Your order is ready to pay.' },
      action: {
        name: 'review_and_pay',
        parameters: {
          reference_id: 'order-1001',
          type: 'physical-goods',
          currency: 'BRL',
          total_amount: { value: 5000, offset: 100 },
          payment_settings: [{ type: 'payment_link', payment_link: { uri: 'https://shop.example/pay/1001' } }],
          order: {
            status: 'pending',
            items: [{ retailer_id: 'sku-1', name: 'Tea', amount: { value: 2500, offset: 100 }, quantity: 2 }],
            subtotal: { value: 5000, offset: 100 },
          },
        },
      },
    },
  },
  order_status: {
    to,
    type: 'interactive',
    interactive: {
      type: 'order_status',
      body: { text: 'Your order is on its way.' },
      action: {
        name: 'review_order',
        parameters: { reference_id: 'order-1001', order: { status: 'shipped', description: 'Two parcels' } },
      },
    },
  },
}
