import { expect, test } from 'vitest'
import { useSending } from '../../../../testing/sending.ts'
import { useTestServer } from '../../../../testing/test-server.ts'

const server = useTestServer()
const sending = useSending(server)

/** Characters that PostgreSQL cannot store as text, and the escape of one. */
const texts = ['a\u0000b', 'a\ud800b', 'a\udc00', '\\u0000', '\\ud800 \\']

test.each(texts)(
  'a message with the text %j is refused or stored, in each place that the search reads',
  async (value) => {
    const shop = await sending.newShop()
    const button = { type: 'reply', reply: { id: 'yes', title: 'Yes' } }
    const contents = [
      { type: 'text', text: { body: value } },
      { type: 'text', text: { body: 'hi' }, reference: value },
      { type: 'image', image: { link: 'https://example.com/a.png', caption: value } },
      { type: 'document', document: { link: 'https://example.com/a.pdf', filename: value } },
      { type: 'location', location: { latitude: 1, longitude: 2, name: value, address: value } },
      { type: 'contacts', contacts: [{ name: { formatted_name: value, first_name: 'A' } }] },
      { type: 'interactive', interactive: { type: 'button', body: { text: value }, action: { buttons: [button] } } },
    ]
    for (const content of contents) {
      const { status } = await shop.send({ to: '16505550123', ...content })
      expect([202, 400, 422], JSON.stringify(content)).toContain(status)
    }
  },
)
