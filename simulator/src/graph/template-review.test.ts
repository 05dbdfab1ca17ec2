import { expect, test } from 'vitest'
import type { Json } from '../json.ts'
import { newWorld, wabaId } from '../testing/world.ts'

const body = (text: string, values: string[] = []) => ({
  type: 'BODY',
  text,
  ...(values.length > 0 ? { example: { body_text: [values] } } : {}),
})
const greeting = body('Hi {{1}}, your order is ready.', ['Ana'])
const quick = { type: 'QUICK_REPLY', text: 'Yes' }
const url = { type: 'URL', text: 'Open', url: 'https://a.example/' }
const buttons = (...some: Json[]) => ({ type: 'BUTTONS', buttons: some })

async function newTemplates() {
  const world = await newWorld()
  const { graph, control, receiver } = world
  const create = (components: unknown[], change: Json = {}) =>
    graph('POST', `${wabaId}/message_templates`, {
      name: 'order_ready',
      language: 'en',
      category: 'UTILITY',
      components,
      ...change,
    })
  const review = async () => {
    await control.clock.advance(2_000)
    return receiver.changes().at(-1)?.value as Json
  }
  return { ...world, create, review }
}

const refusal = (subcode: number | undefined, title: RegExp) => ({
  status: 400,
  body: {
    error: {
      message: 'Invalid parameter',
      type: 'OAuthException',
      code: 100,
      ...(subcode === undefined ? {} : { error_subcode: subcode }),
      is_transient: false,
      error_user_title: expect.stringMatching(title),
      error_user_msg: expect.any(String),
      fbtrace_id: expect.any(String),
    },
  },
})

test.each<[string, unknown[], number | undefined, RegExp]>([
  ['no body', [{ type: 'FOOTER', text: 'Shop' }], 2388072, /body/],
  ['a variable at the start', [body('{{1}}, your order is ready.', ['Ana'])], 2388299, /start or end/],
  ['a variable at the end', [body('Your order is ready, {{1}}', ['Ana'])], 2388299, /start or end/],
  ['variables next to each other', [body('Hi {{1}} {{2}}, your order is ready.', ['a', 'b'])], 2388299, /start or end/],
  ['too many variables', [body('Hi {{1}} at {{2}} ok', ['a', 'b'])], 2388293, /Too many variables/],
  ['no example', [body('Hi {{1}}, your order is ready.')], 2388043, /sample/],
  ['a gap', [body('Hi {{1}}, your order {{3}} is ready now.', ['a', 'b', 'c'])], 2388072, /body/],
  ['broken braces', [body('Hi {{1}, your order is ready.')], 2388072, /body/],
  ['a long body', [body('a'.repeat(1025))], 2388040, /limit/],
  ['emoji in the header', [{ type: 'HEADER', format: 'TEXT', text: 'Hi 🎉' }, greeting], 2388047, /header/],
  ['a header without a sample', [{ type: 'HEADER', format: 'IMAGE' }, greeting], 2388043, /sample/],
  ['a variable in the footer', [greeting, { type: 'FOOTER', text: 'Hi {{1}}' }], 2388073, /footer/],
  ['a long button', [greeting, buttons({ ...quick, text: 'a'.repeat(26) })], 2388040, /limit/],
  ['three URLs', [greeting, buttons(url, url, url)], undefined, /Buttons/],
  ['divided quick replies', [greeting, buttons(quick, url, quick)], undefined, /Buttons/],
])('%s is refused with a text for people', async (_name, components, subcode, title) => {
  const { create, graph } = await newTemplates()
  expect(await create(components)).toEqual(refusal(subcode, title))
  const { data } = (await graph('GET', `${wabaId}/message_templates?name=order_ready`)).body
  expect(data).toEqual([])
})

test('the review rejects a utility template that promotes, with its reason and what to do', async () => {
  const { create, review, graph } = await newTemplates()
  const { id } = (await create([body('Our sale ends on Monday.')])).body
  expect(await review()).toMatchObject({
    event: 'REJECTED',
    reason: 'TAG_CONTENT_MISMATCH',
    rejection_info: {
      reason: expect.stringContaining('UTILITY'),
      recommendation: expect.stringContaining('MARKETING'),
    },
  })
  const fields = `${id}?fields=status,rejected_reason`
  expect((await graph('GET', fields)).body).toMatchObject({
    status: 'REJECTED',
    rejected_reason: 'TAG_CONTENT_MISMATCH',
  })
  expect((await graph('POST', String(id), { category: 'MARKETING' })).body).toEqual({ success: true })
  expect((await graph('GET', fields)).body).toMatchObject({ status: 'PENDING', rejected_reason: 'NONE' })
  expect(await review()).toMatchObject({ event: 'APPROVED', message_template_category: 'MARKETING' })
})

test('a threat is abusive content', async () => {
  const { create, review } = await newTemplates()
  await create([body('Pay by Monday, or we take legal action.')])
  expect(await review()).toMatchObject({ event: 'REJECTED', reason: 'ABUSIVE_CONTENT' })
})

test('the control API decides the next reviews, whatever the content', async () => {
  const { create, review, control } = await newTemplates()
  const rejection = { reason: 'The link is unsafe.', recommendation: 'Link to your own website.' }
  control.templates.reviewNext({ status: 'REJECTED', reason: 'SCAM', rejection })
  control.templates.reviewNext({ status: 'APPROVED' })
  await create([greeting])
  expect(await review()).toMatchObject({ event: 'REJECTED', reason: 'SCAM', rejection_info: rejection })
  await create([body('Our sale ends on Monday.')], { name: 'second' })
  expect(await review()).toMatchObject({ event: 'APPROVED', reason: 'NONE' })
  await create([body('Our sale ends on Monday.')], { name: 'third' })
  expect(await review()).toMatchObject({ event: 'REJECTED', reason: 'TAG_CONTENT_MISMATCH' })
})

test('an edit replaces the components, tells the app and starts a review', async () => {
  const { create, review, graph, receiver } = await newTemplates()
  const { id } = (await create([greeting, { type: 'FOOTER', text: 'Shop' }])).body
  expect(await graph('POST', String(id), { components: [greeting] })).toEqual(refusal(undefined, /cannot be edited/))
  await review()
  const components = [body('Dear {{1}}, your order is ready.', ['Ana']), buttons(quick)]
  expect((await graph('POST', String(id), { components })).status).toBe(200)
  expect(await review()).toMatchObject({ event: 'APPROVED' })
  expect(receiver.changes().at(-2)).toMatchObject({
    field: 'message_template_components_update',
    value: {
      message_template_id: Number(id),
      message_template_element: 'Dear {{1}}, your order is ready.',
      message_template_buttons: [{ message_template_button_type: 'QUICK_REPLY', message_template_button_text: 'Yes' }],
    },
  })
  expect((await graph('GET', String(id))).body.components).toEqual(components)
  expect(await graph('POST', String(id), { components: [body('{{1}}', ['a'])] })).toMatchObject({ status: 400 })
})

test('an approved template keeps its category and is edited once a day and ten times a month', async () => {
  const { create, review, graph, control } = await newTemplates()
  const { id } = (await create([greeting])).body
  const edit = () => graph('POST', String(id), { components: [greeting] })
  await review()
  expect(await graph('POST', String(id), { category: 'MARKETING' })).toEqual(refusal(undefined, /Category/))
  for (let edits = 0; edits < 10; edits++) {
    expect((await edit()).status).toBe(200)
    await review()
    expect(await edit()).toEqual(refusal(undefined, /Too many edits/))
    await control.clock.advance(25 * 3_600_000)
  }
  expect(await edit()).toEqual(refusal(undefined, /Too many edits/))
  await control.clock.advance(20 * 24 * 3_600_000)
  expect((await edit()).status).toBe(200)
})
