/** A request of each message type, for the OpenAPI document. Not in the schema, which the console loads. */
import type { SendRequest, SendType } from './send.ts'

const to = '491701234567'

export const sendExamples: Readonly<Record<SendType, SendRequest>> = {
  text: { to, type: 'text', text: { body: 'Your parcel has arrived.' } },
  template: {
    to,
    type: 'template',
    template: {
      name: 'order_update',
      language: 'en',
      variables: { 'body.first_name': 'Ana', 'buttons.0.url': 'A-1001' },
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
}
