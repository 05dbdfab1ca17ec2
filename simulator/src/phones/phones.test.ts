import { createDecipheriv, createHash, createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { arrayIn, type Json } from '../json.ts'
import {
  businessNumber,
  demoSecrets,
  hello,
  newWorld,
  numberId,
  otherNumberId,
  phone,
  type TestWorld,
  text,
} from '../testing/world.ts'

async function last({ control, receiver }: TestWorld): Promise<Json> {
  await control.idle()
  return receiver.messages().at(-1) ?? {}
}

test('a phone can send every type of message', async () => {
  const world = await newWorld()
  const { phones } = world.control
  const to = numberId
  await phones.image(phone, { to, caption: 'My receipt' })
  expect(await last(world)).toMatchObject({
    type: 'image',
    image: { caption: 'My receipt', mime_type: 'image/png', url: expect.stringContaining('source=webhook') },
  })
  await phones.voice(phone, { to })
  expect(await last(world)).toMatchObject({
    type: 'audio',
    audio: { voice: true, mime_type: 'audio/ogg; codecs=opus' },
  })
  await phones.audio(phone, { to })
  expect(await last(world)).toMatchObject({ type: 'audio', audio: { voice: false } })
  await phones.video(phone, { to })
  // The sample is the one of the handset, which a browser plays.
  const clip = readFileSync(new URL('../../handset/clip.mp4', import.meta.url))
  const sha256 = createHash('sha256').update(clip).digest('base64')
  expect(await last(world)).toMatchObject({ type: 'video', video: { sha256 } })
  await phones.sticker(phone, { to, animated: true })
  expect(await last(world)).toMatchObject({ type: 'sticker', sticker: { animated: true, mime_type: 'image/webp' } })
  await phones.location(phone, { to, latitude: 0, longitude: -77.04 })
  expect((await last(world)).location).toEqual({ latitude: 0, longitude: -77.04 })
  await phones.location(phone, {
    to,
    latitude: 1,
    longitude: 2,
    name: 'Cafe',
    address: '1 Main',
    url: 'https://c.example',
  })
  expect((await last(world)).location).toMatchObject({ name: 'Cafe', url: 'https://c.example' })
  await phones.contacts(phone, { to, contacts: [{ name: { formatted_name: 'Bea' } }] })
  expect((await last(world)).contacts).toEqual([{ origin: 'other', name: { formatted_name: 'Bea' } }])
  await phones.order(phone, { to, items: [{ retailerId: 'SKU-1', quantity: 2 }], text: 'No onions' })
  expect((await last(world)).order).toEqual({
    catalog_id: '300000000000001',
    text: 'No onions',
    product_items: [{ product_retailer_id: 'SKU-1', quantity: 2, item_price: 12.5, currency: 'USD' }],
  })
  await phones.welcome(phone, { to })
  expect(await last(world)).toMatchObject({ type: 'request_welcome' })
  await phones.unsupported(phone, { to, kind: 'poll_creation' })
  expect(await last(world)).toMatchObject({
    type: 'unsupported',
    unsupported: { type: 'poll_creation' },
    errors: [{ code: 131051, title: 'Message type unknown' }],
  })
  await phones.invent(phone, { to, type: 'hologram' })
  expect(await last(world)).toMatchObject({ type: 'hologram', hologram: {} })
  await phones.invent(phone, { to, type: 'hologram', content: ['a', 1] })
  expect(await last(world)).toMatchObject({ type: 'hologram', hologram: ['a', 1] })
  await phones.sharePhone(phone, { to })
  expect((await last(world)).contacts).toEqual([
    { origin: 'contact_request', phones: [{ phone: `+${phone}`, wa_id: phone, type: 'CELL' }] },
  ])
})

test('replies, forwards, ads and product questions have a context or referral', async () => {
  const world = await newWorld()
  const { send, control } = world
  const sent = await send(hello)
  const mine = await control.phones.say(phone, { to: numberId, text: 'replying', replyTo: sent.id })
  expect((await last(world)).context).toEqual({ from: businessNumber, id: sent.id })
  await control.phones.say(phone, { text: 'to myself', replyTo: mine.id ?? '' })
  expect((await last(world)).context).toEqual({ from: phone, id: mine.id })
  await control.phones.say(phone, { text: 'fwd', forwarded: 'once' })
  expect((await last(world)).context).toEqual({ forwarded: true })
  await control.phones.say(phone, { text: 'fwd', forwarded: 'often' })
  expect((await last(world)).context).toEqual({ frequently_forwarded: true })
  await control.phones.say(phone, { text: 'more?', referral: { source_type: 'ad', source_id: '1' } })
  expect((await last(world)).referral).toEqual({ source_type: 'ad', source_id: '1' })
  await control.phones.say(phone, { text: 'available?', product: { catalog_id: '1', product_retailer_id: 'SKU-1' } })
  expect((await last(world)).context).toMatchObject({ referred_product: { product_retailer_id: 'SKU-1' } })
})

test('tapping a template button sends its payload, or else its text', async () => {
  const world = await newWorld()
  const parameters = (...values: string[]) => values.map((value) => ({ type: 'text', text: value }))
  const { id } = await world.send({
    type: 'template',
    template: {
      name: 'appointment_reminder',
      language: { code: 'en_US' },
      components: [
        { type: 'header', parameters: parameters('Ana') },
        { type: 'body', parameters: parameters('Mon', '10:00') },
        {
          type: 'button',
          sub_type: 'quick_reply',
          index: '0',
          parameters: [{ type: 'payload', payload: 'CONFIRM|7' }],
        },
        { type: 'button', sub_type: 'url', index: 2, parameters: parameters('7') },
      ],
    },
  })
  await world.control.phones.tap(phone, { button: 'Confirm' })
  expect(await last(world)).toMatchObject({
    type: 'button',
    button: { payload: 'CONFIRM|7', text: 'Confirm' },
    context: { from: businessNumber, id },
  })
  await world.control.phones.tap(phone, { message: id, button: 1 })
  expect(await last(world)).toMatchObject({ button: { payload: 'Cancel', text: 'Cancel' } })
  await expect(world.control.phones.tap(phone, { button: 'Explode' })).rejects.toThrow(
    /Available buttons: Confirm, Cancel/,
  )
})

test('tapping a quick reply of a carousel sends its ID', async () => {
  const world = await newWorld()
  await world.control.phones.say(phone, { to: numberId, text: 'hi' })
  const card = (index: number) => ({
    card_index: index,
    type: 'cta_url',
    header: { type: 'image', image: { link: 'https://cdn.example/a.png' } },
    action: { buttons: [{ type: 'quick_reply', quick_reply: { id: `more-${index}`, title: `More ${index}` } }] },
  })
  const interactive = { type: 'carousel', body: { text: 'New' }, action: { cards: [card(0), card(1)] } }
  await world.send({ type: 'interactive', interactive })
  await world.control.phones.tap(phone, { button: 1 })
  expect(await last(world)).toMatchObject({ interactive: { button_reply: { id: 'more-1', title: 'More 1' } } })
})

test('tapping a reply button or list row sends its ID', async () => {
  const world = await newWorld()
  await world.control.phones.say(phone, { to: numberId, text: 'hi' })
  const buttons = [{ type: 'reply', reply: { id: 'yes', title: 'Yes' } }]
  await world.send({ type: 'interactive', interactive: { type: 'button', body: { text: '?' }, action: { buttons } } })
  await world.control.phones.tap(phone, { button: 'yes' })
  expect((await last(world)).interactive).toEqual({ type: 'button_reply', button_reply: { id: 'yes', title: 'Yes' } })
  const sections = [{ rows: [{ id: 'm10', title: '10:00', description: 'Dr. Paz' }] }]
  await world.send({
    type: 'interactive',
    interactive: { type: 'list', body: { text: '?' }, action: { button: 'See', sections } },
  })
  await world.control.phones.tap(phone, { button: '10:00' })
  expect((await last(world)).interactive).toEqual({
    type: 'list_reply',
    list_reply: { id: 'm10', title: '10:00', description: 'Dr. Paz' },
  })
})

test('a reaction can be added and removed', async () => {
  const world = await newWorld()
  const { id } = await world.send(hello)
  await world.control.phones.react(phone, { emoji: '👍' })
  expect((await last(world)).reaction).toEqual({ message_id: id, emoji: '👍' })
  await world.control.phones.unreact(phone, { message: id })
  expect((await last(world)).reaction).toEqual({ message_id: id })
  await world.control.phones.unreact(phone, { message: id, emptyEmoji: true })
  expect((await last(world)).reaction).toEqual({ message_id: id, emoji: '' })
})

test('a form is submitted with its flow token and its files as media', async () => {
  const world = await newWorld()
  const { send, control, graph } = world
  const action = { type: 'action', action: { flow_token: 'ft_01' } }
  const components = [
    { type: 'body', parameters: [{ type: 'text', text: 'Ana' }] },
    { type: 'button', sub_type: 'flow', index: '0', parameters: [action] },
  ]
  const { id } = await send({
    type: 'template',
    template: { name: 'intake_form', language: { code: 'en' }, components },
  })
  const card = Buffer.from('front of the card')
  await control.phones.fillForm(phone, {
    values: { full_name: 'Ana Prueba', email: 'ana@x.example' },
    files: {
      photos: [{ base64: card.toString('base64'), mimeType: 'image/jpeg', filename: 'IMG_1.jpg' }, {}],
      documents: [{ text: 'result', mimeType: 'application/pdf', filename: 'r.pdf' }],
    },
  })
  const reply = await last(world)
  expect(reply).toMatchObject({
    type: 'interactive',
    context: { id },
    interactive: { type: 'nfm_reply', nfm_reply: { name: 'flow', body: 'Sent' } },
  })
  const { nfm_reply: form } = reply.interactive as { nfm_reply: { response_json: string } }
  const responses = JSON.parse(form.response_json)
  expect(responses).toMatchObject({ flow_token: 'ft_01', full_name: 'Ana Prueba', documents: [{ file_name: 'r.pdf' }] })
  expect(responses.photos[0]).toMatchObject({
    file_name: 'IMG_1.jpg',
    mime_type: 'image/jpeg',
    sha256: createHash('sha256').update(card).digest('base64'),
  })
  const { body: media } = await graph('GET', responses.photos[0].id)
  const fetched = await fetch(String(media.url), { headers: { authorization: `Bearer ${demoSecrets.accessToken}` } })
  expect(Buffer.from(await fetched.arrayBuffer())).toEqual(card)
  await control.phones.fillForm(phone, { values: { a: 1 }, omitFlowToken: true })
  expect((await last(world)).interactive).toMatchObject({ nfm_reply: { response_json: '{"a":1}' } })
  await control.phones.fillForm(phone, { responseJson: 'not json' })
  expect((await last(world)).interactive).toMatchObject({ nfm_reply: { response_json: 'not json' } })
  await expect(
    control.phones.fillForm(phone, { files: { photos: Array(6).fill({}), documents: Array(6).fill({}) } }),
  ).rejects.toThrow(/at most 10/)
  expect(control.flows.list()[0]?.fields.map((field) => field.name)).toEqual([
    'full_name',
    'email',
    'complaint',
    'photos',
    'documents',
  ])
})

test('edits and deletions arrive as such on a number that is also in the Business app, else as unsupported', async () => {
  const world = await newWorld()
  const { phones } = world.control
  const from = { from: phone, from_user_id: phones.get(phone).userId, timestamp: '1788264000' }
  const { id } = await phones.say(phone, { to: numberId, text: 'tpyo' })
  await phones.react(phone, { message: (await world.send(hello)).id, emoji: '👍' })
  const edit = await phones.edit(phone, { text: 'typo' })
  expect(await last(world)).toEqual({
    ...from,
    id: edit.id,
    type: 'edit',
    edit: { original_message_id: id, message: { type: 'text', text: { body: 'typo' } } },
  })
  const deletion = await phones.delete(phone, {})
  expect(await last(world)).toEqual({
    ...from,
    id: deletion.id,
    type: 'revoke',
    revoke: { original_message_id: id },
  })
  expect(phones.messages(phone)[0]).toMatchObject({
    content: { body: 'typo' },
    edits: [{ content: { body: 'tpyo' }, at: '2026-09-01T12:00:00.000Z' }],
    deletedAt: '2026-09-01T12:00:00.000Z',
  })
  expect(phones.messages(phone).slice(-2)).toMatchObject([{ amends: id }, { amends: id }])
  await expect(phones.edit(phone, { message: id ?? '', text: 'again' })).rejects.toThrow(/is not a text or a file/)

  const other = await phones.say(phone, { to: otherNumberId, text: 'tpyo' })
  await phones.edit(phone, { text: 'typo' })
  expect(await last(world)).toMatchObject({ type: 'unsupported', unsupported: { type: 'edit' } })
  await phones.delete(phone, {})
  expect(await last(world)).toMatchObject({ type: 'unsupported', unsupported: { type: 'unknown' } })
  expect(phones.messages(phone, otherNumberId)[0]).toMatchObject({
    id: other.id,
    content: { body: 'typo' },
    deletedAt: expect.any(String),
  })
})

test('an edit of a file has its new caption, and of a reply its context', async () => {
  const world = await newWorld()
  const { phones } = world.control
  const quoted = await world.send(hello)
  const { id } = await phones.image(phone, { to: numberId, caption: 'befor', replyTo: quoted.id })
  const { image } = (await last(world)) as { image: Json }
  await phones.edit(phone, { text: 'after' })
  expect((await last(world)).edit).toEqual({
    original_message_id: id,
    message: { context: { id: quoted.id }, type: 'image', image: { ...image, caption: 'after' } },
  })
  await phones.location(phone, { to: numberId, latitude: 1, longitude: 2 })
  await phones.delete(phone, {})
  expect(await last(world)).toMatchObject({ type: 'revoke' })
})

test('a message can be edited for 15 minutes and deleted for two days', async () => {
  const { control } = await newWorld()
  await control.phones.say(phone, { to: numberId, text: 'old' })
  await control.clock.advance(15 * 60_000)
  await control.phones.edit(phone, { text: 'just in time' })
  await control.clock.advance(1)
  await expect(control.phones.edit(phone, { text: 'too late' })).rejects.toThrow(/too old.* edited for 15 minutes/)
  await control.clock.advance(2 * 86_400_000)
  await expect(control.phones.delete(phone, {})).rejects.toThrow(/too old.* deleted for two days/)
})

test('a number change notifies every business in a conversation, without a contact', async () => {
  const { control, receiver, send } = await newWorld()
  for (const to of [numberId, otherNumberId]) await control.phones.say(phone, { to, text: 'hi' })
  await control.idle()
  receiver.clear()
  const before = control.phones.get(phone).userId
  await control.phones.changeNumber(phone, { newNumber: '+16505550777' })
  await control.idle()
  expect(receiver.messages()).toHaveLength(2)
  expect(receiver.messages()[0]).toMatchObject({
    from: phone,
    type: 'system',
    system: { type: 'user_changed_number', wa_id: '16505550777', previous_user_id: before },
  })
  expect(receiver.changes()[0]?.value).not.toHaveProperty('contacts')
  expect(control.phones.get('16505550777').name).toBe('Ana Prueba')
  expect((await send({ ...hello, to: '16505550777' })).status).toBe(200)
})

test('senderIdentity hides the phone number in three ways', async () => {
  const world = await newWorld()
  const bea = world.control.phones.get('16505550199')
  const contact = () => arrayIn(world.receiver.changes().at(-1)?.value, 'contacts')?.[0]
  await world.control.phones.say(bea.waId, { to: numberId, text: 'no phone' })
  const message = await last(world)
  expect(message).not.toHaveProperty('from')
  expect(message.from_user_id).toBe(bea.userId)
  expect(contact()).toEqual({ profile: { name: 'Bea Díaz', username: '@bea.diaz' }, user_id: bea.userId })
  world.control.phones.change(bea.waId, { switches: { senderIdentity: 'empty_from' } })
  await world.control.phones.say(bea.waId, { to: numberId, text: 'empty' })
  expect((await last(world)).from).toBe('')
  expect(contact()).toMatchObject({ wa_id: '' })
  world.control.phones.change(bea.waId, { switches: { senderIdentity: 'user_id_in_from' } })
  await world.control.phones.say(bea.waId, { to: numberId, text: 'misplaced' })
  expect((await last(world)).from).toBe(bea.userId)
})

test('a person with a parent user ID has it next to every user ID', async () => {
  const world = await newWorld()
  const { control, receiver } = world
  const parent = 'US.ENT.11815799212886844830'
  control.phones.change(phone, { parentUserId: parent })
  await control.phones.say(phone, { to: numberId, text: 'hi' })
  expect(await last(world)).toMatchObject({ from_parent_user_id: parent })
  expect(receiver.changes().at(-1)?.value.contacts).toMatchObject([{ parent_user_id: parent }])
  const { id } = await world.send(text('hello'))
  expect(receiver.statusesOf(id)).toMatchObject([{ recipient_parent_user_id: parent }])
  await control.numbers.echo(numberId, { phone, text: 'from the app' })
  await control.numbers.contacts(numberId, { phones: [phone] })
  await control.phones.changeUserId(phone, { userId: 'US.1' })
  expect(await last(world)).toMatchObject({ system: { user_id: 'US.1', parent_user_id: parent } })
  const [, , echo, contacts] = receiver.changes().map(({ value }) => value)
  expect(echo).toMatchObject({ message_echoes: [{ to_parent_user_id: parent }] })
  expect(contacts).toMatchObject({ state_sync: [{ contact: { parent_user_id: parent } }] })
  control.phones.change(phone, { parentUserId: null })
  await control.phones.say(phone, { to: numberId, text: 'hi' })
  expect(await last(world)).not.toHaveProperty('from_parent_user_id')
})

test('an offline phone gets its messages when it is back online, and reports no `read` without read receipts', async () => {
  const { control, send, receiver } = await newWorld()
  control.phones.change(phone, { online: false, readReceipts: false })
  const { id } = await send(hello)
  await control.clock.advance(3_600_000)
  const states = () => receiver.statusesOf(id).map((one) => one.status)
  expect(states()).toEqual(['sent'])
  control.phones.change(phone, { online: true })
  await control.clock.advance(60_000)
  expect(states()).toEqual(['sent', 'delivered'])
  expect(await control.phones.read(phone, { to: numberId })).toEqual({ read: [] })
})

test('a one-time code expires after ten minutes, other messages after thirty days', async () => {
  const { control, send, receiver } = await newWorld()
  control.phones.change(phone, { online: false })
  const code = [{ type: 'text', text: '483920' }]
  const components = [
    { type: 'body', parameters: code },
    { type: 'button', sub_type: 'url', index: 0, parameters: code },
  ]
  const otp = await send({ type: 'template', template: { name: 'otp_login', language: { code: 'en' }, components } })
  const other = await send(hello)
  await control.clock.advance(11 * 60_000)
  control.phones.change(phone, { online: true })
  await control.clock.advance(50)
  expect(receiver.statusesOf(otp.id).map((one) => one.status)).toEqual(['sent'])
  expect(receiver.statusesOf(other.id).map((one) => one.status)).toEqual(['sent', 'delivered'])
})

test('with readAfterMs null a message is read when the chat is opened, and a voice message is played on `play`', async () => {
  const { control, send, receiver } = await newWorld()
  control.phones.change(phone, { switches: { readAfterMs: null } })
  await control.phones.say(phone, { to: numberId, text: 'hi' })
  const { id } = await send(text('read me'))
  const voice = await send({ type: 'audio', audio: { link: 'https://cdn.example/v.ogg', voice: true } })
  await control.clock.advance(3_600_000)
  expect(receiver.statusesOf(id).map((one) => one.status)).toEqual(['sent', 'delivered'])
  expect(await control.phones.read(phone, {})).toEqual({ read: [id, voice.id] })
  await control.phones.play(phone, {})
  await control.idle()
  expect(receiver.statusesOf(voice.id).map((one) => one.status)).toEqual(['sent', 'delivered', 'read', 'played'])
})

test('messages fail for a phone that is not on WhatsApp, and marketing for a phone that opted out', async () => {
  const { control, send, receiver } = await newWorld()
  control.phones.change(phone, { onWhatsApp: false })
  expect(receiver.statusesOf((await send(hello)).id)).toMatchObject([{ errors: [{ code: 131026 }] }])
  control.phones.change(phone, { onWhatsApp: true, acceptsMarketing: false })
  const components = [
    { type: 'body', parameters: [{ type: 'text', text: 'Ana' }] },
    { type: 'button', sub_type: 'copy_code', index: 0, parameters: [{ type: 'coupon_code', coupon_code: 'X' }] },
  ]
  const offer = await send({
    type: 'template',
    template: { name: 'summer_offer', language: { code: 'en' }, components },
  })
  expect(receiver.statusesOf(offer.id)).toMatchObject([{ errors: [{ code: 131050 }] }])
})

test('files of an encrypted form can be downloaded without a token and decrypted with the keys in the response', async () => {
  const world = await newWorld()
  const { send, control, graph } = world
  const components = [{ type: 'body', parameters: [{ type: 'text', text: 'Ana' }] }]
  await send({ type: 'template', template: { name: 'intake_form', language: { code: 'en' }, components } })
  const card = Buffer.from('front of the card')
  const files = { photos: [{ base64: card.toString('base64'), filename: 'card.png' }] }
  await control.phones.fillForm(phone, { encrypted: true, files })
  const { nfm_reply: form } = (await last(world)).interactive as { nfm_reply: { response_json: string } }
  const [photo] = JSON.parse(form.response_json).photos
  expect(Object.keys(photo).sort()).toEqual(['cdn_url', 'encryption_metadata', 'file_name', 'media_id'])
  const { encrypted_hash, iv, encryption_key, hmac_key, plaintext_hash } = photo.encryption_metadata
  const bytes = Buffer.from(await (await fetch(photo.cdn_url)).arrayBuffer())
  const ciphertext = bytes.subarray(0, -10)
  const from64 = (text: string) => Buffer.from(text, 'base64')
  expect(createHash('sha256').update(bytes).digest('base64')).toBe(encrypted_hash)
  const mac = createHmac('sha256', from64(hmac_key)).update(from64(iv)).update(ciphertext).digest().subarray(0, 10)
  expect(bytes.subarray(-10)).toEqual(mac)
  const decipher = createDecipheriv('aes-256-cbc', from64(encryption_key), from64(iv))
  expect(Buffer.concat([decipher.update(ciphertext), decipher.final()])).toEqual(card)
  expect(createHash('sha256').update(card).digest('base64')).toBe(plaintext_hash)
  expect((await graph('GET', photo.cdn_url.split('/').at(-1))).status).toBe(400)
  await control.phones.fillForm(phone, { files })
  const { nfm_reply: plain } = (await last(world)).interactive as { nfm_reply: { response_json: string } }
  const { id } = JSON.parse(plain.response_json).photos[0]
  expect((await fetch(photo.cdn_url.replace(/\d+$/, id))).status).toBe(404)
})
